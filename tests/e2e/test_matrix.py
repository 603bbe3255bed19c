"""The main job on a small world: plan, run, resume, failed, logs."""

import json
import signal
import time

import pytest

pytestmark = pytest.mark.integration


def test_a_matrix_tells_what_works_and_why_the_rest_does_not(project):
    project.manifest("two", requirements=["demo==2.0"])
    project.manifest("nowhere", requirements=["nowhere==1"])
    project.matrix(manifests=["one", "two", "nowhere"])
    code, answer = project.json("matrix", "run")
    assert code == 1
    cells = {cell["manifest"]: cell for cell in answer["data"]["cells"]}
    assert cells["one"]["outcome"] == "passed"
    assert cells["one"]["resolved"] == {"base": "1.5", "demo": "1.0"}
    assert cells["one"]["samples"] == [[0.1, 0.2]]
    assert cells["two"]["outcome"] == "wrong"
    assert "answer" in cells["two"]["reason"]
    assert cells["nowhere"]["outcome"] == "build-failed"
    assert cells["nowhere"]["phase"] == "resolve"
    assert "nowhere" in cells["nowhere"]["reason"]
    shown = project.run("matrix", "show")
    assert shown.returncode == 1
    assert "passed" in shown.stdout
    assert "wrong" in shown.stdout


def test_an_expectation_must_match_outcome_and_reason(project):
    expect = '[[expect]]\noutcome = "wrong"\nreason = "{}"\n'
    project.manifest("known", requirements=["demo==2.0"], tables=expect.format("answer"))
    project.manifest("other", requirements=["demo==2.0"], tables=expect.format("something else"))
    project.matrix(manifests=["known"])
    code, answer = project.json("matrix", "run")
    cell = answer["data"]["cells"][0]
    assert (code, cell["outcome"], cell["observed"], cell["expected"]) == (0, "xfail", "wrong", "wrong")
    project.matrix(manifests=["other"])
    code, answer = project.json("matrix", "run")
    assert code == 1
    assert answer["data"]["cells"][0]["unexpected"] is True


def test_a_cell_sees_its_own_home_and_no_secret(project):
    project.matrix(manifests=["one"])
    code, answer = project.json("matrix", "run", SECRET="leaked", PYTHONPATH="nowhere", KERAS_BACKEND="theano")
    assert code == 0
    home, secret = answer["data"]["cells"][0]["notes"]
    assert home != str(project.home)
    assert secret == "no secret"


def test_a_crash_is_a_value_and_the_others_go_on(project):
    project.matrix(manifests=["one"], entries=[{"behaviour": "crash"}, {}])
    code, answer = project.json("matrix", "run")
    assert code == 1
    assert [cell["outcome"] for cell in answer["data"]["cells"]] == ["crashed", "passed"]
    assert "SIGABRT" in answer["data"]["cells"][0]["reason"]


def test_failed_measures_only_what_failed(project):
    project.manifest("two", requirements=["demo==2.0"])
    project.matrix(manifests=["one", "two"])
    project.json("matrix", "run")
    code, answer = project.json("matrix", "run", "--failed")
    assert code == 1
    assert [cell["manifest"] for cell in answer["data"]["cells"]] == ["two"]
    project.matrix(manifests=["one"])
    project.json("matrix", "run")
    assert project.run("matrix", "run", "--failed").returncode == 4


def test_resume_after_an_interrupt_runs_only_what_is_left(project):
    project.matrix(manifests=["one"], entries=[{}, {"behaviour": "slow"}, {"answer": 42, "behaviour": "still good"}])
    process = project.start("matrix", "run")
    deadline = time.monotonic() + 60
    while not list(project.root.glob(".envmgr/runs/*/results/*.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "--resume" in talk
    first = sorted(project.root.glob(".envmgr/runs/*/results/*.json"))
    assert len(first) == 1
    before = first[0].read_text()

    runner = project.root / "runners" / "answer.py"
    runner.write_text(runner.read_text().replace("time.sleep(30)", "pass"))
    again = project.run("matrix", "run", "--resume", "--json")
    answer = json.loads(again.stdout)
    assert again.returncode == 0
    assert "2 processes to run (1 of 3 are there)" in again.stderr
    assert "[3/3]" in again.stderr
    assert [cell["outcome"] for cell in answer["data"]["cells"]] == ["passed"] * 3
    assert len(list(project.root.glob(".envmgr/runs/*"))) == 1
    assert first[0].read_text() == before
    assert project.run("matrix", "run", "--resume").returncode == 4


def test_logs_show_what_a_cell_wrote(project):
    runner = project.root / "runners" / "answer.py"
    runner.write_text(runner.read_text().replace("import demo\n", "print('hello from the cell')\nimport demo\n"))
    project.matrix(manifests=["one"])
    project.run("matrix", "run")
    logs = project.run("matrix", "logs", "one")
    assert logs.returncode == 0
    assert "hello from the cell" in logs.stdout


def test_a_plan_starts_nothing_and_an_empty_selection_says_so(project):
    project.matrix(manifests=["one"])
    code, answer = project.json("matrix", "plan")
    assert code == 0
    assert [cell["manifest"] for cell in answer["data"]["cells"]] == ["one"]
    assert not (project.root / ".envmgr").exists()
    code, answer = project.json("matrix", "plan", "--device", "mps")
    assert code == 4
    assert answer["error"]["code"] == "nothing-selected"


def test_a_newer_python_than_there_is_makes_the_cell_unavailable(project):
    project.manifest("future", python="==3.99.*")
    project.matrix(manifests=["future"])
    code, answer = project.json("matrix", "run")
    assert code == 0
    cell = answer["data"]["cells"][0]
    assert (cell["outcome"], cell["phase"]) == ("unavailable", "interpreter")
    assert "3.99" in cell["reason"]


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["matrix", "run", "nonesuch"], 2, "nonesuch"),
        (["build", "onne"], 2, "one"),
        (["matrix", "show"], 2, "no run"),
        (["matrix", "run", "--jobs", "zero"], 2, "jobs"),
        (["nonesuch"], 2, "nonesuch"),
        (["build"], 2, "NAME"),
    ],
)
def test_wrong_command_lines_get_one_clear_error(project, arguments, code, word):
    done = project.run(*arguments)
    assert done.returncode == code
    assert word in done.stderr
    json_code, answer = project.json(*arguments)
    assert json_code == code
    assert answer["data"] is None
    assert answer["error"]["what"]


def test_faults_of_a_manifest_name_file_and_line(project):
    project.write("manifests/bad.toml", 'schema = 1\nname = "bad"\npython = ">=3.11"\nrequirments = ["x"]\n')
    done = project.run("build", "bad")
    assert done.returncode == 2
    assert "bad.toml:4" in done.stderr
    assert "requirements" in done.stderr
    assert project.run("build", "one").returncode == 0
    code, answer = project.json("list")
    assert code == 0
    assert len(answer["data"]["broken"]) == 1
    assert json.dumps(answer["data"]["manifests"]).count('"name": "one"') == 1


def test_a_project_without_a_matrix_is_told_to_write_one(project):
    done = project.run("matrix", "plan", "-e", "one")
    assert done.returncode == 2
    assert "this project has no matrix 'quick'" in done.stderr
    assert "manifests/matrices/quick.toml" in done.stderr
    assert "there is no manifest" not in done.stderr


def test_data_that_cannot_be_laid_out_stop_one_cell_alone(project, tmp_path):
    (project.root / "weights").symlink_to(tmp_path)
    project.manifest("two", data=["weights"])
    project.matrix(manifests=["two", "one"])
    code, answer = project.json("matrix", "run")
    told = {cell["manifest"]: (cell["outcome"], cell["reason"]) for cell in answer["data"]["cells"]}
    assert (code, told["one"][0], told["two"][0]) == (1, "passed", "failed")
    assert "leaves the project" in told["two"][1]


def test_a_manifest_that_lists_no_runner_of_the_matrix_is_named(project):
    project.manifest("idle", runners=[])
    project.matrix(manifests=["idle"])
    ended = project.run("matrix", "run")
    assert ended.returncode == 4
    assert "none is listed by idle" in ended.stderr
