"""What of a run is left, when cells go on by how much their values scatter."""

import random

import pytest

from envmgr.app.rounds import Rounds, told
from envmgr.model.cell import Cell, Further, Plan
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report, Run, RunRecord

FEWEST = 10
FURTHER = Further(processes=14, shows=0.05, seconds=120)
CELLS = tuple(
    Cell(
        id=name,
        manifest=name,
        variant="default",
        runner=runner,
        group=runner,
        reference_rank=0 if name == "a" else None,
    )
    for name, runner in (("a", "speed"), ("b", "speed"), ("c", "other"))
)


def result_of(cell, number, scatter, **fields):
    value = 1 + random.Random(f"{cell} {number}").gauss(0, scatter)
    outputs = {"y": Output(shape=(2,), values=(1.0, fields.pop("answer", 2.0)))}
    report = Report(protocol=1, cell=cell, status="ok", samples=(value,), outputs=outputs)
    update = {"outcome": Outcome.PASSED, "report": report, "elapsed": 0.1, **fields}
    return CellResult(cell=cell, round=number, **update)


def run_of(results=(), further=FURTHER, cells=CELLS):
    plan = Plan(matrix="quick", effort="default", processes=FEWEST, further=further, host="box", cells=cells)
    record = RunRecord(id="r", started_at="", host="box", envmgr="0", plan=plan)
    return Run(record=record, results=tuple(results))


def names(jobs):
    return [(cell.id, number) for cell, number in jobs]


def measured(scatter, **fields):
    """Measure a run to its end and return its rounds with all results; `scatter` is by cell."""
    rounds, results = Rounds(run_of()), []
    while jobs := rounds.left():
        for cell, number in jobs:
            results.append(result_of(cell.id, number, scatter[cell.id], **fields.get(cell.id, {})))
            rounds.add(results[-1])
    return rounds, results


def counted(results):
    return {cell.id: sum(each.cell == cell.id for each in results) for cell in CELLS}


def test_the_first_processes_of_all_come_before_any_further_one():
    assert names(Rounds(run_of()).left()) == [(cell.id, number) for number in range(FEWEST) for cell in CELLS]
    assert Rounds(run_of()).taken() == ()


def test_cells_of_one_runner_go_on_together_and_those_of_another_do_not():
    rounds, results = measured({"a": 0.3, "b": 0.001, "c": 0.001})
    assert counted(results) == {"a": 14, "b": 14, "c": 10}
    taken = {each.runner: each for each in rounds.taken()}
    assert (taken["speed"].ended, taken["speed"].processes, taken["speed"].cells) == ("most", 14, ("a", "b"))
    assert (taken["other"].ended, taken["other"].processes) == ("shows", 10)
    assert "10 processes a cell: a change of 2 % shows" in told(taken["other"], FURTHER)
    assert told(taken["speed"], FURTHER).startswith("14 processes a cell (14 processes at most): a change of ")


def test_a_run_that_was_stopped_anywhere_goes_on_as_if_it_never_had_been():
    _, results = measured({"a": 0.06, "b": 0.06, "c": 0.3})
    whole = sorted((each.cell, each.round) for each in results)
    for stopped in range(0, len(results), 3):
        rounds, again = Rounds(run_of(results[:stopped])), list(results[:stopped])
        while jobs := rounds.left():
            for cell, number in jobs:
                again.append(next(each for each in results if (each.cell, each.round) == (cell.id, number)))
                rounds.add(again[-1])
        assert sorted((each.cell, each.round) for each in again) == whole


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": Outcome.FAILED, "report": None},
        {"answer": 3.0},
        {"report": Report(protocol=1, cell="b", status="ok")},
    ],
    ids=["failed", "wrong", "without times"],
)
def test_what_has_no_speed_to_compare_gets_no_further_process(fields):
    _, results = measured({"a": 0.3, "b": 0.3, "c": 0.001}, b=fields)
    assert counted(results) == {"a": 14, "b": 10, "c": 10}


def test_a_cell_that_fails_later_on_does_not_keep_the_others_waiting():
    rounds, results = Rounds(run_of()), []
    while jobs := rounds.left():
        for cell, number in jobs:
            bad = {"outcome": Outcome.CRASHED, "report": None} if (cell.id, number) == ("b", 11) else {}
            results.append(result_of(cell.id, number, 0.3 if cell.id != "c" else 0.001, **bad))
            rounds.add(results[-1])
    assert counted(results) == {"a": 14, "b": 14, "c": 10}


def test_a_plan_with_a_fixed_number_has_no_further_rounds():
    results = [result_of(cell.id, number, 0.3) for cell in CELLS for number in range(FEWEST)]
    rounds = Rounds(run_of(results, further=None))
    assert (rounds.left(), rounds.taken()) == ((), ())


def test_cells_on_other_hosts_of_a_fleet_go_their_own_way():
    cells = tuple(cell.model_copy(update={"host": "far" if cell.id == "b" else "near"}) for cell in CELLS)
    scatter = {"a": 0.001, "b": 0.3, "c": 0.001}
    results = [
        result_of(cell.id, number, scatter[cell.id], host=cell.host) for cell in cells for number in range(FEWEST)
    ]
    rounds = Rounds(run_of(results, cells=cells))
    assert names(rounds.left()) == [("b", 10)]
    assert {(each.host, each.runner): each.ended for each in rounds.taken()} == {
        ("near", "speed"): "shows",
        ("far", "speed"): None,
        ("near", "other"): "shows",
    }
