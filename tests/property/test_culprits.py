import math

from hypothesis import given
from hypothesis import strategies as st

from envmgr.diagnose.culprits import Needs, search


class Planted:
    """Changes 0..n-1, of which some sets break something, the first set that is there first; questions are counted."""

    def __init__(self, culprits, cannot=lambda chosen: False):
        self.culprits, self.cannot, self.asked = culprits, cannot, {}

    def __call__(self, chosen):
        if chosen not in self.asked:
            broken = [str(sorted(each)) for each in self.culprits if each <= chosen]
            self.asked[chosen] = None if self.cannot(chosen) else (broken or [""])[0]
        return self.asked[chosen]


def bound(size, members):
    return 2 * members * math.ceil(math.log2(size)) + 4


def culprits_of(found):
    return [set(each.items) for each in found.culprits]


SIZES = st.integers(2, 64)


@given(SIZES, st.data())
def test_planted_culprits_are_found_exactly_and_within_the_bound(size, data):
    members = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6, unique=True))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(members)), max_size=3)) | {len(members)})
    culprits = [frozenset(members[low:high]) for low, high in zip([0, *cuts], cuts, strict=False)]
    planted = Planted([each for each in culprits if each])
    found = search(range(size), planted)
    assert sorted(map(sorted, culprits_of(found))) == sorted(map(sorted, planted.culprits))
    assert found.seen == ""
    assert not any(each.doubtful for each in found.culprits)
    assert len(planted.asked) <= bound(size, len(members))


@given(SIZES, st.data())
def test_what_is_known_to_be_needed_comes_along_and_is_not_accused(size, data):
    pairs = data.draw(st.dictionaries(st.integers(1, size - 1), st.integers(0, size - 1), max_size=size // 2))
    needs = Needs({one: [other] for one, other in pairs.items() if other < one})
    culprit = frozenset(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=2)))
    planted = Planted([culprit], lambda chosen: needs.closed(chosen) != chosen)
    found = search(range(size), planted, needs)
    smallest = {each for each in culprit if not any(each in needs.closed([other]) for other in culprit - {each})}
    assert smallest <= set(found.culprits[0].items) <= culprit
    assert None not in planted.asked.values()
    assert found.seen == ""


@given(SIZES, st.data())
def test_mixtures_that_cannot_be_had_are_passed_over_and_the_verdict_still_holds(size, data):
    together = [
        frozenset(each) for each in data.draw(st.lists(st.sets(st.integers(0, size - 1), min_size=2), max_size=4))
    ]
    culprit = frozenset(data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=3)))
    planted = Planted([culprit], lambda chosen: any(0 < len(each & chosen) < len(each) for each in together))
    found = search(range(size), planted).culprits[0]
    assert planted(frozenset(found.items)) == found.failure
    assert culprit <= set(found.items)
    assert set(found.items) - culprit <= set(found.doubtful)


@given(SIZES, st.lists(st.sampled_from(["", "x", "y", None])), st.randoms())
def test_any_answers_end_the_search(size, answers, random):
    known = {}

    def observe(chosen):
        return known.setdefault(chosen, random.choice([*answers, "x"]))

    found = search(range(size), observe)
    assert not any(set(each.items) & found.left for each in found.culprits[:-1])
