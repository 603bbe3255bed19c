"""Diagnosis of what runs measured: evidence on every cell, proof on request, and what broke overnight."""

import pytest

from .conftest import THIS_PYTHON

pytestmark = [pytest.mark.integration, pytest.mark.indexes, pytest.mark.timeout(300)]

BROKEN = "import nowhere\n"


@pytest.fixture
def nightly(project, index):
    """A version set that floats over six distributions, and a run of it while all was well."""
    for number in range(6):
        index.add(f"part{number}", "1.0", {f"part{number}.py": "STATE = 1\n"})
    project.manifest("night", requirements=["demo==1.0", *(f"part{number}" for number in range(6))], floating=True)
    project.matrix(manifests=["night"], entries=[{"answer": 42}, {"answer": 42, "behaviour": "same"}])
    code, answer = project.json("matrix", "run")
    assert code == 0, answer
    return answer["data"]["run"]["id"]


def overnight(project, index, **codes):
    """Let new releases come out of every part, and measure again."""
    for number in range(6):
        code = codes.get(f"part{number}", "STATE = 2\n")
        index.add(f"part{number}", "2.0", {f"part{number}.py": code})
    code, answer = project.json("matrix", "run")
    return answer["data"]


def test_cells_with_one_cause_share_one_finding_that_says_how_to_prove_it(project, index):
    index.add("demo", "3.0", {"demo.py": BROKEN}, ["base>=1"])
    project.manifest("broken", requirements=["demo==3.0"])
    project.manifest("elsewhere", requirements=["demo==1.0"], platforms=["windows-x86_64"])
    project.matrix(manifests=["one", "broken", "elsewhere"], entries=[{"answer": 42}, {"answer": 43}])
    code, answer = project.json("matrix", "run")
    cells = answer["data"]["cells"]
    assert code == 1
    passed = [cell for cell in cells if cell["outcome"] == "passed"]
    broken = [cell for cell in cells if cell["manifest"] == "broken"]
    refused = [cell for cell in cells if cell["manifest"] == "elsewhere"]
    assert all(cell["finding"] is None for cell in passed)
    assert len({cell["finding"]["id"] for cell in broken}) == 1
    assert (broken[0]["finding"]["cause"]["kind"], broken[0]["finding"]["cause"]["name"]) == ("missing", "nowhere")
    assert not broken[0]["finding"]["confirmed"]
    run = answer["data"]["run"]["id"]
    assert broken[0]["finding"]["next"] == f"envmgr diagnose {run}#{broken[0]['id']}"
    assert {cell["finding"]["cause"]["kind"] for cell in refused} == {"platform"}
    shown = project.run("matrix", "show").stdout
    assert " ".join(shown.split()).count(f"envmgr diagnose {run}#{broken[0]['id']}") == 1


def test_a_cell_is_diagnosed_by_its_runner_in_the_world_of_its_run(project, index):
    index.add("demo", "3.0", {"demo.py": "import absent\n__version__ = '3.0'\nANSWER = 42\n"}, ["base>=1"])
    index.add("absent", "1.0", {"absent.py": ""})
    project.manifest("broken", requirements=["demo==3.0"])
    project.matrix(manifests=["broken"])
    _, answer = project.json("matrix", "run")
    (cell,) = answer["data"]["cells"]
    code, answer = project.json("diagnose", f"latest#{cell['id']}", "--budget", "120s")
    finding = answer["data"]["finding"]
    assert code == 1, answer
    assert (finding["cause"]["kind"], finding["cause"]["name"]) == ("missing", "absent")
    assert finding["confirmed"]
    assert "absent" in " ".join(finding["fix"]["requirements"])
    assert answer["data"]["findings"][0]["cells"] == [cell["name"]]


def test_what_broke_overnight_is_found_once_for_all_cells(project, index, nightly):
    red = overnight(project, index, part3=BROKEN)
    assert {cell["outcome"] for cell in red["cells"]} == {"passed"}
    project.write(
        "runners/answer.py",
        (project.root / "runners/answer.py").read_text().replace("import demo", "import demo, part3"),
    )
    code, answer = project.json("matrix", "run")
    assert code == 1
    code, answer = project.json("diagnose", answer["data"]["run"]["id"], "--good", nightly)
    assert code == 1, answer
    (found,) = answer["data"]["findings"]
    assert len(found["cells"]) == 2
    assert [(each["kind"], each["name"]) for each in found["finding"]["causes"]] == [("package", "part3")]
    assert found["finding"]["confirmed"]
    assert "part3==1.0" in found["finding"]["fix"]["requirements"]
    assert answer["data"]["builds"] <= 2 * 3 + 4


def test_a_matrix_that_diagnoses_shows_what_was_proven(project, index):
    index.add("demo", "3.0", {"demo.py": "import absent\n__version__ = '3.0'\nANSWER = 42\n"}, ["base>=1"])
    index.add("absent", "1.0", {"absent.py": ""})
    project.manifest("broken", requirements=["demo==3.0"])
    project.matrix(manifests=["broken"], entries=[{"answer": 42}, {"answer": 42, "behaviour": "same"}])
    code, answer = project.json("matrix", "run", "--diagnose", "--budget", "120s")
    assert code == 1
    findings = [cell["finding"] for cell in answer["data"]["cells"]]
    assert [finding["confirmed"] for finding in findings] == [True, True]
    assert len({finding["id"] for finding in findings}) == 1
    assert project.json("matrix", "show")[1]["data"]["cells"] == answer["data"]["cells"]


def blamed(answer):
    finding = answer["data"]["finding"]
    return [(cause["kind"], cause["name"]) for cause in finding["causes"]], finding["confirmed"]


def test_a_good_end_is_a_freeze_a_lock_or_an_environment(project, index, tmp_path):
    index.add("plain", "1.0", {"plain.py": ""})
    index.add("plain", "1.1", {"plain.py": ""})
    probe = ("--probe", "import demo; assert demo.ANSWER == 42")
    options = ("--python", THIS_PYTHON, "--require", "demo", "--require", "plain")
    freeze = project.write("good.txt", "# what held\nbase==1.5\ndemo==1.0  # pinned\nplain==1.0\n")
    assert blamed(project.json("diagnose", *options, *probe, "--good", freeze.name)[1]) == ([("package", "demo")], True)
    project.manifest("good", requirements=["demo==1.0", "plain==1.0"])
    assert project.run("build", "good").returncode == 0
    lock = next((project.root / "manifests/locks/good").glob("*.txt"))
    code, answer = project.json("diagnose", *options, *probe, "--good", str(lock))
    assert (code, blamed(answer)) == (1, ([("package", "demo")], True))
    assert answer["data"]["finding"]["fix"] == {"requirements": ["demo==1.0", "plain"]}
    place = project.json("path", "good")[1]["data"]["path"]
    assert blamed(project.json("diagnose", *options, *probe, "--good", place)[1]) == ([("package", "demo")], True)


def test_what_is_no_good_end_is_told(project):
    options = ("--python", THIS_PYTHON, "--require", "demo", "--probe", "import demo")
    project.write("empty.txt", "")
    code, answer = project.json("diagnose", *options, "--good", "empty.txt")
    assert (code, answer["error"]["code"]) == (2, "usage")
    code, answer = project.json("diagnose", *options, "--good", "nothing-like-that")
    assert code == 2
