"""Which day to try next."""

import pytest

from envmgr.infer.eras import days_between, next_era, pythons_of

RELEASED = {"3.6": "2016-12-23", "3.7": "2018-06-27", "3.8": "2019-10-14", "3.11": "2022-10-24"}


def found_after(count, starts, works, missing):
    """Return how many eras were tried until one in `works` was."""
    tried = {}
    while True:
        at = next_era(count, tried, starts)
        if at is None:
            return None
        if at in works:
            return len(tried) + 1
        tried[at] = missing(at)


def test_the_starts_come_first_in_their_order():
    assert next_era(10, {}, (9, 2)) == 9
    assert next_era(10, {9: frozenset("a")}, (9, 2)) == 2


def test_what_turns_on_one_side_is_found_by_halving():
    def missing(at):
        return frozenset({"old"}) if at > 7 else frozenset({"new"})

    tries = found_after(20, (19, 2), {6, 7}, missing)
    assert tries <= 6


def test_an_era_between_two_that_lack_the_same_name_is_tried_last():
    tried = {0: frozenset("a"), 4: frozenset("a"), 9: frozenset()}
    assert 4 < next_era(10, tried, ()) < 9


@pytest.mark.parametrize("good", range(12))
def test_every_era_is_tried_at_last(good):
    assert found_after(12, (11,), {good}, lambda _: frozenset("x")) is not None


def test_a_start_that_is_known_to_lack_something_is_left_for_the_nearest_that_is_not():
    assert next_era(10, {}, (9, 2), {9: frozenset("a")}) == 2
    foreseen = {9: frozenset("a"), 8: frozenset("a"), 2: frozenset("bc"), 3: frozenset("b"), 1: frozenset()}
    assert next_era(10, {}, (9, 2), foreseen) == 1


def test_where_every_day_seems_to_lack_a_name_the_starts_are_tried_first_all_the_same():
    foreseen = {at: frozenset("a") for at in (0, 1, 2, 3, 5, 7, 9)}
    tried = {}
    for _ in range(2):
        tried[next_era(10, tried, (9, 2), foreseen)] = frozenset("a")
    assert {2, 9} == set(tried)


def test_a_window_in_which_a_module_has_come_and_a_name_has_not_yet_gone_is_found():
    def missing(at):
        return frozenset({"lib.part"} if at < 1 else {"lib.part.new", "lib.part.old"} if at < 2 else {"lib.part.old"})

    assert found_after(21, (20, 3), {2}, missing) <= 7


def test_what_is_foreseen_does_not_keep_an_era_from_being_tried_at_last():
    tried, foreseen = {}, {at: frozenset("ab") for at in range(4)}
    while (at := next_era(4, tried, (3,), foreseen)) is not None:
        tried[at] = frozenset("a")
    assert set(tried) == {0, 1, 2, 3}


def test_nothing_is_left_when_all_were_tried():
    assert next_era(2, {0: None, 1: None}, (0,)) is None


def test_pythons_need_some_months_to_settle():
    assert pythons_of("2019-12-01", ["3.6", "3.7", "3.8"], RELEASED) == ("3.7", "3.6")
    assert pythons_of("2017-01-01", ["3.7", "3.6"], RELEASED) == ("3.6",)
    assert pythons_of("", ["3.6", "3.11", "3.8"], RELEASED) == ("3.11", "3.8", "3.6")


def test_the_last_day_is_no_limit():
    from datetime import date

    days = days_between("2020-01-01", date(2021, 6, 1))
    assert days == ("2020-03-01", "2020-09-01", "")
