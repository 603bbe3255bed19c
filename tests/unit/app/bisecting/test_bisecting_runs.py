from types import SimpleNamespace

from envmgr.app.bisecting.lines import Spot
from envmgr.app.bisecting.runs import MetricOracle
from envmgr.app.bisecting.standing import Bounds, Standing
from envmgr.model.bisection import Point
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell
from tests.unit.app.conftest import made_cell, made_result

STANDING = Standing("3.11.7", {"demo": "1"})


def spot(label):
    return Spot(Point(label=label), Manifest(schema_=1, name="one", python=">=3.6"), "3.11")


class Cells:
    """Measures every point in as many seconds as its entry says; one that has none does not pass."""

    wishes = SimpleNamespace(runner="speed")

    def __init__(self, **seconds):
        self.seconds = seconds

    def measure(self, spots):
        run = SimpleNamespace(record=SimpleNamespace(id="R1"))
        return run, {each.point.label: self._judged(each.point.label) for each in spots}

    def _judged(self, label):
        cell, seconds = made_cell(label), self.seconds[label]
        if seconds is None:
            results = tuple(CellResult(cell=cell.id, round=at, outcome=Outcome.TIMEOUT) for at in range(4))
            return JudgedCell(
                cell=cell, outcome=Outcome.TIMEOUT, observed=Outcome.TIMEOUT, reason="it took too long", results=results
            )
        results = tuple(made_result(cell, at, seconds * (1 + at / 1000)) for at in range(4))
        return JudgedCell(cell=cell, outcome=Outcome.PASSED, observed=Outcome.PASSED, results=results)


def asked(middle, **seconds):
    bounds = Bounds(good_spot=spot("good"), bad_spot=spot("bad"))
    return MetricOracle(Cells(middle=middle, **seconds), "seconds").ask(spot("middle"), STANDING, bounds)


def test_a_point_lies_with_the_end_that_it_measures_like():
    assert asked(0.1, good=0.1, bad=0.3).verdict == "good"
    assert asked(0.3, good=0.1, bad=0.3).verdict == "bad"


def test_an_end_that_fails_this_time_tells_nothing_of_the_point():
    trial = asked(0.1, good=None, bad=0.3)
    assert (trial.verdict, trial.reason) == ("skipped", "good did not pass beside it: timeout: it took too long")
