"""A measurement lies on the side whose samples it is like; where the samples do not tell, nobody says."""

import random

import pytest

from envmgr.model.comparison import Verdict
from envmgr.stats.sides import apart, is_on_good_side


def rounds(middle, spread=0.02, count=5, seed=0):
    chance = random.Random(f"{middle} {seed}")
    return {number: middle * (1 + chance.uniform(-spread, spread)) for number in range(count)}


GOOD, BAD = rounds(1.0), rounds(2.0)


def test_ends_are_apart_or_not():
    assert apart(GOOD, BAD).verdict is Verdict.SLOWER
    assert apart(BAD, GOOD).verdict is Verdict.FASTER
    assert apart(GOOD, rounds(1.0, seed=1)).verdict not in {Verdict.SLOWER, Verdict.FASTER}


@pytest.mark.parametrize(
    ("middle", "good"),
    [(1.0, True), (2.0, False), (0.5, True), (4.0, False), (1.2, True), (1.8, False)],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_like_one_end_beyond_it_or_nearer_to_it(middle, good, backwards):
    value = rounds(middle, seed=7)
    found = is_on_good_side(BAD, GOOD, value) if backwards else is_on_good_side(GOOD, BAD, value)
    assert found is (good is not backwards)


def test_samples_that_do_not_tell_say_nothing():
    wide = {0: 0.5, 1: 4.0, 2: 1.0}
    assert is_on_good_side(GOOD, BAD, wide) is None
    assert is_on_good_side(GOOD, rounds(1.0, seed=3), GOOD) is None
