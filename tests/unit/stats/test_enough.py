"""When the rounds are enough."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envmgr.model.cell import Further
from envmgr.model.comparison import Verdict
from envmgr.stats.compare import CHOSEN_ROUNDS, FALSE_ALARMS, Measured, judge_all
from envmgr.stats.enough import SoFar, course, smallest_change

FEWEST = 10
FURTHER = Further(processes=30, shows=0.04, seconds=120)
CLAIMS = {Verdict.FASTER, Verdict.SLOWER}


def cell(values, cost=1.0):
    return SoFar(dict(enumerate(values)), frozenset(range(len(values))), (cost,) * FEWEST)


def scattered(seed, share, count=FEWEST, of=1.0):
    draw = random.Random(seed)
    return [of * (1 + draw.gauss(0, share)) for _ in range(count)]


def on(*cells, further=FURTHER):
    return course({str(place): each for place, each in enumerate(cells)}, FEWEST, further)


def test_steady_cells_stop_after_their_first_processes():
    found = on(cell(scattered(1, 0.001)), cell(scattered(2, 0.001)))
    assert (found.number, found.missing, found.ended) == (10, (), "shows")
    assert found.shows == pytest.approx(0.02), "less is never claimed"


def test_scattered_cells_go_on_together_up_to_the_most():
    found = on(cell(scattered(1, 0.1)), cell(scattered(2, 0.001)))
    assert (found.number, found.missing, found.ended) == (10, ("0", "1"), None)
    assert found.shows > 0.04
    found = on(cell(scattered(1, 0.1, 30)), cell(scattered(2, 0.1, 30)))
    assert (found.number, found.missing, found.ended) == (30, (), "most")


@pytest.mark.parametrize(("crowded", "wanted"), [(0, 0.04), (2, 0.04), (3, 0.025), (10, 0.025)])
def test_cells_measured_beside_other_programs_go_on_until_less_shows(crowded, wanted):
    cells = {
        str(seed): SoFar(each.values, each.rounds, each.cost, frozenset(range(FEWEST - crowded, FEWEST)))
        for seed in (1, 2)
        for each in [cell(scattered(seed, 0.009))]
    }
    found = course(cells, FEWEST, FURTHER)
    assert 0.025 < found.shows < 0.04
    assert found.wanted == wanted
    assert (found.ended == "shows") == (wanted == 0.04)


def test_a_single_cell_goes_on_by_its_own_scatter():
    assert on(cell(scattered(1, 0.1))).missing == ("0",)
    assert on(cell(scattered(1, 0.001))).ended == "shows"


def test_a_round_that_was_begun_is_ended_whatever_the_values_say():
    steady, behind = cell(scattered(1, 0.001, 11)), cell(scattered(2, 0.001, 10))
    found = on(steady, behind)
    assert (found.number, found.missing, found.ended) == (10, ("1",), None)


def test_a_cell_whose_processes_take_long_gets_as_many_as_there_is_time_for():
    assert on(cell(scattered(1, 0.1), cost=20.0), cell(scattered(2, 0.1), cost=20.0)).ended == "time"
    slow, fast = cell(scattered(1, 0.1), cost=20.0), cell(scattered(2, 0.1), cost=1.0)
    assert on(slow, fast).missing == ("1",)
    assert on(cell(scattered(1, 0.1, 12), cost=10.0), cell(scattered(2, 0.1, 12), cost=10.0)).ended == "time"


def test_only_the_first_processes_say_how_many_there_is_time_for():
    first, last = [1.0] * FEWEST, (0.1,) * FEWEST
    one = SoFar(dict(enumerate(first)), frozenset(range(FEWEST)), last)
    assert on(one, one) == on(cell(first), cell(first))


def test_too_few_values_show_nothing():
    assert smallest_change([{0: 1.0}, {0: 1.0}]) == float("inf")
    assert smallest_change([{0: 1.0, 1: 1.0}]) == float("inf")


SHARES = st.lists(st.floats(0.5, 2), min_size=FEWEST, max_size=30)


@given(
    st.lists(SHARES, min_size=1, max_size=4),
    st.lists(st.sampled_from([2.0**power for power in range(-8, 9)]), min_size=4, max_size=4),
)
def test_how_cells_differ_never_decides(cells, factors):
    """Every cell as many times as slow as one likes: the scatter is the same, and so is what follows."""
    count = min(map(len, cells))
    before = on(*(cell(values[:count]) for values in cells))
    after = on(
        *(cell([factor * value for value in values[:count]]) for values, factor in zip(cells, factors, strict=False))
    )
    assert (before.number, before.missing, before.ended) == (after.number, after.missing, after.ended)
    assert before.shows == pytest.approx(after.shows)


@given(st.lists(SHARES, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_more_scatter_never_means_fewer_rounds(cells, draw):
    count = min(map(len, cells))
    calm = [cell([value**0.5 for value in values[:count]]) for values in cells]
    wild = [cell(values[:count]) for values in cells]
    assert on(*calm).shows <= on(*wild).shows * (1 + 1e-9)


def taken(draw, change, enough, share=0.06):
    """Return the rounds of two cells that scatter as on a shared machine, until it is enough."""
    one, other = {}, {}
    for number in range(FURTHER.processes):
        one[number] = draw.lognormvariate(0, share / 2**0.5)
        other[number] = draw.lognormvariate(0, share / 2**0.5) * (1 + change)
        if number + 1 >= FEWEST and enough(one, other):
            break
    return one, other


def by_scatter(one, other):
    names = {"one": one, "other": other}
    return course({name: SoFar(each, frozenset(each), ()) for name, each in names.items()}, FEWEST, FURTHER).ended


def by_verdict(one, other):
    return judge_all([Measured(one, other, paired=True)], FALSE_ALARMS)[0].verdict in CLAIMS


def share_of(verdicts, change, enough, level, pairs=300):
    draw = random.Random(f"{change} {level}")
    judged = [judge_all([Measured(*taken(draw, change, enough), paired=True)], level)[0] for _ in range(pairs)]
    return sum(each.verdict in verdicts for each in judged) / pairs


def test_equal_cells_are_seldom_claimed_to_differ_however_many_rounds_were_chosen():
    assert share_of(CLAIMS, 0.0, by_scatter, CHOSEN_ROUNDS) <= 0.01


def test_choosing_the_rounds_by_their_verdict_would_claim_what_is_not_there():
    assert share_of(CLAIMS, 0.0, by_verdict, FALSE_ALARMS) > 0.02


def test_slowdowns_of_five_and_ten_percent_are_found_on_a_shared_machine():
    assert share_of({Verdict.SLOWER}, 0.05, by_scatter, CHOSEN_ROUNDS, 200) >= 0.65
    assert share_of({Verdict.SLOWER}, 0.10, by_scatter, CHOSEN_ROUNDS, 100) >= 0.95
