"""Proportions: intervals for one, and the exact test for two on the same items."""

from __future__ import annotations

import math

from scipy.special import betainc, betaincinv, ndtri

from evaltui.stats.checks import count
from evaltui.stats.interval import Interval
from evaltui.stats.pvalue import PValue
from evaltui.stats.sample import checked_level


def wilson(successes: float, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval (1927) for ``successes`` of ``n``; an expected count need not be whole.

    Raises ValueError unless n is a whole number and 0 <= successes <= n.
    """
    blank = _blank(successes, n, level, "Wilson")
    if blank.estimate is None:
        return blank.unknown("no item has been counted")
    z2 = float(ndtri((1 - level) / 2)) ** 2  # The lower tail: the upper one rounds to 1 for a level close to it.
    centre = (successes + z2 / 2) / (n + z2)
    reach = math.sqrt(z2) / (n + z2) * math.sqrt(successes * (n - successes) / n + z2 / 4)
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == n else min(1.0, centre + reach)
    return blank.between(low, high)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """The exact interval (Clopper and Pearson 1934) for ``successes`` of ``n``: never of zero width, even at 0 or n.

    Raises ValueError unless both are whole numbers and 0 <= successes <= n.
    """
    count("successes", successes, 0)
    blank = _blank(successes, n, level, "Clopper-Pearson")
    if blank.estimate is None:
        return blank.unknown("no item has been counted")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else 1 - float(betaincinv(n - successes, successes + 1, tail))
    return blank.between(low, high)


def mcnemar_exact(gained: int, lost: int) -> PValue:
    """Exact two-sided test (McNemar 1947) that ``gained`` and ``lost`` items are equally likely, for one repeat of 0/1.

    ``n`` counts the items that changed; the statistic is the smaller count. Raises ValueError unless both are whole
    numbers of at least 0.
    """
    n = count("gained", gained, 0) + count("lost", lost, 0)
    if not n:
        return PValue(None, None, "exact McNemar", 0, note="no item changed: nothing to test")
    smaller = min(gained, lost)
    return PValue(min(1.0, 2 * float(betainc(n - smaller, smaller + 1, 0.5))), float(smaller), "exact McNemar", n)


def _blank(successes: float, n: int, level: float, method: str) -> Interval:
    count("n", n, 0)
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n = {n}, not {successes}")
    return Interval(
        None, None, successes / n if n else None, checked_level(level), method, "items", n, "items like these"
    )
