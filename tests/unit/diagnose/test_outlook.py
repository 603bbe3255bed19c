"""What is expected to be asked next is what is asked, and expecting it asks nothing and changes nothing."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from envmgr.diagnose.minimise import boundary, smallest
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.outlook import foresee
from envmgr.diagnose.refine import Refinement
from envmgr.diagnose.requirement import read_line
from envmgr.diagnose.search import Hope, Journal, Search
from envmgr.diagnose.worlds import asked, describe
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

BASE = World(python="3.10", requirements=("alpha==0",))


def at(number):
    return World(python="3.10", requirements=(f"alpha=={number}",))


def seen(passed):
    return Observation(passed, None if passed else Phase.IMPORT, "" if passed else "ImportError: no")


class Witness:
    """A journal over a planted rule, which remembers what was asked and what had been expected before."""

    def __init__(self, passes):
        self.asked, self.expected = [], []
        self.journal = Journal(BASE, self.observe, lambda: True, lambda _: None)
        self.journal.observe([BASE])
        self.asked.clear()
        self.expected.clear()
        self.passes = passes

    def passes(self, _):
        return False

    def observe(self, worlds):
        self.asked.append(tuple(worlds))
        self.expected.append([hope.world for hope in self.journal.outlook(worlds) if not hope.again])
        return [seen(self.passes(world)) for world in worlds]


def halved(journal, count):
    """Reason as a bisection does: the world that passes last."""
    worlds = [at(number) for number in range(count)]
    good, _ = boundary(worlds, lambda world: journal.observe([world])[0].passed, 10)
    return worlds[good]


def least(journal, count):
    """Reason as whoever looks for the one among many that matters."""
    chosen = smallest(range(1, count), lambda some: journal.observe([whole(some)])[0].passed)
    return whole(chosen)


def whole(some):
    return World(python="3.10", requirements=tuple(f"alpha=={number}" for number in sorted(some)))


@given(st.integers(3, 60), st.data())
def test_every_question_of_a_bisection_was_expected_while_the_one_before_it_was_open(count, data):
    first_bad = data.draw(st.integers(1, count - 1))
    witness = Witness(lambda world: int(world.requirements[0].partition("==")[2]) < first_bad)
    witness.journal.outlook = partial(foresee, lambda journal: halved(journal, count), witness.journal)
    found = halved(witness.journal, count)
    assert found == at(first_bad - 1)
    for (next_one,), expected in zip(witness.asked[1:], witness.expected, strict=False):
        assert next_one in expected


@given(st.integers(3, 12), st.data())
def test_to_expect_changes_neither_questions_nor_answers(count, data):
    culprit = data.draw(st.integers(1, count - 1))
    runs = []
    for looks in (True, False):
        witness = Witness(lambda world: f"alpha=={culprit}" in world.requirements)
        if looks:
            witness.journal.outlook = partial(foresee, lambda journal: least(journal, count), witness.journal)
        runs.append((least(witness.journal, count), witness.asked, len(witness.journal.experiments)))
    assert runs[0] == runs[1]
    assert runs[0][0] == at(culprit)


def test_when_all_is_known_both_confirmations_are_expected():
    witness = Witness(lambda _: True)
    assert foresee(lambda _: at(3), witness.journal, [at(3)]) == [Hope(at(3), again=True), Hope(BASE, again=True)]
    assert not witness.asked


def solved(planted, world, *, looks):
    """Search and refine as a diagnosis does, and return the world found, all that was asked, all that was expected."""
    journal, expected = planted.journal(world), []
    first = planted.situation(world)
    search = Search(journal, lambda changed, result: planted.situation(world, changed, result))

    def refined(solution, other):
        return Refinement(other, first, lambda: 0.0).refine(solution).world

    def expecting(worlds):
        expected.extend(journal.outlook(worlds) if looks else ())
        return planted.observe(worlds)

    journal.oracle = expecting
    search.beyond = lambda one: foresee(partial(refined, one), journal, [one.world], answers=(True,))
    solution = search.solve(world, journal.observe([world])[0])
    journal.outlook = partial(foresee, partial(refined, solution), journal)
    return refined(solution, journal), [one.change for one in journal.experiments], expected


def test_a_search_and_its_refinement_find_the_same_with_an_outlook_and_were_expected(planted, world, distribution):
    planted.release("alpha", ("1.0", "2020-01-10"))
    planted.release("beta", *((f"{number}.0", f"{2018 + number}-06-01") for number in range(1, 7)))
    alpha = distribution("alpha", "1.0", modules=frozenset({"alpha"}))

    def version_in(some):
        line = next((read_line(text) for text in asked(some) if read_line(text).key == "beta"), None)
        known = planted.releases("beta")
        fitting = [one for one in known if line is None or line.admits(str(one.version))]
        return [one for one in fitting if not some.exclude_newer or one.uploaded <= some.exclude_newer][-1]

    def rule(some):
        version = version_in(some).version
        planted.installed = (alpha, distribution("beta", str(version)))
        return "" if version.major < 4 else "AttributeError: module 'beta' has no attribute 'old'"

    planted.rule = rule
    runs = {}
    for looks in (False, True):
        rule(world)
        runs[looks] = solved(planted, world, looks=looks)
    assert runs[True][:2] == runs[False][:2]
    assert "beta<4.0" in runs[True][0].requirements
    hoped = {describe(world, hope.world) for hope in runs[True][2]}
    refining = [change for change in runs[True][1] if change.startswith("beta==") or change == "beta<4.0"]
    assert len(refining) > 1
    assert set(refining) <= hoped
