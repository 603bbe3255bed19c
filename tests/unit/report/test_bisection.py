"""A bisection as people read it: the boundary first, a range called one, every point with why."""

from envmgr.model.bisection import Bisection, Change, LeftOut, Point, Trial
from envmgr.report.bisection import text
from envmgr.report.look import Look

LOOK = Look(width=120, color=False, unicode=True)


def trial(label, verdict, **words):
    versions = {"demo": label, "bridge": "0.9"}
    return Trial(point=Point(label=label, date=f"2026-01-0{label[-1]}", versions=versions), verdict=verdict, **words)


def bisection(**words):
    good, bad = trial("1.1", "good", revisions={"demo": "abc1234"}), trial("1.4", "bad", reason="ValueError: it broke")
    keys = {
        "kind": "package", "subject": "demo", "criterion": "probe", "points": 5, "bound": 5, "probes": 4, "repeats": 2,
        "last_good": good, "first_bad": bad, "exact": True, "reason": "ValueError: it broke", "tried": (good, bad),
    }  # fmt: skip
    return Bisection(**keys | words)


def test_the_boundary_with_dates_revisions_and_why():
    shown = text(bisection(changed=(Change(name="demo", good="1.1", bad="1.4"), Change(name="new", bad="1"))), LOOK)
    assert "last good  1.1  2026-01-01  bridge 0.9  demo at abc1234" in shown
    assert "why        ValueError: it broke" in shown
    assert "changed    demo 1.1 -> 1.4, new none -> 1" in shown
    assert "4 of at most 5 for 5 points, 2 more to rule out chance" in shown
    assert "a range" not in shown


def test_a_range_names_what_tells_nothing():
    left = (LeftOut(label="1.0", reason="withdrawn from the index"),)
    shown = text(bisection(exact=False, untried=("1.2",), flaky=("1.3",), left_out=left), LOOK)
    for line in ("a range", "untried    1.2", "flaky      1.3", "left out   1.0 (withdrawn from the index)"):
        assert line in shown


def test_what_is_the_same_as_another_is_not_asked():
    first = trial("1.1", "good", resolved={"demo": "1.1"}, revisions={"demo": "abc1234"})
    rows = (
        first,
        trial("1.2", "good", asked=0, same_as="1.1", resolved={"demo": "1.2"}, revisions={"demo": "abc1234"}),
        trial("1.3", "good", asked=0, same_as="1.1", resolved={"demo": "1.1"}),
        trial("1.4", "bad", reason="a\x1b[31m b"),
    )
    shown = text(bisection(tried=rows), LOOK)
    assert "same revision as 1.1: skipped" in shown
    assert "same versions as 1.1: skipped" in shown
    assert "\x1b" not in shown


def test_a_metric_shows_its_figures():
    rows = (
        trial("1.1", "good", samples=((0.1, 0.3),), median=0.2),
        trial("1.4", "bad", samples=((0.4,),), median=0.4, ratio=2.0),
    )
    shown = text(bisection(last_good=rows[0], first_bad=rows[1], tried=rows, reason=""), LOOK)
    assert "median 0.4 of 1 process" in shown
    assert "ratio" in shown
