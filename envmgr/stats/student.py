"""Student's t distribution, as much as comparisons need of it.

A statistics library would weigh a hundred times what envmgr weighs, for one function; tests hold this one against
SciPy's.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_STEPS = 500
_PRECISION = 1e-15


def two_sided(t: float, freedom: float) -> float:
    """Return the probability that |T| is at least |t| under `freedom` degrees of freedom.

    >>> round(two_sided(2.228139, 10), 6), two_sided(0.0, 3)
    (0.05, 1.0)
    """
    if math.isinf(t):
        return 0.0
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=1024)
def quantile(level: float, freedom: float) -> float:
    """Return t such that T stays at or below it with probability `level`, which lies in (0.5, 1).

    >>> round(quantile(0.975, 10), 6)
    2.228139
    """
    wanted = 2 * (1 - level)
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > wanted:
        low, high = high, high * 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > wanted else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the fraction of the incomplete beta function by Lentz's method."""
    upper = 1.0
    value = lower = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    for step in range(1, _STEPS):
        change = 1.0
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            lower = 1 / _away_from_zero(1 + term * lower)
            upper = _away_from_zero(1 + term / upper)
            change = upper * lower
            value *= change
        if abs(change - 1) < _PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
