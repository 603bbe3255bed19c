"""Bisections over planted oracles: the boundary, within the bound, over holes, flaky points and kills."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envmgr.app.bisecting.bisect import Means, bisect_line
from envmgr.app.bisecting.lines import Line, Spot
from envmgr.app.bisecting.standing import Standing
from envmgr.app.bisecting.state import Notebook
from envmgr.errors import BuildError, UsageError
from envmgr.model.bisection import Point, Trial
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Phase
from envmgr.ports import Listener

MANIFEST = Manifest(schema_=1, name="bisect", python=">=3.6")


class Disk:
    """Files in memory."""

    def __init__(self):
        self.texts = {}

    def read(self, path):
        return self.texts.get(path)

    def write(self, path, text, *, durable=True):
        self.texts[path] = text


class Clock:
    def monotonic(self):
        return 0.0


class Planted:
    """An oracle with a planted change; `flaky` points answer otherwise each time, `revision` tells points apart."""

    criterion = "planted"
    repeats = True

    def __init__(self, first_bad, dead=(), flaky=(), revision=None, killed_after=None):
        self.first_bad, self.dead, self.flaky = first_bad, set(dead), set(flaky)
        self.revision = revision
        self.killed_after = killed_after
        self.asked = []
        self.expected = []

    def expect(self, likely):
        """Begin nothing, and remember what was expected."""
        self.expected.append([(int(spot.point.label), again) for spot, again in likely()])

    def stand(self, spot, names):
        place = int(spot.point.label)
        if place in self.dead:
            return Standing("3.8", phase=Phase.RESOLVE, reason="no solution")
        revisions = {"demo": self.revision(place)} if self.revision else {}
        return Standing("3.8", {"demo": spot.point.label}, revisions)

    def ask(self, spot, standing, bounds):
        place = int(spot.point.label)
        if self.killed_after is not None and len(self.asked) >= self.killed_after:
            raise KeyboardInterrupt
        self.asked.append(place)
        good = place < self.first_bad
        if place in self.flaky:
            good = self.asked.count(place) % 2 == 0
        return Trial(
            point=spot.point, verdict="good" if good else "bad", reason="" if good else "it is broken",
            python="3.8", resolved=dict(standing.resolved), revisions=dict(standing.revisions),
        )  # fmt: skip


def line_of(length):
    spots = tuple(Spot(Point(label=str(n), versions={"demo": str(n)}), MANIFEST, "3.8") for n in range(length))
    return Line("package", "demo", spots, ("demo",))


def bisect(oracle, length, disk=None, *, resume=False):
    line = line_of(length)
    notebook = Notebook(disk or Disk(), Path("state"), line, "asked", resume=resume)
    return bisect_line(line, Means(oracle, notebook, Clock(), Listener()))


@given(st.integers(2, 400), st.data())
def test_monotone(length, data):
    first_bad = data.draw(st.integers(1, length - 1))
    oracle = Planted(first_bad)
    found = bisect(oracle, length)
    assert (found.last_good.point.label, found.first_bad.point.label) == (str(first_bad - 1), str(first_bad))
    assert found.exact
    assert found.probes <= found.bound == math.ceil(math.log2(length)) + 2
    assert len(oracle.asked) == found.probes + found.repeats
    assert found.repeats == 2
    assert found.reason == "it is broken"


@given(st.integers(2, 400), st.data())
def test_every_question_was_expected_while_the_one_before_it_was_open(length, data):
    oracle = Planted(data.draw(st.integers(1, length - 1)))
    bisect(oracle, length)
    questions = [(place, place in oracle.asked[:at]) for at, place in enumerate(oracle.asked)]
    assert len(oracle.expected) == len(questions)
    for question, expected in zip(questions[1:], oracle.expected, strict=False):
        assert question in expected
    assert not oracle.expected[-1]


@given(st.integers(3, 40), st.data())
def test_holes_and_flaky_points_leave_an_honest_range(length, data):
    first_bad = data.draw(st.integers(1, length - 1))
    middles = st.sets(st.integers(1, length - 2), max_size=length)
    dead = data.draw(middles)
    flaky = data.draw(middles) - dead
    found = bisect(Planted(first_bad, dead, flaky), length)
    low, high = int(found.last_good.point.label), int(found.first_bad.point.label)
    assert low < first_bad <= high
    assert {*map(int, found.untried), *map(int, found.flaky)} == set(range(low + 1, high))
    assert set(map(int, found.untried)) <= dead
    assert set(map(int, found.flaky)) <= flaky
    assert found.exact is (high == low + 1)


@given(st.integers(3, 200), st.integers(1, 20), st.data())
def test_one_revision_is_asked_once(length, width, data):
    """Neighbours share a revision; the change came with one of them."""
    first_bad = data.draw(st.integers(1, (length - 1) // width)) * width if length > width else 1
    oracle = Planted(first_bad, revision=lambda place: f"{(place // width) if length > width else place:07x}")
    found = bisect(oracle, length)
    assert found.first_bad.point.label == str(first_bad)
    skipped = {trial.point.label for trial in found.tried if trial.same_as}
    assert found.probes == len(found.tried) - len(skipped)
    for trial in found.tried:
        if trial.same_as:
            twin = next(each for each in found.tried if each.point.label == trial.same_as)
            assert twin.revisions == trial.revisions
            assert twin.verdict == trial.verdict


@settings(max_examples=50)
@given(st.integers(3, 100), st.integers(1, 7), st.data())
def test_a_killed_one_goes_on_from_what_was_tried(length, kill, data):
    first_bad = data.draw(st.integers(1, length - 1))
    disk, first = Disk(), Planted(first_bad, killed_after=kill)
    try:
        whole = bisect(first, length, disk)
    except KeyboardInterrupt:
        second = Planted(first_bad)
        whole = bisect(second, length, disk, resume=True)
        assert whole.resumed == min(len(set(first.asked)), kill)
        again = set(first.asked) & set(second.asked)
        assert again <= {first_bad - 1, first_bad}
    assert whole.first_bad.point.label == str(first_bad)
    assert whole.probes <= whole.bound


@pytest.mark.parametrize(
    ("oracle", "error", "what"),
    [
        (Planted(0), UsageError, "the good end is not good: demo 0"),
        (Planted(9), UsageError, "the bad end is not bad: demo 7"),
        (Planted(3, dead=[0]), BuildError, "the good end cannot be tried: demo 0"),
        (Planted(3, dead=[7]), BuildError, "the bad end cannot be tried: demo 7"),
        (Planted(7, flaky=[7]), UsageError, "the bad end answers otherwise when asked again: demo 7"),
        (Planted(3, revision=lambda _: "aaaaaaa"), UsageError, "the bad end is not bad: demo 7"),
    ],
)
def test_ends_that_are_not_what_they_are_called(oracle, error, what):
    with pytest.raises(error) as raised:
        bisect(oracle, 8)
    assert raised.value.what == what
    assert raised.value.why
    assert raised.value.hint
