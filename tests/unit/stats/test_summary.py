import pytest

from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Report
from envmgr.model.summary import Summary
from envmgr.stats.summary import summarise


def process(*samples, outcome=Outcome.PASSED, first=None, items=None, memory=None, number=0):
    report = Report(
        protocol=1, cell="c1", status="ok", samples=samples, warmup=(99.0,), first_call=first, items_per_sample=items
    )
    return CellResult(cell="c1", round=number, outcome=outcome, report=report, peak_memory=memory)


def test_processes_are_summed_up_by_medians():
    summary = summarise(
        [
            process(1.0, 2.0, 30.0, first=5.0, items=8, memory=100),
            process(4.0, 4.0, 4.0, first=7.0, items=8, memory=300, number=1),
            process(3.0, 3.0, 3.0, first=6.0, items=8, memory=200, number=2),
            process(0.1, outcome=Outcome.CRASHED, number=3),
            CellResult(cell="c1", outcome=Outcome.TIMEOUT),
        ]
    )
    assert summary == Summary(
        processes=3,
        samples=9,
        first_call=6.0,
        median=3.0,
        spread=1.0,
        minimum=1.0,
        maximum=30.0,
        throughput=8 / 3.0,
        cumulative=(3.0, 6.0, 12.0),
        peak_memory=300,
        interval=(2.0, 4.0),
        by_round={0: 2.0, 1: 4.0, 2: 3.0},
    )


def test_wrong_cells_are_timed_too():
    assert summarise([process(1.0, outcome=Outcome.WRONG)]).median == 1.0


@pytest.mark.parametrize("results", [[], [process()], [CellResult(cell="c1", outcome=Outcome.FAILED)]])
def test_nothing_measured_is_no_number(results):
    summary = summarise(results)
    assert (summary.median, summary.spread, summary.minimum, summary.throughput) == (None, None, None, None)
    assert summary.cumulative == ()


def test_samples_of_no_time_at_all_have_no_throughput():
    assert summarise([process(0.0, items=8)]).throughput is None
