"""Verdicts on times."""

import random

import pytest

from envmgr.model.comparison import Verdict
from envmgr.stats.compare import FALSE_ALARMS, Measured, judge_all


def rounds(values):
    return dict(enumerate(values))


def noisy(seed, change=0.0, count=10, noise=0.01, paired=True):
    draw = random.Random(seed)
    machine = [draw.gauss(0, 0.02) for _ in range(count)]
    one = [1 + shared + draw.gauss(0, noise) for shared in machine]
    other = [(1 + shared + draw.gauss(0, noise)) * (1 + change) for shared in machine]
    return Measured(rounds(one), rounds(other), paired)


def judged(*measured):
    return [judgement.verdict for judgement in judge_all(measured)]


def test_a_clear_change_is_told_with_its_direction():
    assert judged(noisy(1, 0.10)) == [Verdict.SLOWER]
    assert judged(noisy(1, -0.10)) == [Verdict.FASTER]


def test_the_ratio_is_the_seconds_time_by_the_firsts():
    only = judge_all([noisy(1, 1.0)])[0]
    assert only.ratio == pytest.approx(2, rel=0.03)
    assert only.low < 2 < only.high
    assert only.confidence == 1 - FALSE_ALARMS


def test_equal_cells_are_the_same_where_the_data_can_say_so():
    assert judged(noisy(2)) == [Verdict.SAME]
    loud = judge_all([noisy(2, noise=0.2)])[0]
    assert loud.verdict is Verdict.CANNOT_TELL
    assert loud.smallest_change > 0.1
    assert "smallest change" in loud.reason


def test_what_slows_the_machine_in_the_middle_of_a_run_hits_both_cells_and_changes_no_verdict():
    one = [1.0, 1.01, 0.99, 1.0, 1.02, 1.5, 1.53, 1.49, 1.51, 1.5]
    other = [1.01, 1.0, 1.0, 0.99, 1.51, 1.52, 1.5, 1.5, 1.49, 1.51]  # the neighbour comes between the two in round 4
    assert judged(Measured(rounds(one), rounds(other), paired=True)) == [Verdict.SAME]
    assert judged(Measured(rounds(one), rounds(other), paired=False)) == [Verdict.CANNOT_TELL]


def test_changes_that_layout_alone_can_make_are_never_claimed():
    exact = [1.0 + place / 1e6 for place in range(10)]
    assert judged(Measured(rounds(exact), rounds([1.015 * value for value in exact]), paired=True)) == [Verdict.SAME]
    apart = Measured(rounds(exact), rounds([1.025 * value for value in exact]), paired=False)
    assert judged(apart) == [Verdict.SAME]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_processes_cannot_tell(count):
    for paired in (True, False):
        only = judge_all([Measured(rounds([1.0] * count), rounds([2.0] * count), paired)])[0]
        assert (only.verdict, only.ratio) == (Verdict.CANNOT_TELL, None)
        assert "at least 3 processes" in only.reason


def test_rounds_that_only_one_cell_has_take_no_part_in_pairs():
    one = Measured({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}, {0: 1.0, 5: 2.0, 6: 2.0, 7: 2.0}, paired=True)
    assert "1 rounds" in judge_all([one])[0].reason


def test_a_borderline_change_among_many_comparisons_is_not_claimed():
    values = noisy(5, 0.032, noise=0.012)
    alone = judge_all([values])[0]
    assert alone.verdict is Verdict.SLOWER
    among = judge_all([values, *(noisy(seed) for seed in range(100, 150))])[0]
    assert among.verdict is not Verdict.SLOWER
    assert among.confidence > alone.confidence


def test_clear_changes_stay_clear_among_many():
    assert judged(*(noisy(seed, 0.5) for seed in range(60))) == [Verdict.SLOWER] * 60


def test_false_alarms_are_as_rare_as_promised():
    alarms = sum(verdict in {Verdict.FASTER, Verdict.SLOWER} for seed in range(600) for verdict in judged(noisy(seed)))
    assert alarms <= 6


def test_between_runs_no_change_is_claimed_that_other_programs_could_have_made():
    slower = noisy(1, 0.5, paired=False)
    assert judged(slower) == [Verdict.SLOWER]
    crowded = judge_all([Measured(slower.first, slower.second, paired=False, crowded=1.8)])[0]
    assert crowded.verdict is Verdict.CANNOT_TELL
    assert crowded.smallest_change >= 0.8
    assert "other programs alone could have made a smaller one" in crowded.reason
    assert judged(Measured(slower.first, noisy(1, 1.5, paired=False).second, paired=False, crowded=1.8)) == [
        Verdict.SLOWER
    ]


def wandering(draw, count=10, memory=0.7, size=0.03):
    place, values = draw.gauss(0, size), []
    for _ in range(count):
        place = memory * place + draw.gauss(0, size * (1 - memory**2) ** 0.5)
        values.append(1 + place + draw.gauss(0, 0.008))
    return values


def test_two_runs_of_a_drifting_machine_seldom_claim_what_is_not_there():
    draw = random.Random(5)
    pairs = [Measured(rounds(wandering(draw)), rounds(wandering(draw)), paired=False) for _ in range(400)]
    claimed = [pair for pair in pairs if judged(pair)[0] in {Verdict.FASTER, Verdict.SLOWER}]
    assert len(claimed) <= 4, "1 %"
