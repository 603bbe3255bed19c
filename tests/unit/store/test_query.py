import pytest

from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Device
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell, Run, RunRecord
from envmgr.store.query import cold, done, failed, find_cell, find_run, left

NAMES = ("20260101T000000Z-aa", "20260102T000000Z-bb", "20260102T000000Z-cc")


def cell(ident, device, variant="default", **fields):
    made = Device(id=device, api="llvm")
    return Cell(id=ident, manifest="plaidml-0.7.0", variant=variant, runner="smoke", device=made, **fields)


CELLS = (cell("abc1", "llvm_cpu.0"), cell("abd2", "opencl_cpu.0"), cell("f003", "llvm_cpu.0", "py3.7"))
PLAN = Plan(matrix="quick", effort="quick", processes=2, host="here", cells=CELLS)


def run_of(*results):
    record = RunRecord(id=NAMES[0], started_at="", host="here", envmgr="0", plan=PLAN)
    return Run(record=record, results=results)


@pytest.mark.parametrize(("text", "name"), [("latest", NAMES[2]), (NAMES[1], NAMES[1]), ("20260101", NAMES[0])])
def test_a_run_is_found_by_its_id_the_beginning_of_it_or_as_latest(text, name):
    assert find_run(NAMES, text) == name


@pytest.mark.parametrize(
    ("names", "text", "told"), [((), "latest", "no run yet"), (NAMES, "2027", "no run"), (NAMES, "20260102", "several")]
)
def test_a_run_that_is_not_one_is_an_error(names, text, told):
    with pytest.raises(StoreError, match=told):
        find_run(names, text)


@pytest.mark.parametrize(
    ("text", "ident"),
    [
        ("abc1", "abc1"),
        ("abd", "abd2"),
        ("plaidml-0.7.0/smoke/opencl_cpu.0", "abd2"),
        ("plaidml-0.7.0@py3.7", "f003"),
        ("plaidml-0.7.0@py3.7/smoke", "f003"),
        ("plaidml-0.7.0/smoke/llvm_cpu.0", "abc1"),
    ],
)
def test_a_cell_is_found_by_id_or_name(text, ident):
    assert find_cell(PLAN, text).id == ident


@pytest.mark.parametrize(
    ("text", "told"),
    [("ab", "several"), ("plaidml-0.7.0", "several"), ("x", "no cell"), ("", "no cell"), ("plaidml", "no cell")],
)
def test_a_cell_that_is_not_one_is_an_error_that_lists_cells(text, told):
    with pytest.raises(StoreError, match=told) as caught:
        find_cell(PLAN, text)
    assert "abc1 plaidml-0.7.0/smoke/llvm_cpu.0" in caught.value.hint


def test_what_is_left_goes_round_by_round_without_refused_cells():
    refused = PLAN.model_copy(update={"cells": (*CELLS[:2], cell("r", "x", refusal=Outcome.UNAVAILABLE))})
    run = run_of(
        CellResult(cell="abc1", outcome=Outcome.CRASHED), CellResult(cell="abd2", round=1, outcome=Outcome.PASSED)
    )
    run = run.model_copy(update={"record": run.record.model_copy(update={"plan": refused})})
    assert done(run) == {("abc1", 0), ("abd2", 1)}
    assert [(one.id, number) for one, number in left(run)] == [("abd2", 0), ("abc1", 1)]


def test_failed_cells_are_those_that_fail_the_matrix():
    judged = [
        JudgedCell(cell=CELLS[0], outcome=Outcome.XFAIL, observed=Outcome.WRONG),
        JudgedCell(cell=CELLS[1], outcome=Outcome.FAILED, observed=Outcome.FAILED, unexpected=True),
    ]
    assert failed(judged) == (CELLS[1],)


def test_what_several_processes_measure_is_warmed_up_once_before_the_first():
    refused = cell("r", "x", refusal=Outcome.UNAVAILABLE)
    run = run_of(CellResult(cell="abc1", outcome=Outcome.PASSED))

    def planned(processes):
        plan = PLAN.model_copy(update={"cells": (*CELLS[:2], refused), "processes": processes})
        return run.model_copy(update={"record": run.record.model_copy(update={"plan": plan})})

    assert [one.id for one in cold(planned(3))] == ["abd2"]
    assert cold(planned(1)) == ()
