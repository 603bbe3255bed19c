"""Bisection finds the place of a change in few questions, around what cannot be tried or does not stand by its word."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.stats.bisect import FlakyEndError, Turn, bisect, most_questions


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
    assert len(asked) + 2 <= most_questions(length + 1) == math.ceil(math.log2(length + 1)) + 2


@given(st.integers(2, 60), st.data())
def test_what_cannot_be_tried_is_named_and_never_hides_the_change(length, data):
    first_bad = data.draw(st.integers(1, length))
    dead = data.draw(st.sets(st.integers(1, length - 1), max_size=length))
    asked = []

    def is_good(place):
        asked.append(place)
        return None if place in dead else place < first_bad

    turn = bisect(0, length, is_good)
    assert turn.last_good < first_bad <= turn.first_bad
    assert set(turn.untried) == set(range(turn.last_good + 1, turn.first_bad))
    assert set(turn.untried) <= dead
    assert len(set(asked)) == len(asked)


@given(st.integers(2, 60), st.data())
def test_a_place_that_disagrees_with_itself_decides_nothing(length, data):
    """Flaky places answer otherwise each time they are asked; the others stand by what they say."""
    first_bad = data.draw(st.integers(1, length))
    flaky = data.draw(st.sets(st.integers(1, length - 1), max_size=length))
    dead = data.draw(st.sets(st.integers(1, length - 1), max_size=length)) - flaky
    turns = {place: data.draw(st.booleans()) for place in flaky}

    def answer(place):
        if place in dead:
            return None
        if place in flaky:
            turns[place] = not turns[place]
            return turns[place]
        return place < first_bad

    turn = bisect(0, length, answer, answer)
    assert turn.last_good not in flaky
    assert turn.first_bad not in flaky
    assert turn.last_good < first_bad <= turn.first_bad
    assert set(turn.flaky) <= flaky
    assert set(turn.untried) <= dead
    assert set(turn.untried) | set(turn.flaky) == set(range(turn.last_good + 1, turn.first_bad))


def test_nothing_flaky_costs_two_questions_more():
    asked = []

    def again(place):
        asked.append(place)
        return place < 17

    assert bisect(0, 39, lambda place: place < 17, again) == Turn(16, 17)
    assert asked == [16, 17]


def test_an_end_that_disagrees_with_itself_ends_the_search():
    with pytest.raises(FlakyEndError) as raised:
        bisect(0, 4, lambda _: False, lambda place: place != 0)
    assert raised.value.place == 0


def test_a_wide_hole_does_not_hide_what_is_beyond_it():
    """Of 1000 places 400 in the middle are dead: the change beyond them takes few questions more."""
    asked = []

    def is_good(place):
        asked.append(place)
        return None if 300 <= place < 700 else place < 900

    assert bisect(0, 1000, is_good) == Turn(899, 900)
    assert len(asked) <= 12
