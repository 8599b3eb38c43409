"""The test that belongs to a t interval: how far zero lies from its middle, in standard errors."""

from __future__ import annotations

from scipy.special import stdtr, stdtrit

from evaltui.stats.interval import Interval
from evaltui.stats.pvalue import PValue

TAKEN = ("t over items", "t over clusters", "paired t over runs")
"""Methods of the intervals whose half-width is a t quantile at ``n`` - 1 degrees of freedom times a standard error."""


def t_test(interval: Interval) -> PValue:
    """Two-sided p-value of "the mean is zero", from a t interval with ``n`` - 1 degrees of freedom (Student 1908).

    For ``item_t``, ``cluster_t`` and paired ``run_interval``. p is below 1 - level exactly when the interval excludes
    zero. An interval without bounds gives no p, and its note says why. Raises ValueError for any other interval.
    """
    if interval.method not in TAKEN:
        raise ValueError(f"interval must be one of {', '.join(TAKEN)}, not {interval.method}: it has another test")
    df = interval.n - 1
    if interval.half_width is None or interval.estimate is None or interval.half_width == 0:
        return PValue(None, None, interval.method, interval.n, note=interval.note)
    error = interval.half_width / float(stdtrit(df, (1 + interval.level) / 2))
    t = interval.estimate / error
    return PValue(2 * float(stdtr(df, -abs(t))), t, interval.method, interval.n, df)
