"""A change is found on a line of releases, days, builds and Pythons, over an index of tiny wheels."""

import math
import signal
import time

import jsonschema
import pytest

from envmgr.app.schemas import schema_of

from .conftest import THIS_PYTHON, Index

pytestmark = [pytest.mark.integration, pytest.mark.indexes, pytest.mark.timeout(300)]

PROBE = "import demo; assert demo.ANSWER == 42, demo.ANSWER"


def bound(points):
    return math.ceil(math.log2(points)) + 2


def module(version, text):
    return {"demo.py": f"__version__ = {version!r}\n{text}\n"}


def bisected(project, *arguments):
    code, answer = project.json("bisect", *arguments)
    assert code == 0, answer
    jsonschema.validate(answer, schema_of("bisect"))
    return answer["data"]["bisect"]


def asked(package="demo", good="1.0", bad="1.20", probe=PROBE):
    return ("--package", package, "--python", THIS_PYTHON, "--require", package, "--good", good, "--bad", bad) + (
        ("--probe", probe) if probe else ()
    )


@pytest.fixture
def releases(project, index):
    """The releases 1.0 to 1.20 of `demo`; call it with {minor: text of the module}."""

    def fill(modules, requires=()):
        for minor, text in modules.items():
            index.add("demo", f"1.{minor}", module(f"1.{minor}", text), requires)
        return project

    return fill


def test_the_first_bad_release_is_found_within_the_bound(releases):
    project = releases({minor: f"ANSWER = {42 if minor < 13 else 43}" for minor in range(21)})
    found = bisected(project, *asked())
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.12", "1.13")
    assert found["points"] == 21
    assert found["probes"] <= found["bound"] == bound(21)
    assert found["repeats"] == 2
    assert found["exact"] is True
    assert found["reason"] == "AssertionError: 43"
    assert found["changed"] == [{"name": "demo", "good": "1.12", "bad": "1.13"}]
    text = project.run("bisect", *asked(), "--resume").stdout
    assert "last good  1.12" in text
    assert "first bad  1.13" in text


def test_ends_that_are_not_what_they_are_called_are_usage_errors(releases):
    project = releases(dict.fromkeys(range(3), "ANSWER = 42"))
    code, answer = project.json("bisect", *asked(bad="1.2"))
    assert (code, answer["error"]["what"]) == (2, "the bad end is not bad: demo 1.2")
    code, answer = project.json("bisect", *asked(bad="1.2", probe="raise SystemExit(1)"))
    assert (code, answer["error"]["what"]) == (2, "the good end is not good: demo 1.0")
    code, answer = project.json("bisect", *asked(bad="1.7"))
    assert (code, answer["error"]["what"]) == (2, "1.7 is no release of demo")
    assert "1.2" in answer["error"]["why"]


def test_a_line_whose_end_cannot_be_built_is_no_answer(releases, index):
    project = releases(dict.fromkeys(range(3), "ANSWER = 42"))
    index.add("demo", "1.0", module("1.0", "ANSWER = 42"), ["nowhere-to-be-found"])
    code, answer = project.json("bisect", *asked(bad="1.2"))
    assert (code, answer["error"]["what"]) == (3, "the good end cannot be tried: demo 1.0")
    assert "nowhere-to-be-found" in answer["error"]["why"]


def test_what_cannot_be_resolved_leaves_a_range_and_is_named(releases):
    project = releases({minor: f"ANSWER = {42 if minor < 5 else 43}" for minor in range(9)})
    releases({4: "ANSWER = 42", 5: "ANSWER = 43"}, ["nowhere-to-be-found"])
    found = bisected(project, *asked(bad="1.8"))
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.3", "1.6")
    assert (found["untried"], found["exact"]) == (["1.4", "1.5"], False)
    skipped = {each["point"]["label"]: each["phase"] for each in found["tried"] if each["verdict"] == "skipped"}
    assert skipped == {"1.4": "resolve", "1.5": "resolve"}


def test_a_release_that_disagrees_with_itself_is_flaky(releases, tmp_path):
    """Its module answers otherwise each time that it is imported."""
    memory = tmp_path / "memory"
    flaky = (
        f"import pathlib\nseen = pathlib.Path({str(memory)!r})\nANSWER = 43 if seen.exists() else 42\n"
        "seen.unlink() if seen.exists() else seen.write_text('')"
    )
    project = releases({minor: f"ANSWER = {42 if minor < 5 else 43}" for minor in range(9)})
    releases({4: flaky})
    found = bisected(project, *asked(bad="1.8"))
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.3", "1.5")
    assert (found["flaky"], found["exact"]) == (["1.4"], False)


def test_equal_revisions_are_not_asked_twice(releases):
    revisions = {minor: "aaaaaaa1" if minor < 5 else "bbbbbbb2" for minor in range(9)}
    project = releases(
        {minor: f"git_version = {text!r}\nANSWER = {42 if minor < 5 else 43}" for minor, text in revisions.items()}
    )
    for minor, text in revisions.items():
        project.index.add(
            "demo", f"1.{minor}",
            {"demo/__init__.py": f"git_version = {text!r}\nANSWER = {42 if minor < 5 else 43}\n"},
        )  # fmt: skip
    found = bisected(project, *asked(bad="1.8"))
    assert found["probes"] == 2
    same = {each["point"]["label"]: each["same_as"] for each in found["tried"] if each["same_as"]}
    assert same
    assert set(same.values()) <= {"1.0", "1.8"}
    assert found["first_bad"]["revisions"] == {"demo": "bbbbbbb2"}
    assert "same revision as" in project.run("bisect", *asked(bad="1.8"), "--resume").stdout


def test_releases_without_a_file_for_here_are_left_out_unbuilt(releases, index):
    project = releases({minor: f"ANSWER = {42 if minor < 3 else 43}" for minor in range(5)})
    place = index.folder / "demo"
    (place / "demo-1.2-py3-none-any.whl").rename(place / "demo-1.2-cp36-cp36m-win_amd64.whl")
    index._write_page(place)
    found = bisected(project, *asked(bad="1.4"))
    assert [each["label"] for each in found["left_out"]] == ["1.2"]
    assert "no file for Python" in found["left_out"][0]["reason"]
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.1", "1.3")
    assert found["exact"] is False
    assert "1.2" not in {each["point"]["label"] for each in found["tried"]}


def test_pre_releases_take_part_when_asked_for_and_backwards_is_forwards(releases, index):
    project = releases({minor: f"ANSWER = {43 if minor < 3 else 42}" for minor in range(5)})
    index.add("demo", "1.3rc1", module("1.3rc1", "ANSWER = 42"))
    found = bisected(project, *asked(good="1.4", bad="1.0"), "--pre")
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.3rc1", "1.2")
    without = bisected(project, *asked(good="1.4", bad="1.0"))
    assert without["last_good"]["point"]["label"] == "1.3"


def test_a_family_moves_together(project, index):
    for minor in range(6):
        core = f"VERSION = '1.{minor}'\nANSWER = {42 if minor < 4 else 43}\n"
        index.add("plaidml", f"1.{minor}", {"plaidml.py": core})
        bridge = f"import plaidml\nassert plaidml.VERSION == '1.{minor}', 'apart'\nANSWER = plaidml.ANSWER\n"
        index.add("plaidml_keras", f"1.{minor}", {"bridge.py": bridge}, ["plaidml"])
    (index.folder / "plaidml_keras").rename(index.folder / "plaidml-keras")  # as its address is written
    found = bisected(
        project, "--package", "plaidml", "--python", THIS_PYTHON, "--require", "plaidml", "--require", "plaidml-keras",
        "--good", "1.0", "--bad", "1.5", "--probe", "import bridge; assert bridge.ANSWER == 42, bridge.ANSWER",
    )  # fmt: skip
    assert found["family"] == ["plaidml-keras"]
    assert found["first_bad"]["point"]["versions"] == {"plaidml": "1.4", "plaidml-keras": "1.4"}
    assert found["reason"] == "AssertionError: 43"


def test_a_killed_bisection_goes_on_from_what_it_had_tried(releases, tmp_path):
    project = releases({minor: f"ANSWER = {42 if minor < 13 else 43}" for minor in range(21)})
    counted = tmp_path / "counted"
    first, second = PROBE.split("; ")
    probe = f"{first}; open({str(counted)!r}, 'a').write(demo.__version__ + ' '); {second}"
    process = project.start("bisect", *asked(probe=probe))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (counted.exists() and len(counted.read_text().split()) >= 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = counted.read_text().split()
    found = bisected(project, *asked(probe=probe), "--resume")
    after = counted.read_text().split()[len(before) :]
    assert found["first_bad"]["point"]["label"] == "1.13"
    assert found["resumed"] >= 2
    kept = [label for label in before[: found["resumed"]] if label not in {"1.12", "1.13"}]
    assert not set(kept) & set(after)
    assert found["probes"] <= bound(21)


def test_days_of_resolution(project, index):
    """Without upload times nothing is ever too new for a day: both ends are the same thing, and that is told."""
    code, answer = project.json(
        "bisect", "--date", "--python", THIS_PYTHON, "--require", "base", "--good", "2026-01-01", "--bad", "2026-02-01",
        "--probe", "import base",
    )  # fmt: skip
    assert code in {2, 3}
    assert answer["error"]["what"].startswith("the ")


def test_a_manifest_by_the_outcome_of_a_runner(releases):
    project = releases({minor: f"ANSWER = {42 if minor < 4 else 43}" for minor in range(7)})
    project.manifest("pinned", requirements=["demo==1.0"])
    before = sorted(path.name for path in (project.root / "manifests").rglob("*"))
    found = bisected(
        project,
        "pinned",
        "--package",
        "demo",
        "--good",
        "1.0",
        "--bad",
        "1.6",
        "--runner",
        "answer",
        "--outcome",
        "wrong",
    )
    assert found["first_bad"]["point"]["label"] == "1.4"
    assert found["probes"] <= bound(7)
    assert found["first_bad"]["reason"].startswith("wrong")
    assert found["first_bad"]["run"]
    assert sorted(path.name for path in (project.root / "manifests").rglob("*")) == before
    shown = project.json("matrix", "show", found["first_bad"]["run"])[1]
    assert shown["data"]["cells"][0]["resolved"]["demo"] == "1.4"


def test_a_change_of_numbers_alone_is_bad(releases):
    project = releases({minor: f"ANSWER = {42 if minor < 2 else 42.5}" for minor in range(4)})
    runner = (project.root / "runners" / "answer.py").read_text()
    project.write("runners/answer.py", runner.replace('"passed": answer == parameters["answer"]', '"passed": True'))
    found = bisected(project, *asked(bad="1.3", probe=None), "--runner", "answer")
    assert found["first_bad"]["point"]["label"] == "1.2"
    assert "parity" in found["reason"]


def test_a_metric_is_judged_by_samples_of_several_processes(releases):
    project = releases({minor: f"ANSWER = 42\nSLOW = {1 if minor < 5 else 2}" for minor in range(8)})
    runner = (project.root / "runners" / "answer.py").read_text()
    project.write(
        "runners/answer.py", runner.replace('"samples": [0.1, 0.2]', '"samples": [0.1 * demo.SLOW, 0.2 * demo.SLOW]')
    )
    found = bisected(
        project, *asked(bad="1.7", probe=None), "--runner", "answer", "--metric", "seconds", "--processes", "3"
    )
    assert (found["last_good"]["point"]["label"], found["first_bad"]["point"]["label"]) == ("1.4", "1.5")
    assert found["first_bad"]["ratio"] == pytest.approx(2)
    assert [len(each["samples"]) for each in found["tried"]] == [3] * len(found["tried"])
    middle = next(each for each in found["tried"] if each["point"]["label"] not in {"1.0", "1.7"})
    assert (len(middle["good_samples"]), len(middle["bad_samples"])) == (3, 3)
    cells = project.json("matrix", "show", middle["run"])[1]["data"]["cells"]
    assert {each["manifest"] for each in cells} == {"bisect-1.0", "bisect-1.7", f"bisect-{middle['point']['label']}"}
    assert found["probes"] <= bound(8)
    code, answer = project.json(
        "bisect", *asked(bad="1.3", probe=None), "--runner", "answer", "--metric", "seconds", "--processes", "3"
    )
    assert (code, answer["error"]["what"]) == (2, "the bad end is not bad: demo 1.3")


def test_a_nightly_by_its_days(project, tmp_path):
    index = Index(tmp_path / "dated")
    for day in range(1, 15):
        version = f"3.0.dev202611{day:02}"
        index.add("demo", version, module(version, f"ANSWER = {42 if day < 9 else 43}"))
    project.manifest(
        "nightly", requirements=["demo>=3.0.dev0"], floating=True,
        tables=f'[[index]]\nname = "dated"\nurl = "{index.url}"\npackages = ["demo"]\n',
    )  # fmt: skip
    found = bisected(project, "nightly", "--nightly", "--good", "2026-11-01", "--bad", "2026-11-14", "--probe", PROBE)
    assert found["first_bad"]["point"]["label"] == "2026-11-09"
    assert found["first_bad"]["point"]["versions"] == {"demo": "3.0.dev20261109"}
    assert found["probes"] <= bound(14)


def test_one_thing_is_bisected_at_a_time(project):
    code, answer = project.json("bisect", "one", "--good", "1", "--bad", "2", "--probe", "pass")
    assert (code, answer["error"]["code"]) == (2, "usage")
    code, answer = project.json("bisect", "one", "--python", "--date", "--good", "1", "--bad", "2", "--probe", "pass")
    assert (code, answer["error"]["code"]) == (2, "usage")


def test_a_runner_that_needs_no_device_is_measured_whatever_device_a_manifest_names(releases):
    project = releases({minor: f"ANSWER = {42 if minor < 2 else 43}" for minor in range(4)})
    project.manifest("pinned", requirements=["demo==1.0"], device="gpu.0")
    found = bisected(project, "pinned", "--package", "demo", "--good", "1.0", "--bad", "1.3", "--runner", "answer")
    assert found["first_bad"]["point"]["label"] == "1.2"
