"""What holds of comparisons and summaries whatever the numbers."""

import math

from hypothesis import given
from hypothesis import strategies as st

from envmgr.model.cell import Cell
from envmgr.model.comparison import Verdict
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Report
from envmgr.stats.compare import Measured, judge_all
from envmgr.stats.parity import compare, scale_of
from envmgr.stats.robust import location, median_interval
from envmgr.stats.summary import summarise

REFERENCE = Cell(id="ref", manifest="m", variant="default", runner="r", reference_rank=0)
NUMBERS = st.floats(-1e6, 1e6)
ANY = st.floats()
TIMES = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def outputs(values):
    return {"y": Output(shape=(len(values),), values=tuple(values))}


def compared(found, wanted, tolerance=1e-3):
    return compare(outputs(found), outputs(wanted), REFERENCE, tolerance)


@given(st.lists(NUMBERS, max_size=30))
def test_identical_outputs_agree(values):
    parity = compared(values, values)
    assert (parity.verdict, parity.max_abs, parity.max_rel, parity.share_off) == ("agrees", 0.0, 0.0, 0.0)


@given(st.lists(st.floats(0.5, 2) | st.floats(-2, -0.5), min_size=1, max_size=30), st.data())
def test_one_percent_on_any_number_of_a_spread_tensor_disagrees(values, data):
    place = data.draw(st.integers(0, len(values) - 1))
    scaled = [value * 1.01 if index == place else value for index, value in enumerate(values)]
    parity = compared(scaled, values)
    assert parity.verdict == "disagrees"
    assert parity.share_off == 1 / len(values)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.floats(-1e-7, 1e-7))
def test_noise_far_below_the_tolerance_agrees(values, noise):
    scale = scale_of(values)
    assert compared([value + noise * scale for value in values], values).verdict == "agrees"


@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=30))
def test_the_absolute_error_is_symmetric_and_order_does_not_matter(pairs):
    one, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    forth, back = compared(one, other), compared(other, one)
    assert forth.max_abs == back.max_abs
    turned = compared(one[::-1], other[::-1])
    assert (turned.max_abs, turned.share_off, turned.verdict) == (forth.max_abs, forth.share_off, forth.verdict)
    assert math.isclose(turned.max_rel, forth.max_rel)


@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=30))
def test_anything_not_finite_disagrees_and_no_result_is_nan(pairs):
    parity = compared([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    assert not math.isnan(parity.max_abs)
    assert not math.isnan(parity.max_rel)
    if not all(math.isfinite(number) for pair in pairs for number in pair):
        assert parity.verdict == "disagrees"


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=30), st.lists(st.floats(-0.1, 0.1), min_size=30, max_size=30))
def test_scaling_both_sides_changes_no_verdict(values, noise):
    found = [value + change for value, change in zip(values, noise, strict=False)]
    parity = compared(found, values)
    doubled = compared([2 * value for value in found], [2 * value for value in values])
    assert doubled.verdict == parity.verdict
    assert doubled.max_rel == parity.max_rel


@given(st.lists(TIMES, min_size=1, max_size=5))
def test_a_summary_lies_within_its_samples(processes):
    results = [
        CellResult(
            cell="c",
            round=number,
            outcome=Outcome.PASSED,
            report=Report(protocol=1, cell="c", status="ok", samples=tuple(samples)),
        )
        for number, samples in enumerate(processes)
    ]
    summary = summarise(results)
    assert summary == summarise(results[::-1])
    assert summary.minimum <= summary.median <= summary.maximum
    assert 0 <= summary.spread <= summary.maximum - summary.minimum
    assert len(summary.cumulative) == min(len(samples) for samples in processes)
    assert list(summary.cumulative) == sorted(summary.cumulative)


SECONDS = st.floats(1e-6, 1e4)
TWINS = st.lists(st.tuples(SECONDS, SECONDS), min_size=3, max_size=12)
MIRRORED = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}


def measured(pairs, *, paired):
    return Measured(dict(enumerate(one for one, _ in pairs)), dict(enumerate(other for _, other in pairs)), paired)


@given(TWINS, st.booleans())
def test_interval_and_verdict_never_contradict_each_other(pairs, paired):
    only = judge_all([measured(pairs, paired=paired)])[0]
    assert only.low <= only.ratio <= only.high
    assert only.smallest_change > 0
    if only.verdict in MIRRORED:
        assert not only.low <= 1 <= only.high
    if only.verdict is Verdict.SAME:
        assert 0.95 < only.low <= only.high < 1.05


@given(TWINS, st.booleans())
def test_swapping_the_sides_mirrors_the_verdict(pairs, paired):
    one = judge_all([measured(pairs, paired=paired)])[0]
    other = judge_all([measured([(second, first) for first, second in pairs], paired=paired)])[0]
    assert other.verdict is MIRRORED.get(one.verdict, one.verdict)
    assert math.isclose(one.ratio * other.ratio, 1, rel_tol=1e-6)


@given(st.lists(TWINS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_comparisons_does_not_matter(families, draw):
    judged = judge_all([measured(pairs, paired=True) for pairs in families])
    order = list(range(len(families)))
    draw.shuffle(order)
    shuffled = judge_all([measured(families[place], paired=True) for place in order])
    for place, judgement in zip(order, shuffled, strict=True):
        assert judgement.ratio == judged[place].ratio


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30))
def test_locations_and_intervals_lie_within_the_values(values):
    low, high = median_interval(values)
    assert min(values) <= low <= high <= max(values)
    found = location(values)
    assert min(values) - 1e-9 <= found.value <= max(values) + 1e-9
    assert found.error >= 0
