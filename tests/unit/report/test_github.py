"""What GitHub Actions is told."""

import json
from pathlib import Path

import yaml

from envmgr.model.cell import Cell
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform
from envmgr.model.result import JudgedCell
from envmgr.report.github import RUNS_ON, job_matrix, notices

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "github-actions.yml"


def judged(name, outcome, reason="", *, unexpected=True):
    cell = Cell(id=name, manifest=name, variant="default", runner="answer")
    return JudgedCell(cell=cell, outcome=outcome, observed=outcome, unexpected=unexpected, reason=reason)


def manifest(name, *platforms):
    return Manifest(schema=1, name=name, python=">=3.8", platforms=platforms)


def test_what_fails_is_an_error_at_its_manifest_and_nothing_else_is_told():
    cells = [
        judged("a", Outcome.WRONG, "output 'x': 50% off,\nbadly"),
        judged("b", Outcome.XFAIL, "known", unexpected=False),
        judged("c", Outcome.UNAVAILABLE, "no card", unexpected=False),
    ]
    told = notices(cells, {"a": "manifests/a.toml"})
    assert told == (
        "::error file=manifests/a.toml,title=wrong%3A a/answer::output 'x': 50%25 off, badly",
    )  # fmt: skip


def test_one_reason_is_one_annotation_however_many_cells_it_holds_for():
    cells = [judged(f"set{number}", Outcome.FAILED, "no module") for number in range(8)]
    (told,) = notices(cells, {})
    assert told.startswith("::error title=failed%3A set0/answer%2C")
    assert "and 3 more::no module" in told


def test_a_reason_cannot_forge_a_command():
    (told,) = notices([judged("a", Outcome.FAILED, "x\n::set-output name=a::b\r\n")], {})
    assert len(told.splitlines()) == 1


def test_a_job_for_each_platform_that_has_something():
    sets = [
        ("a", manifest("a", Platform.LINUX_X86_64, Platform.MACOS_ARM64)),
        ("b@py3.8", manifest("b", Platform.MACOS_ARM64)),
    ]
    jobs = json.loads(job_matrix(sets))["include"]
    assert [(job["platform"], job["arguments"]) for job in jobs] == [
        ("linux-x86_64", "-e a"),
        ("macos-arm64", "-e a -e b@py3.8"),
    ]
    assert {job["runs-on"] for job in jobs} <= set(RUNS_ON.values())


def test_every_platform_has_a_machine():
    assert set(RUNS_ON) == set(Platform)


def test_the_example_uses_what_the_job_matrix_gives():
    text = EXAMPLE.read_text()
    jobs = yaml.safe_load(text)["jobs"]
    assert list(jobs) == ["plan", "measure", "together"]
    (job,) = json.loads(job_matrix([("a", manifest("a", Platform.LINUX_X86_64))]))["include"]
    assert {f"matrix.{key}" for key in job} == {"matrix.platform", "matrix.runs-on", "matrix.arguments"}
    assert all(f"matrix.{key}" in text for key in job)
