"""The Beta distribution as far as an interval needs it: distribution function and quantile.

Written out because these two functions would be the only use of SciPy, which is larger than everything else that the
core installs. The distribution function is the regularised incomplete beta function, by its continued fraction
(DLMF 8.17.22) evaluated with Lentz's method; the quantile inverts it by bisection.
"""

from __future__ import annotations

import math

_TINY = 1e-300
_EPSILON = 1e-15
_MAX_TERMS = 10_000
_BISECTIONS = 100


def _coefficient(term: int, a: float, b: float, x: float) -> float:
    """Partial numerator number `term` (from 1) of the continued fraction, DLMF 8.17.23."""
    m, odd = divmod(term, 2)
    if odd:
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def _fraction(a: float, b: float, x: float) -> float:
    """Value of 1/(1 + d1/(1 + d2/(1 + …)))."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MAX_TERMS):
        numerator = _coefficient(term, a, b, x)
        d = 1.0 / ((1.0 + numerator * d) or _TINY)
        c = (1.0 + numerator / c) or _TINY
        value *= c * d
        if abs(c * d - 1.0) < _EPSILON:
            break
    return 1.0 / value


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(X ≤ x) for X ~ Beta(a, b).

    Args:
        x: Any number; outside [0, 1] the answer is 0 or 1.
        a: First shape, above 0.
        b: Second shape, above 0.
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):  # where the fraction converges fast; else by symmetry
        return math.exp(log_front) * _fraction(a, b, x) / a
    return 1.0 - math.exp(log_front) * _fraction(b, a, 1.0 - x) / b


def beta_quantile(q: float, a: float, b: float) -> float:
    """The x with P(X ≤ x) = q for X ~ Beta(a, b), to about 1e-15.

    Raises:
        ValueError: `q` is not in [0, 1] or a shape is not above 0.
    """
    if not (0.0 <= q <= 1.0 and a > 0.0 and b > 0.0):
        raise ValueError(f"no quantile {q} of Beta({a}, {b})")
    if q in (0.0, 1.0):
        return float(q)
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if beta_cdf(middle, a, b) < q:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
