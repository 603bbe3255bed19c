import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.report import text
from envmgr.report.look import look_for


@given(st.text())
def test_clean_text_is_one_printable_line(value):
    made = text.clean(value)
    assert made.isprintable() or all(character.isspace() or character.isprintable() for character in made)
    assert len(made.splitlines()) <= 1
    made.encode("utf-8")


@given(st.floats(0, 1e7))
def test_times_are_short_and_never_in_exponents(value):
    made = text.seconds(value)
    assert "e" not in made.split()[0]
    assert len(made) <= 14


@pytest.mark.parametrize(
    ("value", "made"), [(9.9996e-4, "1.00 ms"), (0.99996, "1.00 s"), (99.96, "100 s"), (119.9, "120 s"), (None, "")]
)
def test_times_at_the_edges(value, made):
    assert text.seconds(value) == made


@pytest.mark.parametrize(
    ("variables", "terminal", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"CI": "true"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "CI": "true"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(variables, terminal, color):
    assert look_for(variables, terminal=terminal, encoding="UTF-8", columns=80).color is color


def test_encoding_and_width_of_the_stream_count():
    look = look_for({}, terminal=False, encoding="ascii", columns=5)
    assert (look.unicode, look.width) == (False, 40)
