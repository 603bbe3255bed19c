"""Marks on cells that were disturbed."""

import pytest

from envmgr.model.conditions import Conditions
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Report
from envmgr.stats.marks import crowding, marks_of

QUIET = Conditions(cores=2, others=0.05, available=0.8, throttled=0, speed_limit=100)


def process(conditions=None, samples=(1.0,) * 12, number=0):
    report = Report(protocol=1, cell="c", status="ok", samples=samples)
    return CellResult(cell="c", round=number, outcome=Outcome.PASSED, report=report, conditions=conditions)


def test_a_quiet_machine_leaves_no_mark():
    assert marks_of([process(QUIET), process(None), process(Conditions(cores=4))]) == ()


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"others": 0.93, "neighbours": {"stress": 0.9}}, "busy", "0.93 of 2 cores busy (stress 0.90)"),
        ({"stolen": 0.5}, "stolen", "took 0.50 cores"),
        ({"throttled": 3}, "throttled", "3 times"),
        ({"speed_limit": 60.0}, "throttled", "60 %"),
        ({"available": 0.04}, "memory", "only 4 %"),
        ({"moved": 64 * 1024**2}, "memory", "swapped 64 MiB"),
    ],
)
def test_each_disturbance_has_its_mark(changes, kind, words):
    marks = marks_of([process(QUIET), process(QUIET.model_copy(update=changes), number=1)])
    assert [(mark.kind, mark.processes) for mark in marks] == [(kind, 1)]
    assert words in marks[0].text


def test_the_worst_process_speaks_and_all_are_counted():
    disturbed = [process(QUIET.model_copy(update={"others": share})) for share in (0.5, 1.4, 0.7)]
    assert marks_of(disturbed)[0].processes == 3
    assert "1.40 of 2" in marks_of(disturbed)[0].text


def test_on_many_cores_a_little_company_does_not_disturb():
    assert marks_of([process(QUIET.model_copy(update={"cores": 64, "others": 0.9}))]) == ()


def test_samples_that_drift_are_marked():
    slower = tuple(1 + place / 20 for place in range(12))
    assert marks_of([process(QUIET, samples=slower)])[0].kind == "unsteady"
    assert marks_of([process(QUIET, samples=slower[:8])]) == ()


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        ({}, 1.0),
        ({"load_before": 2.0, "load_after": 9.0}, 1.0),  # the cell's own threads wait, too
        ({"others": 1.0}, 1.5),
        ({"stolen": 0.5}, 1.25 + 0.05 / 2),
        ({"others": 1.7, "load_before": 13.0, "load_after": 14.0}, 7.0),
        ({"others": 1.0, "cores": 16, "load_after": 3.0}, 1 + 1 / 16),
    ],
)
def test_what_other_programs_could_have_done_is_told_as_a_factor(changes, factor):
    crowded = process(QUIET.model_copy(update=changes))
    assert crowding([crowded]) == pytest.approx(factor)
    assert crowding([crowded, process(QUIET), process(QUIET)]) == 1.0, "most processes were left alone"


def test_without_conditions_nobody_is_accused():
    assert crowding([process(None)]) == crowding([]) == 1.0
