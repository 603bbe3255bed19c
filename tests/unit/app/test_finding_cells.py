import pytest

from envmgr.app.finding_cells import Measured, distinct_findings, with_evidence, with_findings
from envmgr.model.cell import Cell, Plan
from envmgr.model.finding import Cause, Finding
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, JudgedCell, Parity, Report, Run, RunnerError, RunRecord

MANIFEST = Manifest(schema=1, name="one", python=">=3.8", requirements=("acme==1.0",))
HOST = HostFacts(name="box", system="linux", machine="x86_64")


def cell(ident, **fields):
    return Cell(id=ident, manifest="one", variant="default", runner="r", **fields)


def run_of(judged, **fields):
    plan = Plan(matrix="quick", effort="quick", processes=1, host="box", cells=tuple(each.cell for each in judged))
    record = RunRecord(id="R1", started_at="", host="box", envmgr="0", plan=plan)
    return Run(record=record, results=(), **fields)


def judged(ident, observed, *results, outcome=None, **fields):
    own = {name: fields.pop(name) for name in ("refusal", "reason", "phase") if name in fields}
    return JudgedCell(
        cell=cell(ident, **own),
        outcome=outcome or observed or Outcome.SKIPPED,
        observed=observed,
        results=results,
        **fields,
    )


def process(ident="a", outcome=Outcome.FAILED, **fields):
    error = RunnerError(phase=Phase.IMPORT, type="ModuleNotFoundError", message="No module named 'acme.x'")
    report = Report(protocol=1, cell=ident, status="failed", error=error)
    return CellResult(cell=ident, outcome=outcome, phase=Phase.IMPORT, reason="it failed", report=report, **fields)


def test_a_process_that_passed_has_no_finding():
    good = process(outcome=Outcome.PASSED)
    assert with_evidence(good, cell("a"), "", HOST, Measured(MANIFEST)) is good


def test_what_a_runner_reported_is_evidence_even_where_the_log_is_empty():
    found = with_evidence(process(), cell("a"), "", HOST, Measured(MANIFEST)).finding
    assert (found.cause.kind, found.phase, found.check) == ("missing", Phase.IMPORT, "the runner")
    assert any("acme.x" in line.quote for line in found.evidence)


def test_cells_that_did_not_pass_have_a_finding_and_no_others():
    failed = with_evidence(process(), cell("a"), "", HOST, Measured(MANIFEST))
    cells = [
        judged("a", Outcome.FAILED, failed),
        judged("b", Outcome.FAILED, failed.model_copy(update={"cell": "b"}), outcome=Outcome.XFAIL),
        judged("c", Outcome.PASSED),
        judged("d", None),
        judged("e", Outcome.UNAVAILABLE, refusal=Outcome.UNAVAILABLE, phase=Phase.BACKEND, reason="no such card"),
    ]
    found = with_findings(run_of(cells), cells)
    assert [each.finding is not None for each in found] == [True, True, False, False, True]
    assert found[0].finding is found[1].finding
    assert found[0].finding.next == "envmgr diagnose R1#a"
    assert [len(group) for group in distinct_findings(found).values()] == [2, 1]


def test_what_was_proven_stands_instead_of_the_evidence():
    failed = with_evidence(process(), cell("a"), "", HOST, Measured(MANIFEST))
    cause = Cause(kind="python", name="3.12", why="seen")
    proven = Finding(id=failed.finding.id, phase=Phase.IMPORT, cause=cause, causes=(cause,), confirmed=True)
    cells = [judged("a", Outcome.FAILED, failed)]
    assert with_findings(run_of(cells, proven={proven.id: proven}), cells)[0].finding == proven


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.CRASHED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY])
def test_a_run_of_before_has_findings_from_its_reasons(outcome):
    cells = [judged("a", outcome, process(outcome=outcome))]
    assert with_findings(run_of(cells), cells)[0].finding.evidence


def test_numbers_that_disagree_are_a_finding_though_every_process_passed():
    parity = Parity(reference="z", max_abs=1, max_rel=1, share_off=1, verdict="disagrees", worst="row 2")
    cells = [judged("a", Outcome.WRONG, process(outcome=Outcome.PASSED), parity=parity)]
    assert with_findings(run_of(cells), cells)[0].finding.check == "parity with the reference"
