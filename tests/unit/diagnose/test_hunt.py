import pytest

from envmgr.diagnose.contents import Contents
from envmgr.diagnose.hunt import Ends, Hunt, Means, Probe
from envmgr.diagnose.observation import Observation
from envmgr.model.finding import World
from envmgr.model.outcome import Phase

GREEN = World(python="3.11", requirements=("acme==1", "base==1"))
RED = World(python="3.11", requirements=("acme==2", "base==2"))
ASKED = World(python="3.11", requirements=("acme", "base"))


class Laboratory:
    """Fails a probe where the distribution that it is named for is new; there is time for so many experiments."""

    def __init__(self, most=99):
        self.most = most
        self.told = []

    def observe(self, probe, world):
        broken = f"{probe.name}==2" in world.requirements
        text = f"ValueError: {probe.name} broke" if broken else ""
        return Observation(not broken, Phase.RUN if broken else None, text)

    def hunt(self, *names):
        means = Means(
            self.observe,
            lambda _: Contents(),
            lambda world: world.model_dump_json(),
            lambda: len(self.told) < self.most,
            self.told.append,
        )
        probes = [Probe(name, ("-c", ""), kin="one") for name in names]
        return Hunt(Ends(GREEN, RED, ASKED), means).run(probes, ())


def test_probes_that_only_seemed_alike_are_explained_one_by_one():
    found = Laboratory().hunt("acme", "base")
    assert {one.probes: one.finding.cause.name for one in found.traced} == {("acme",): "acme", ("base",): "base"}
    assert not found.unexplained


def test_what_was_found_stays_when_the_budget_is_spent_on_the_others():
    alone = Laboratory()
    alone.hunt("acme")
    # One more experiment tells that the other is no kin; there is none left to see it at the bad end.
    found = Laboratory(len(alone.told) + 1).hunt("acme", "base")
    assert [one.probes for one in found.traced] == [("acme",)]
    assert list(found.unexplained) == ["base"]


@pytest.mark.parametrize(("short", "fixed"), [(1, True), (2, True), (3, False)])
def test_a_culprit_stays_when_there_is_no_time_left_to_confirm_its_fix(short, fixed):
    enough = Laboratory()
    (confirmed,) = enough.hunt("acme").traced
    (found,) = Laboratory(len(enough.told) - short).hunt("acme").traced
    assert confirmed.finding.confirmed
    assert (found.finding.causes, found.finding.confirmed) == (confirmed.finding.causes, False)
    assert (found.finding.fix is not None) == fixed


class Twice(Laboratory):
    """Fails every probe where either distribution is new."""

    def observe(self, probe, world):
        broken = [name for name in ("acme", "base") if f"{name}==2" in world.requirements]
        text = f"ValueError: {broken[0]} broke" if broken else ""
        return Observation(not broken, Phase.RUN if broken else None, text)


def test_the_first_culprit_stays_when_the_budget_is_spent_on_the_search_for_the_next():
    whole = Twice()
    assert [one.finding.cause.name for one in whole.hunt("one").traced] == ["acme", "base"]
    cut = [Twice(most).hunt("one") for most in range(2, len(whole.told))]
    names = [[one.finding.cause.name for one in found.traced] for found in cut]
    assert ["acme"] in names
    assert all(found.unexplained for found, told in zip(cut, names, strict=True) if len(told) < 2)
    assert names == sorted(names, key=len)
