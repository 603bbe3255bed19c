import math

from hypothesis import given
from hypothesis import strategies as st

from envmgr.diagnose.minimise import boundary, smallest
from envmgr.diagnose.reading import read, telling_lines
from envmgr.diagnose.releases import parse_page
from envmgr.diagnose.requirement import read_line

PIECES = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        '  File "',
        '", line ',
        "9" * 30,
        "Error: ",
        "No module named 'x",
        "\x00",
        "'",
        "(",
        "site-packages/",
        "\n",
    ]
)


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(data):
    reading = read(data)
    assert isinstance(reading.message, str)
    assert isinstance(reading.signature, str)


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_any_mutilated_traceback_can_be_read(text):
    assert read(text).text == text
    telling_lines(text)


@given(st.text(max_size=80))
def test_any_page_and_any_requirement_can_be_read(text):
    parse_page(text)
    parse_page("{" + text)
    read_line(text)


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1, max_size=3)))
)
def test_the_culprits_alone_remain(case):
    size, culprits = case
    assert set(smallest(range(size), lambda chosen: culprits <= set(chosen))) == culprits


@given(st.integers(2, 200), st.data())
def test_one_culprit_is_found_in_about_two_questions_a_halving(size, data):
    culprit, asked = data.draw(st.integers(0, size - 1)), []

    def holds(chosen):
        asked.append(chosen)
        return culprit in chosen

    assert smallest(range(size), holds) == (culprit,)
    assert len(asked) <= 2 * math.ceil(math.log2(size)) + 2


@given(st.integers(3, 200), st.data())
def test_a_boundary_is_found_within_the_logarithm(size, data):
    first_bad = data.draw(st.integers(1, size - 1))
    most = math.ceil(math.log2(size)) + 2
    assert boundary(range(size), lambda point: point < first_bad, most) == (first_bad - 1, first_bad)


@given(st.integers(3, 60), st.data())
def test_a_boundary_with_holes_still_lies_between_what_it_names(size, data):
    first_bad = data.draw(st.integers(1, size - 1))
    holes = data.draw(st.sets(st.integers(1, size - 2)))
    good, bad = boundary(range(size), lambda point: None if point in holes else point < first_bad, 200)
    assert good < first_bad <= bad
    assert all(point in holes for point in range(good + 1, bad))
