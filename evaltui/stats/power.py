"""Plans: what a number of runs, items, repeats and judge passes can show, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from scipy.special import ndtr, ndtri, stdtrit

from evaltui.stats.noncentral_t import exceeds
from evaltui.stats.sample import checked_level

MOST_REPEATS = 50
MOST_PASSES = 10

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
    where it comes from these runs themselves. Raises ValueError unless sd > 0 and n >= 1.
    """
    _positive("sd", sd)
    _count("n", n)
    blank = Planned(None, checked_level(level), None, _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    return replace(blank, value=_critical(level, None if known else 2 * n - 2) * sd * math.sqrt(2 / n))


def power_of_runs(difference: float, sd: float, n: int, *, level: float = 0.95, known: bool = True) -> Planned:
    """Probability that two arms of ``n`` runs each are told apart when they truly differ by ``difference``.

    Two-sided z test for a ``known`` sd, noncentral t for one estimated from these runs. Raises ValueError unless
    sd > 0 and n >= 1.
    """
    _positive("sd", sd)
    _count("n", n)
    blank = Planned(None, checked_level(level), None, _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    power = _power(abs(difference) / (sd * math.sqrt(2 / n)), level, None if known else 2 * n - 2)
    return replace(blank, value=power, power=power)


def detectable_with_runs(sd: float, n: int, *, power: float = 0.8, level: float = 0.95, known: bool = True) -> Planned:
    """Smallest true difference that two arms of ``n`` runs each show with probability ``power``.

    Raises ValueError unless sd > 0, n >= 1 and power lies between 1 - level and 1.
    """
    _positive("sd", sd)
    _count("n", n)
    blank = Planned(None, checked_level(level), _checked_power(power, level), _multiplier(known), "runs", n)
    if not known and n < 2:
        return replace(blank, note=_ONE_RUN)
    return replace(blank, value=_reach(power, level, None if known else 2 * n - 2) * sd * math.sqrt(2 / n))


def runs_needed(
    difference: float, sd: float, *, power: float = 0.8, level: float = 0.95, known: bool = True
) -> Planned:
    """Fewest runs per arm that show ``difference`` with probability ``power``.

    Raises ValueError unless difference > 0, sd > 0 and power lies between 1 - level and 1.
    """
    _positive("difference", difference)
    _positive("sd", sd)
    blank = Planned(None, checked_level(level), _checked_power(power, level), _multiplier(known), "runs", None)

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
    generation, in arm a and in arm b. Raises ValueError for a negative variance.
    """

    true_differences: float
    generation: tuple[float, float]
    judge: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for value in (self.true_differences, *self.generation, *self.judge):
            if not 0 <= value < math.inf:
                raise ValueError(f"a variance is a finite number of at least 0, not {value}")

    def per_repeat(self, m: int) -> float:
        """g_a + g_b, with g = generation + judge / m."""
        return sum(self.generation) + sum(self.judge) / m

    def of_difference(self, n: int, k: int, m: int = 1) -> float:
        """Variance of the mean difference over n items, k repeats, m passes: (true + (g_a + g_b) / k) / n."""
        for name, value in (("n", n), ("k", k), ("m", m)):
            _count(name, value)
        return (self.true_differences + self.per_repeat(m) / k) / n


def detectable_with_items(
    noise: Noise, n: int, k: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Smallest true mean difference that n items, k repeats and m judge passes show with probability ``power``.

    Variances are taken as known. The note names the floor that more repeats cannot pass.
    """
    blank = Planned(None, checked_level(level), _checked_power(power, level), _ITEMS, "items", n)
    reach = _reach(power, level, None)
    value = reach * math.sqrt(noise.of_difference(n, k, m))
    floor = reach * math.sqrt(noise.true_differences / n)
    return replace(blank, value=value, note=f"more repeats of these {n} items reach {floor:.3g} at best")


def items_needed(
    noise: Noise, difference: float, k: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Fewest items that show ``difference`` with k repeats and m passes. Raises ValueError unless difference > 0."""
    _positive("difference", difference)
    blank = Planned(None, checked_level(level), _checked_power(power, level), _ITEMS, "items", None)
    n = _items(_reach(power, level, None), noise.of_difference(1, k, m), difference)
    return replace(blank, value=float(n), n=n)


def repeats_needed(
    noise: Noise, difference: float, n: int, m: int = 1, *, power: float = 0.8, level: float = 0.95
) -> Planned:
    """Fewest repeats of ``n`` items that show ``difference``; None, with the floor said, where no number does.

    Raises ValueError unless difference > 0 and n >= 1.
    """
    _positive("difference", difference)
    _count("n", n)
    _count("m", m)
    blank = Planned(None, checked_level(level), _checked_power(power, level), _ITEMS, "repeats", None)
    reach = _reach(power, level, None)
    left = n * (difference / reach) ** 2 - noise.true_differences
    if left <= 0:
        floor = reach * math.sqrt(noise.true_differences / n)
        note = f"no number of repeats is enough: {n} items cannot show less than {floor:.3g}; more items can"
        return replace(blank, note=note)
    k = max(1, math.ceil(noise.per_repeat(m) / left * (1 - _SLACK)))
    return replace(blank, value=float(k), n=k)


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of one generation, of one judge pass, and of preparing one item (labels), all in one currency."""

    generation: float
    judge: float = 0.0
    item: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.generation, self.judge, self.item):
            if not 0 <= value < math.inf:
                raise ValueError(f"a price is a finite number of at least 0, not {value}")

    def of_item(self, k: int, m: int = 1, *, arms: int = 2) -> float:
        return self.item + arms * k * (self.generation + m * self.judge)

    def of_study(self, n: int, k: int, m: int = 1, *, arms: int = 2) -> float:
        """Price of n items x k repeats x m judge passes for every one of ``arms``."""
        return n * self.of_item(k, m, arms=arms)


def call_price(tokens_in: float, tokens_out: float, per_million_in: float, per_million_out: float) -> float:
    """Price of one call from its tokens and the prices per million tokens."""
    return (tokens_in * per_million_in + tokens_out * per_million_out) / 1e6


def duration(calls: int, seconds_per_call: float, concurrency: int) -> float:
    """Seconds that ``calls`` take when ``concurrency`` of them are always under way."""
    _count("concurrency", concurrency)
    return calls * seconds_per_call / concurrency


@dataclass(frozen=True, slots=True)
class Plan:
    """A study of ``arms`` x ``n`` items x ``k`` repeats x ``m`` judge passes, what it costs and what it can show.

    All numbers are None where no plan fits, and ``note`` says what stands in the way.
    """

    n: int | None
    k: int | None
    m: int | None
    arms: int | None
    cost: float | None
    detectable: float | None
    power: float
    level: float
    method: str
    unit: str = "items"
    note: str = ""


def cheapest_plan(
    noise: Noise,
    prices: Prices,
    difference: float,
    *,
    arms: int = 2,
    fewest_items: int = 1,
    most_items: int | None = None,
    fewest_repeats: int = 1,
    most_repeats: int = MOST_REPEATS,
    most_passes: int = MOST_PASSES,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """The cheapest n, k and m that show ``difference`` with probability ``power``; ``noise`` is that of any two arms.

    Every k and m within the limits is tried, with the fewest items that do. Of plans of equal price the one with the
    smaller detectable difference is taken. Raises ValueError unless difference > 0.
    """
    _positive("difference", difference)
    reach = _reach(_checked_power(power, level), checked_level(level), None)
    blank = Plan(None, None, None, None, None, None, power, level, "cheapest for a difference")
    plans = []
    for k in range(fewest_repeats, most_repeats + 1):
        for m in range(1, most_passes + 1):
            n = max(fewest_items, _items(reach, noise.of_difference(1, k, m), difference))
            if most_items is None or n <= most_items:
                shown = reach * math.sqrt(noise.of_difference(n, k, m))
                plans.append((prices.of_study(n, k, m, arms=arms), shown, k, m, n))
    if not plans:
        best = reach * math.sqrt(noise.of_difference(most_items or 1, most_repeats, most_passes))
        note = f"{most_items} items show {best:.3g} at best, with {most_repeats} repeats and {most_passes} passes"
        return replace(blank, note=note)
    cost, shown, k, m, n = min(plans)
    return replace(blank, n=n, k=k, m=m, arms=arms, cost=cost, detectable=shown)


def best_within(
    noise: Noise,
    prices: Prices,
    budget: float,
    *,
    arms: int = 2,
    fewest_items: int = 50,
    most_items: int | None = None,
    fewest_repeats: int = 1,
    most_repeats: int = MOST_REPEATS,
    most_passes: int = MOST_PASSES,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """The n, k and m that show the smallest difference for ``budget``; ``noise`` is that of any two arms.

    Arms are dropped (two stay) before repeats or items go below their fewest. Raises ValueError for fewer than 2 arms
    or prices that are all zero.
    """
    if arms < 2:
        raise ValueError(f"a comparison has at least 2 arms, not {arms}")
    if prices.of_item(1) <= 0:
        raise ValueError("every price is zero: a budget limits nothing")
    reach = _reach(_checked_power(power, level), checked_level(level), None)
    blank = Plan(None, None, None, None, None, None, power, level, "smallest detectable difference for a budget")
    for kept in range(arms, 1, -1):
        plans = []
        for k in range(fewest_repeats, most_repeats + 1):
            for m in range(1, most_passes + 1):
                n = math.floor(budget / prices.of_item(k, m, arms=kept) * (1 + _SLACK))
                n = n if most_items is None else min(n, most_items)
                if n >= fewest_items:
                    shown = reach * math.sqrt(noise.of_difference(n, k, m))
                    plans.append((shown, prices.of_study(n, k, m, arms=kept), k, m, n))
        if plans:
            shown, cost, k, m, n = min(plans)
            note = "" if kept == arms else f"the budget is enough for {kept} of {arms} arms"
            return replace(blank, n=n, k=k, m=m, arms=kept, cost=cost, detectable=shown, note=note)
    least = prices.of_study(fewest_items, fewest_repeats, arms=2)
    note = f"two arms of {fewest_items} items x {fewest_repeats} repeats cost {least:.2f}, more than {budget:.2f}"
    return replace(blank, note=note)


_SLACK = 1e-12
_ITEMS = "z, items x repeats x passes, variances known"
_ONE_RUN = "needs more: one run per arm does not show how far runs move"


def _multiplier(known: bool) -> str:
    return "z, sd known from earlier runs" if known else "t, sd estimated from these runs"


def _critical(level: float, df: int | None) -> float:
    tail = (1 - level) / 2  # The lower tail: 1 - tail would round to 1 for a level close to it.
    return -float(ndtri(tail) if df is None else stdtrit(df, tail))


def _power(shift: float, level: float, df: int | None) -> float:
    """Power of the two-sided test when the statistic is shifted by ``shift`` standard errors."""
    critical = _critical(level, df)
    if df is None:
        return min(1.0, float(ndtr(shift - critical) + ndtr(-shift - critical)))
    return min(1.0, float(exceeds(critical, df, shift) + exceeds(critical, df, -shift)))


def _reach(power: float, level: float, df: int | None) -> float:
    """The shift, in standard errors, at which the two-sided test has ``power``: bisection to the last digit."""
    low, high = 0.0, 1.0
    while _power(high, level, df) < power:
        high *= 2
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
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


def _items(reach: float, variance: float, difference: float) -> int:
    return max(1, math.ceil(variance * (reach / difference) ** 2 * (1 - _SLACK)))


def _positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number, not {value}")


def _count(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")


def _checked_power(power: float, level: float) -> float:
    if not 1 - level < power < 1:
        raise ValueError(f"power must lie between {1 - level:.3g} and 1, for example 0.8, not {power}")
    return power
