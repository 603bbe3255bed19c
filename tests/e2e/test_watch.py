"""A nightly is watched over an index of dated wheels."""

import pytest

from .conftest import RUNNER

pytestmark = [pytest.mark.integration, pytest.mark.indexes, pytest.mark.timeout(300)]

DATED = 'name = "dated"\nurl = "{url}"\npackages = ["demo"]\n'


def version_of(day):
    return f"3.0.dev202611{day:02}" if day <= 30 else f"3.0.dev202612{day - 30:02}"


@pytest.fixture
def dated(project, tmp_path):
    """A project that follows `demo` at an index of its own; call it with {day: text of the module}."""
    from .conftest import Index

    index = Index(tmp_path / "dated")
    project.manifest(
        "nightly", requirements=["demo>=3.0.dev0"], floating=True, tables="[[index]]\n" + DATED.format(url=index.url)
    )
    project.matrix("nightly", manifests=["nightly"], entries=[{"answer": 42}])

    def fill(modules):
        for day, text in modules.items():
            index.add("demo", version_of(day), {"demo.py": f"__version__ = {version_of(day)!r}\n{text}\n"})
        return project

    return fill


def test_a_planted_regression_on_day_17_of_40_is_named_within_8_runs(dated):
    project = dated({day: f"ANSWER = {42 if day < 17 else 43}" for day in range(1, 41)})
    code, answer = project.json("matrix", "watch")
    found = answer["data"]
    assert code == 1, answer
    assert found["culprit"]["date"] == "2026-11-17"
    assert found["last_good"]["date"] == "2026-11-16"
    assert found["newest"]["date"] == "2026-12-10"
    assert "wrong" in found["culprit"]["changes"][0]
    assert found["runs"] <= 6 + 2
    kept = {path.name.split("-")[1] for path in (project.root / ".envmgr" / "kept").rglob("demo-*.whl")}
    assert {version_of(16), version_of(17)} <= kept
    check = project.run("lock", "--check", "nightly")
    assert f"the last time to demo {version_of(40)}" in check.stdout


def test_nothing_changed_is_two_runs_and_the_next_watch_starts_from_there(dated):
    project = dated(dict.fromkeys(range(1, 4), "ANSWER = 42"))
    code, answer = project.json("matrix", "watch")
    assert (code, answer["data"]["runs"], answer["data"]["culprit"]) == (0, 2, None)
    dated({4: "ANSWER = 42", 5: "ANSWER = 0"})
    code, answer = project.json("matrix", "watch")
    assert (code, answer["data"]["good"]["date"], answer["data"]["culprit"]["date"]) == (1, "2026-11-03", "2026-11-05")
    assert answer["data"]["runs"] == 3


def test_a_change_of_numbers_alone_is_found_by_parity_with_the_good_day(dated):
    project = dated({day: f"ANSWER = {42 if day < 3 else 42.5}" for day in range(1, 6)})
    project.write("runners/answer.py", RUNNER.replace('"passed": answer == parameters["answer"]', '"passed": True'))
    code, answer = project.json("matrix", "watch")
    assert (code, answer["data"]["culprit"]["date"]) == (1, "2026-11-03"), answer
    assert answer["data"]["culprit"]["changes"][0].startswith("parity of nightly/answer with the good day")


def test_days_that_cannot_be_built_are_passed_over_and_named(dated, tmp_path):
    project = dated({day: f"ANSWER = {42 if day < 5 else 43}" for day in range(1, 9)})
    from .conftest import Index

    for day in (4, 5):
        Index(tmp_path / "dated").add("demo", version_of(day), {"demo.py": ""}, ["nowhere-to-be-found"])
    code, answer = project.json("matrix", "watch")
    found = answer["data"]
    assert code == 1
    assert (found["last_good"]["date"], found["culprit"]["date"]) == ("2026-11-03", "2026-11-06")
    assert found["untried"] == ["2026-11-04", "2026-11-05"]


def test_nothing_that_floats_is_nothing_to_watch(project):
    project.matrix("nightly", manifests=["one"], entries=[{}])
    done = project.run("matrix", "watch")
    assert done.returncode == 4
    assert "floating = true" in done.stderr
