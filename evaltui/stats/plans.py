"""Plans: what a study costs, the cheapest one that shows a difference, and the sharpest one within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

from evaltui.stats.checks import MOST_COUNTED, at_least_zero, count, positive
from evaltui.stats.power import SLACK, Noise, checked_power, items_for, shift_for
from evaltui.stats.sample import checked_level

MOST_REPEATS = 50
MOST_PASSES = 10

_MOST_TRIED = 1000


@dataclass(frozen=True, slots=True)
class Prices:
    """Price of one generation, of one judge pass, and of preparing one item (labels), all in one currency.

    Raises ValueError for a price that is negative or not finite.
    """

    generation: float
    judge: float = 0.0
    item: float = 0.0

    def __post_init__(self) -> None:
        at_least_zero("generation", self.generation)
        at_least_zero("judge", self.judge)
        at_least_zero("item", self.item)

    def of_item(self, k: int, m: int = 1, *, arms: int = 2) -> float:
        """Price of one item with k repeats x m judge passes in every one of ``arms``, counts of at least 1."""
        for name, value in (("k", k), ("m", m), ("arms", arms)):
            count(name, value)
        return self.item + arms * k * (self.generation + m * self.judge)

    def of_study(self, n: int, k: int, m: int = 1, *, arms: int = 2) -> float:
        """Price of n items x k repeats x m judge passes for every one of ``arms``, counts of at least 1."""
        return count("n", n) * self.of_item(k, m, arms=arms)


def call_price(tokens_in: float, tokens_out: float, per_million_in: float, per_million_out: float) -> float:
    """Price of one call from its tokens and the prices per million tokens.

    Raises ValueError for a number that is negative or not finite.
    """
    at_least_zero("tokens_in", tokens_in)
    at_least_zero("tokens_out", tokens_out)
    at_least_zero("per_million_in", per_million_in)
    at_least_zero("per_million_out", per_million_out)
    return (tokens_in * per_million_in + tokens_out * per_million_out) / 1e6


def duration(calls: int, seconds_per_call: float, concurrency: int) -> float:
    """Seconds that ``calls`` take when ``concurrency`` of them are always under way.

    Raises ValueError unless concurrency >= 1 and the rest is at least 0.
    """
    count("calls", calls, 0)
    at_least_zero("seconds_per_call", seconds_per_call)
    count("concurrency", concurrency)
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
    smaller detectable difference is taken. Raises ValueError unless difference > 0, arms >= 2 and each limit is a
    count, the most not below the fewest, arms, repeats and passes not above 1000.
    """
    positive("difference", difference)
    _check_limits(arms, fewest_items, most_items, fewest_repeats, most_repeats, most_passes)
    limit = most_items or MOST_COUNTED
    checked_level(level)
    reach = shift_for(checked_power(power, level), level, None)
    blank = Plan(None, None, None, None, None, None, power, level, "cheapest for a difference")
    plans = []
    for k in range(fewest_repeats, most_repeats + 1):
        for m in range(1, most_passes + 1):
            n = max(fewest_items, items_for(reach, noise.of_difference(1, k, m), difference))
            if n <= limit:
                shown = reach * math.sqrt(noise.of_difference(n, k, m))
                plans.append((prices.of_study(n, k, m, arms=arms), shown, k, m, n))
    if not plans:
        best = reach * math.sqrt(noise.of_difference(limit, most_repeats, most_passes))
        note = f"{limit} items show {best:.3g} at best, with {most_repeats} repeats and {most_passes} passes"
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

    Arms are dropped (two stay) before repeats or items go below their fewest. Raises ValueError for a budget that is
    negative or not finite, for limits as ``cheapest_plan`` does, and for prices that are all zero.
    """
    at_least_zero("budget", budget)
    _check_limits(arms, fewest_items, most_items, fewest_repeats, most_repeats, most_passes)
    if prices.of_item(1) <= 0:
        raise ValueError("every price is zero: a budget limits nothing")
    checked_level(level)
    reach = shift_for(checked_power(power, level), level, None)
    blank = Plan(None, None, None, None, None, None, power, level, "smallest detectable difference for a budget")

    def affordable(k: int, m: int, kept: int) -> int:
        n = min(budget / prices.of_item(k, m, arms=kept) * (1 + SLACK), MOST_COUNTED)
        return min(math.floor(n), most_items or MOST_COUNTED)

    kept = next((some for some in range(arms, 1, -1) if affordable(fewest_repeats, 1, some) >= fewest_items), None)
    if kept is None:
        least = prices.of_study(fewest_items, fewest_repeats, arms=2)
        note = f"two arms of {fewest_items} items x {fewest_repeats} repeats cost {least:.2f}, more than {budget:.2f}"
        return replace(blank, note=note)
    plans = []
    for k, m in product(range(fewest_repeats, most_repeats + 1), range(1, most_passes + 1)):
        n = affordable(k, m, kept)
        if n >= fewest_items:
            shown = reach * math.sqrt(noise.of_difference(n, k, m))
            plans.append((shown, prices.of_study(n, k, m, arms=kept), k, m, n))
    shown, cost, k, m, n = min(plans)
    note = "" if kept == arms else f"the budget is enough for {kept} of {arms} arms"
    return replace(blank, n=n, k=k, m=m, arms=kept, cost=cost, detectable=shown, note=note)


def _check_limits(
    arms: int, fewest_items: int, most_items: int | None, fewest_repeats: int, most_repeats: int, most_passes: int
) -> None:
    count("arms", arms, 2, _MOST_TRIED)
    count("most_passes", most_passes, 1, _MOST_TRIED)
    for what, fewest, most, furthest in (
        ("items", fewest_items, most_items, MOST_COUNTED),
        ("repeats", fewest_repeats, most_repeats, _MOST_TRIED),
    ):
        count(f"fewest_{what}", fewest, 1, furthest)
        if most is not None and count(f"most_{what}", most, 1, furthest) < fewest:
            raise ValueError(f"most_{what} must be at least fewest_{what}, which is {fewest}, not {most}")
