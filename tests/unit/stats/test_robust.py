"""Trimmed means against SciPy's, the closed form of the bootstrap against resampling."""

import math
import random
from statistics import median

import pytest

from envmgr.stats.robust import location, median_interval

VALUES = [1.2, 0.9, 1.05, 1.1, 1.0, 0.97, 1.3, 1.02, 1.15, 9.0]


def test_the_location_is_yuens():
    scipy_stats = pytest.importorskip("scipy.stats")
    other = [value + 0.1 for value in VALUES[:7]]
    one, two = location(VALUES), location(other)
    # SciPy cuts the integer part of 20 % of each sample, as we do.
    wanted = scipy_stats.ttest_ind(VALUES, other, equal_var=False, trim=0.2).statistic
    assert (one.value - two.value) / math.hypot(one.error, two.error) == pytest.approx(wanted)
    assert (one.freedom, two.freedom) == (5, 4)


def test_wild_values_do_not_move_the_location():
    calm = location([*VALUES[:-1], 1.31])
    assert location(VALUES).value == pytest.approx(calm.value)
    assert location(VALUES).error == pytest.approx(calm.error)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 10, 20, 21])
def test_the_closed_form_is_what_resampling_gives(count):
    draw = random.Random(count)
    values = [draw.gauss(0, 1) for _ in range(count)]
    resampled = sorted(median(draw.choices(values, k=count)) for _ in range(20_000))
    low, high = median_interval(values, 0.9)
    share_below = sum(value < low for value in resampled) / len(resampled)
    share_above = sum(value > high for value in resampled) / len(resampled)
    assert share_below <= 0.05 + 0.01
    assert share_above <= 0.05 + 0.01
    assert sum(value <= low for value in resampled) / len(resampled) >= 0.05 - 0.01
    assert sum(value >= high for value in resampled) / len(resampled) >= 0.05 - 0.01


def test_one_value_has_no_interval():
    assert median_interval([1.0]) is None
