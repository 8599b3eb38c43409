"""Power: what a number of runs, items, repeats and judge passes can show, and how many of each it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from scipy.special import ndtr, ndtri, stdtrit

from evaltui.stats.checks import MOST_COUNTED, at_least_zero, count, finite, positive
from evaltui.stats.noncentral_t import exceeds
from evaltui.stats.sample import checked_level

SLACK = 1e-12
"""What is enough but for this share is enough: rounding must not ask for one more."""

_MOST_RUNS = 10**6


@dataclass(frozen=True, slots=True)
class Planned:
    """One planned number: ``value`` is None where no plan of this kind can do it, and ``note`` says why.

    ``n`` counts what ``unit`` names, per arm. ``power`` is None for an interval's half-width.
    """

    value: float | None
    level: float
    power: float | None
    method: str
    unit: Literal["runs", "items", "repeats"]
    n: int | None
    note: str = ""


def half_width(sd: float, n: int, *, level: float = 0.95, known: bool = True) -> Planned:
    """Half-width of the interval of a difference between two arms of ``n`` runs each.

    z sd sqrt(2 / n) where ``sd``, of one run, is ``known`` from many earlier runs; t with 2n - 2 degrees of freedom
    where it comes from these runs themselves. Raises ValueError unless sd > 0 and n, as every count here, is a whole
    number of at least 1.
    """
    positive("sd", sd)
    count("n", n)
    blank = Planned(None, checked_level(level), None, _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    return replace(blank, value=_critical(level, None if known else 2 * n - 2) * sd * math.sqrt(2 / n))


def power_of_runs(difference: float, sd: float, n: int, *, level: float = 0.95, known: bool = True) -> Planned:
    """Probability that two arms of ``n`` runs each are told apart when they truly differ by ``difference``.

    Two-sided z test for a ``known`` sd, noncentral t for one estimated from these runs. Raises ValueError unless
    difference is finite, sd > 0 and n >= 1.
    """
    finite("difference", difference)
    positive("sd", sd)
    count("n", n)
    blank = Planned(None, checked_level(level), None, _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    power = _power(abs(difference) / (sd * math.sqrt(2 / n)), level, None if known else 2 * n - 2)
    return replace(blank, value=power, power=power)


def detectable_with_runs(sd: float, n: int, *, power: float = 0.8, level: float = 0.95, known: bool = True) -> Planned:
    """Smallest true difference that two arms of ``n`` runs each show with probability ``power``.

    Raises ValueError unless sd > 0, n >= 1 and power lies between 1 - level and 1.
    """
    positive("sd", sd)
    count("n", n)
    blank = Planned(None, checked_level(level), checked_power(power, level), _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    return replace(blank, value=shift_for(power, level, None if known else 2 * n - 2) * sd * math.sqrt(2 / n))


def runs_needed(
    difference: float, sd: float, *, power: float = 0.8, level: float = 0.95, known: bool = True
) -> Planned:
    """Fewest runs per arm that show ``difference`` with probability ``power``.

    Raises ValueError unless difference > 0, sd > 0 and power lies between 1 - level and 1.
    """
    positive("difference", difference)
    positive("sd", sd)
    blank = Planned(None, checked_level(level), checked_power(power, level), _multiplier(known), "runs", None)

    def enough(n: int) -> bool:
        return _power(difference / (sd * math.sqrt(2 / n)), level, None if known else 2 * n - 2) >= power

    n = _fewest(enough, 1 if known else 2)
    if n is None:
        return replace(blank, note=f"more than {_MOST_RUNS} runs: no plan of runs shows so small a difference")
    return replace(blank, value=float(n), n=n)


@dataclass(frozen=True, slots=True)
class Noise:
    """What makes the difference between two arms on one item vary, in squared units of the scores.

    ``true_differences``: variance over items of the items' true differences, which repeats do not lessen.
    ``generation`` and ``judge``: variance of one generation around its item, and of one judge pass around its
    generation, in arm a and in arm b. Raises ValueError for a variance that is negative or not finite.
    """

    true_differences: float
    generation: tuple[float, float]
    judge: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        at_least_zero("true_differences", self.true_differences)
        for name, pair in (("generation", self.generation), ("judge", self.judge)):
            if len(pair) != 2:
                raise ValueError(f"{name} must be one variance for each of two arms, not {pair}")
            for value in pair:
                at_least_zero(name, value)

    def per_repeat(self, m: int) -> float:
        """g_a + g_b, with g = generation + judge / m. Raises ValueError unless m >= 1."""
        count("m", m)
        return sum(self.generation) + sum(self.judge) / m

    def of_difference(self, n: int, k: int, m: int = 1) -> float:
        """Variance of the mean difference over n items, k repeats, m passes: (true + (g_a + g_b) / k) / n.

        Raises ValueError unless n, k and m are at least 1.
        """
        count("n", n)
        count("k", k)
        return (self.true_differences + self.per_repeat(m) / k) / n


def detectable_with_items(
    noise: Noise, n: int, k: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Smallest true mean difference that n items, k repeats and m judge passes show with probability ``power``.

    Variances are taken as known. The note names the floor that more repeats cannot pass. Raises ValueError unless n, k
    and m are at least 1.
    """
    blank = Planned(None, checked_level(level), checked_power(power, level), _ITEMS, "items", n)
    reach = shift_for(power, level, None)
    value = reach * math.sqrt(noise.of_difference(n, k, m))
    floor = reach * math.sqrt(noise.true_differences / n)
    return replace(blank, value=value, note=f"more repeats of these {n} items reach {floor:.3g} at best")


def items_needed(
    noise: Noise, difference: float, k: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Fewest items that show ``difference`` with k repeats and m passes; None where they are beyond counting.

    Raises ValueError unless difference > 0 and k and m are at least 1.
    """
    positive("difference", difference)
    blank = Planned(None, checked_level(level), checked_power(power, level), _ITEMS, "items", None)
    n = items_for(shift_for(power, level, None), noise.of_difference(1, k, m), difference)
    if n > MOST_COUNTED:
        return replace(blank, note=f"more than {MOST_COUNTED} items: no plan of items shows so small a difference")
    return replace(blank, value=float(n), n=n)


def repeats_needed(
    noise: Noise, difference: float, n: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Fewest repeats of ``n`` items that show ``difference``; None, with the floor said, where no number does.

    Raises ValueError unless difference > 0 and n and m are at least 1.
    """
    positive("difference", difference)
    count("n", n)
    count("m", m)
    blank = Planned(None, checked_level(level), checked_power(power, level), _ITEMS, "repeats", None)
    reach = shift_for(power, level, None)
    left = n * (difference / reach) ** 2 - noise.true_differences
    k = _whole(noise.per_repeat(m) / left) if left > 0 else math.inf
    if k > MOST_COUNTED:
        floor = reach * math.sqrt(noise.true_differences / n)
        note = f"no number of repeats is enough: {n} items cannot show less than {floor:.3g}; more items can"
        return replace(blank, note=note)
    return replace(blank, value=float(k), n=int(k))


_LEAST_REACH = 1e-9
_ITEMS = "z, items x repeats x passes, variances known"
_ONE_RUN = "needs more: one run per arm does not show how far runs move"


def _multiplier(known: bool) -> str:
    return "z, sd known from earlier runs" if known else "t, sd estimated from these runs"


def _critical(level: float, df: int | None) -> float:
    tail = (1 - level) / 2  # The lower tail: 1 - tail would round to 1 for a level close to it.
    return abs(float(ndtri(tail) if df is None else stdtrit(df, tail)))


def _power(shift: float, level: float, df: int | None) -> float:
    """Power of the two-sided test when the statistic is shifted by ``shift`` standard errors."""
    critical = _critical(level, df)
    if df is None:
        return min(1.0, float(ndtr(shift - critical) + ndtr(-shift - critical)))
    return min(1.0, float(exceeds(critical, df, shift) + exceeds(critical, df, -shift)))


def shift_for(power: float, level: float, df: int | None) -> float:
    """The shift, in standard errors, at which the two-sided test has ``power``: bisection to the last digit.

    Never below 1e-9, where the power is that without a shift but for rounding.
    """
    low, high = 0.0, 1.0
    while _power(high, level, df) < power:
        high *= 2
    while True:
        middle = (low + high) / 2
        if not low < middle < high or high < _LEAST_REACH:
            return high
        if _power(middle, level, df) < power:
            low = middle
        else:
            high = middle


def _fewest(enough: Callable[[int], bool], low: int) -> int | None:
    high = low
    while not enough(high):
        if high >= _MOST_RUNS:
            return None
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def items_for(reach: float, variance: float, difference: float) -> int:
    """Items that bring ``reach`` standard errors of a mean down to ``difference``; ``variance`` is that of one item."""
    return _whole(variance * (reach / difference) ** 2)


def _whole(needed: float) -> int:
    """The whole number that is enough, where what is beyond it by rounding alone is not; beyond all counts, any."""
    return max(1, math.ceil(min(needed * (1 - SLACK), 2.0 * MOST_COUNTED)))


def checked_power(power: float, level: float) -> float:
    """``power`` itself. Raises ValueError unless it lies between 1 - level, which no difference at all has, and 1."""
    if not 1 - level < power < 1:
        raise ValueError(f"power must lie between {1 - level:.3g} and 1, for example 0.8, not {power}")
    return power
