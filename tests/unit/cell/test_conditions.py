"""From two sights of the machine to what a process ran under."""

from envmgr.cell.conditions import conditions_between
from envmgr.model.conditions import Sight

BEFORE = Sight(
    at=100.0, cores=2, busy=50.0, load=0.5, memory=1000, available=800, throttled=3, programs={"7 job": 5, "9 kw/a": 1}
)
AFTER = Sight(
    at=110.0,
    cores=2,
    busy=69.0,
    stolen=1.0,
    load=1.5,
    memory=1000,
    available=600,
    moved=4096,
    throttled=5,
    programs={"7 job": 13.0, "9 kw/b": 1.1, "12 late": 1.0},
)


def test_what_others_used_is_all_without_the_own():
    conditions = conditions_between(BEFORE, AFTER, own=10.0)
    assert conditions.others == 0.9
    assert conditions.neighbours == {"job": 0.8, "late": 0.1}
    assert (conditions.stolen, conditions.available, conditions.moved, conditions.throttled) == (0.1, 0.6, 4096, 2)
    assert (conditions.load_before, conditions.load_after) == (0.5, 1.5)


def test_nothing_is_claimed_where_it_cannot_be_known():
    assert conditions_between(BEFORE, AFTER, own=None).others is None
    instant = AFTER.model_copy(update={"at": 100.001})
    assert conditions_between(BEFORE, instant, own=0.0).others is None
    assert conditions_between(BEFORE, AFTER.model_copy(update={"throttled": None}), own=0.0).throttled is None
