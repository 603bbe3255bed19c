"""Cells whose values scatter get further rounds, and a run that is killed among them goes on where it stopped."""

import json
import time

import pytest

pytestmark = pytest.mark.integration


def scatter(project):
    """Let the runner's times be anything between one and two."""
    runner = project.root / "runners" / "answer.py"
    text = runner.read_text()
    runner.write_text(text.replace('"samples": [0.1, 0.2]', '"samples": [1 + __import__("random").random()]'))


def results_of(project):
    return {path.name: path.read_bytes() for path in project.root.glob(".envmgr/runs/*/results/*.json")}


def test_a_run_killed_in_a_further_round_is_resumed_with_as_many_as_its_scatter_wants(project):
    scatter(project)
    project.matrix(manifests=["one"], effort="default")
    process = project.start("matrix", "run")
    deadline = time.monotonic() + 60
    while len(results_of(project)) < 13:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=30)
    before = results_of(project)
    assert 13 <= len(before) < 30

    again = project.run("matrix", "run", "--resume", "--json")
    answer = json.loads(again.stdout)["data"]
    assert again.returncode == 0
    assert "going on answer one more, as after" in again.stderr
    assert "[" + f"{10 + 30 - len(before)}/{10 + 30 - len(before)}]" in again.stderr
    assert before.items() <= results_of(project).items(), "what was measured stays as it is"
    (rounds,) = answer["run"]["rounds"]
    assert (rounds["runner"], rounds["processes"], rounds["ended"]) == ("answer", 30, "most")
    assert rounds["shows"] > answer["run"]["further"]["shows"] == 0.04
    assert (answer["run"]["processes"], answer["cells"][0]["processes"]) == (10, 30)
    assert len(answer["cells"][0]["samples"]) == 30
    assert project.run("matrix", "run", "--resume").returncode == 4
    shown = project.run("matrix", "show").stdout
    assert "default (10 to 30 processes a cell)" in shown
    assert "answer: 30 processes a cell (30 processes at most): a change of" in shown


def test_a_plan_says_from_how_many_to_how_many(project):
    project.matrix(manifests=["one"], effort="default")
    assert "10 to 30 processes each" in project.run("matrix", "plan").stdout
    code, answer = project.json("matrix", "plan", "--effort", "quick")
    assert (code, answer["data"]["plan"]["processes"], answer["data"]["plan"]["further"]) == (0, 1, None)
