"""Bisection finds the place of a change in few questions, around what cannot be tried too."""

import math

from hypothesis import given
from hypothesis import strategies as st

from envmgr.stats.bisect import Turn, bisect


@given(st.integers(1, 2000), st.data())
def test_the_first_bad_place_is_found_with_logarithmically_many_questions(length, data):
    first_bad = data.draw(st.integers(1, length))
    asked = []

    def is_good(place):
        asked.append(place)
        return place < first_bad

    assert bisect(0, length, is_good) == Turn(first_bad - 1, first_bad)
    assert len(asked) <= math.ceil(math.log2(length)) if length > 1 else not asked
    assert len(set(asked)) == len(asked)


@given(st.integers(2, 60), st.data())
def test_what_cannot_be_tried_is_named_and_never_hides_the_change(length, data):
    first_bad = data.draw(st.integers(1, length))
    dead = data.draw(st.sets(st.integers(1, length - 1), max_size=length))
    turn = bisect(0, length, lambda place: None if place in dead else place < first_bad)
    assert turn.last_good < first_bad <= turn.first_bad
    assert set(turn.untried) == set(range(turn.last_good + 1, turn.first_bad))
    assert set(turn.untried) <= dead
