"""Our one distribution against SciPy's."""

import math

import pytest

from envmgr.stats.student import quantile, two_sided

scipy_stats = pytest.importorskip("scipy.stats")

FREEDOMS = (1, 2, 3.3, 5, 9.7, 50, 1000)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("t", [0, 1e-3, 0.5, 1, 2.5, 7, 40, 1e4])
def test_tails(t, freedom):
    wanted = 2 * scipy_stats.t.sf(t, freedom)
    assert two_sided(t, freedom) == pytest.approx(wanted, rel=1e-8, abs=1e-300)
    assert two_sided(-t, freedom) == two_sided(t, freedom)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [0.6, 0.8, 0.975, 0.995, 1 - 1e-6])
def test_quantiles(level, freedom):
    assert quantile(level, freedom) == pytest.approx(scipy_stats.t.ppf(level, freedom), rel=1e-6)


def test_a_difference_without_any_noise_is_certain():
    assert two_sided(math.inf, 4) == 0
