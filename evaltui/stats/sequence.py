"""Intervals that may be watched: valid at every look, not only at one that was fixed beforehand.

A fixed-n interval looked at after each item excludes the truth at some moment in almost half of all studies. A
confidence sequence holds the truth at all looks at once, so it may end a study early. What is returned is its running
intersection: it holds the truth exactly when no look ever lost it, so it has the same error, and it never widens while
items arrive.

It is computed from the items in their planned order, all looks at once, and so is a function of the counted cells
alone, whatever a screen happened to see. The order must be random; the items must not be clustered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltui.stats.interval import Interval
from evaltui.stats.sample import Floats, checked_level, frontier_of, mean, sample, score_table

SequenceMethod = Literal["asymptotic", "betting"]

FIRST_LOOK = 20
"""The asymptotic sequence is looked at from this many items on."""

_ESTIMAND = "items like these, at every look"
_EQUAL = 1e-12
_BISECTIONS = 50
_TRUNCATION = 0.5


def confidence_sequence(
    values: ArrayLike, *, planned: int, level: float = 0.95, first_look: int = FIRST_LOOK
) -> Interval:
    """Asymptotic confidence sequence for the mean of ``values`` (n,), in the random order in which items are counted.

    At t items: mean +- sd sqrt(2 (t r^2 + 1) / (t^2 r^2) log(sqrt(t r^2 + 1) / alpha)), narrowest near the ``planned``
    number of items (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2021). There it is about 1.55 times as wide as the
    fixed-n interval at level 0.95. Looks before ``first_look`` and those at equal values only do not count. Raises
    ValueError for NaN or infinity, with the index.
    """
    array = sample(values)
    blank = _blank(array, "asymptotic confidence sequence", level)
    if planned < 2:
        raise ValueError(f"planned must be at least 2 items, not {planned}")
    if first_look < 2:
        raise ValueError(f"first_look must be at least 2 items, not {first_look}")
    if len(array) < first_look:
        return blank.unknown(f"needs more: it is looked at from item {first_look} on, there {_are(len(array))}")
    t = np.arange(1, len(array) + 1, dtype=np.float64)
    shifted = array - array[0]
    means = np.cumsum(shifted) / t
    squares = np.maximum(np.cumsum(shifted * shifted) - t * means * means, 0.0)
    sd = np.sqrt(squares / np.maximum(t - 1, 1))
    scale = max(float(np.abs(array).max()), 1.0)
    looks = (t >= first_look) & (sd > _EQUAL * scale)
    if not looks.any():
        return blank.unknown(f"all {len(array)} items have the same value: how much others would differ is not known")
    reach = sd * _reach(t, planned, 1 - level)
    low = array[0] + float((means - reach)[looks].max())
    high = array[0] + float((means + reach)[looks].min())
    return _bounded(blank, low, high)


def betting(values: ArrayLike, *, planned: int, bounds: tuple[float, float], level: float = 0.95) -> Interval:
    """Betting confidence sequence for the mean of ``values`` (n,) that lie within ``bounds``, in their random order.

    Valid at any number of items, without a limit theorem: for differences of scores between 0 and 1 the bounds are
    (-1, 1). A candidate mean is refused once one of two gamblers who bet against it has multiplied a stake of 1/2 to
    1/alpha (hedged capital, Waudby-Smith and Ramdas 2024, theorem 3). The bet on item t follows from the items before
    it: sqrt(2 log(2 / alpha) / (planned variance_{t-1})), cut at half of what keeps the capital positive. Raises
    ValueError for NaN, infinity and values outside the bounds, with the index.
    """
    array = sample(values)
    blank = _blank(array, "betting confidence sequence", level)
    floor, ceiling = bounds
    if not (math.isfinite(floor) and math.isfinite(ceiling) and floor < ceiling):
        raise ValueError(f"bounds must be two finite numbers, the lower one first, not {bounds}")
    if planned < 1:
        raise ValueError(f"planned must be at least 1 item, not {planned}")
    slack = _EQUAL * (ceiling - floor)
    outside = np.flatnonzero((array < floor - slack) | (array > ceiling + slack))
    if outside.size:
        raise ValueError(f"values[{outside[0]}] is {array[outside[0]]}, outside the bounds {floor} to {ceiling}")
    if not len(array):
        return blank.unknown("needs more: 1 item at least, there is none")
    unit = np.clip((array - floor) / (ceiling - floor), 0.0, 1.0)
    bets = _bets(unit, planned, 1 - level)
    threshold = math.log(2 / (1 - level))
    low = _refused_up_to(unit, bets, threshold)
    high = 1 - _refused_up_to(1 - unit, bets, threshold)
    return _bounded(blank, floor + low * (ceiling - floor), floor + high * (ceiling - floor))


def over_passes(
    passes: Sequence[ArrayLike],
    *,
    planned: int,
    planned_passes: int,
    level: float = 0.95,
    method: SequenceMethod = "asymptotic",
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """The sequence over ``passes``: element r - 1 holds d over repeats 1..r for the items counted so far, in order.

    Each repeat revises every d_i, so each pass is a sequence of its own, at (1 - level) / ``planned_passes`` (the union
    bound); shown is their intersection. ``planned`` is the number of items of a pass, ``bounds`` matter to betting
    only. ``pass_differences`` makes the passes from two arms' scores. All passes estimate the same mean only where
    whole runs do not move; passes without a common value are reported as that, without bounds. Raises ValueError for
    more passes than planned.
    """
    checked_level(level)
    if planned_passes < 1 or len(passes) > planned_passes:
        raise ValueError(f"{len(passes)} passes do not fit {planned_passes} planned ones")
    one = _each(method, planned, 1 - (1 - level) / planned_passes, bounds)
    return joined_passes([one(values) for values in passes], level=level, method=method)


def joined_passes(found: Sequence[Interval], *, level: float, method: SequenceMethod = "asymptotic") -> Interval:
    """The intersection of the sequences ``found`` of the passes, as ``over_passes`` gives it at ``level``."""
    last = next((each for each in reversed(found) if each.n), None)
    name = f"{method} confidence sequence"
    if last is None:
        return Interval(None, None, None, level, name, "items", 0, _ESTIMAND, "needs more: no item is counted")
    blank = Interval(None, None, last.estimate, level, name, "items", max(each.n for each in found), _ESTIMAND)
    bounded = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    if not bounded:
        longest = max(found, key=lambda each: each.n)
        several = sum(bool(each.n) for each in found) > 1
        return blank.unknown(longest.note + " in the longest pass" * several)
    return _bounded(blank, max(low for low, _ in bounded), min(high for _, high in bounded))


def pass_differences(baseline: ArrayLike, candidate: ArrayLike, frontier: ArrayLike) -> list[Floats]:
    """Per pass r the differences (candidate minus baseline) of item means over repeats 1..r, in the order of the rows.

    ``baseline`` and ``candidate`` (n, k) hold the scores of the same items in their planned random order, NaN where a
    cell has none; ``frontier`` (k,) how many leading items are counted in each repeat. Pass r reaches as far as all of
    its repeats do. An item without a score in one of the arms is left out. Raises ValueError for unlike shapes,
    infinities and a frontier beyond the items.
    """
    tables = score_table(baseline, "baseline"), score_table(candidate, "candidate")
    if tables[0].shape != tables[1].shape:
        raise ValueError(f"both arms must have the same items and repeats: {tables[0].shape} and {tables[1].shape}")
    reach = frontier_of(frontier, *tables[0].shape)
    averages = [_running_means(table) for table in tables]
    differences = averages[1] - averages[0]
    passes = []
    for place, end in enumerate(np.minimum.accumulate(reach).tolist()):
        d = differences[:end, place]
        passes.append(d[~np.isnan(d)])
    return passes


def pass_difference(baseline: Floats, candidate: Floats, place: int, end: int) -> Floats:
    """Element ``place`` of ``pass_differences``, for a pass that reaches over ``end`` items."""
    first, second = (_running_means(table[:end, : place + 1])[:, -1] for table in (baseline, candidate))
    d: Floats = second - first
    return d[~np.isnan(d)]


def _each(method: str, planned: int, level: float, bounds: tuple[float, float]) -> Callable[[ArrayLike], Interval]:
    if method == "asymptotic":
        return lambda values: confidence_sequence(values, planned=planned, level=level)
    if method == "betting":
        return lambda values: betting(values, planned=planned, bounds=bounds, level=level)
    raise ValueError(f"method must be asymptotic or betting, not {method}")


def _running_means(table: Floats) -> Floats:
    """Mean over the scored cells of columns 0..r, for each r; NaN where there is none yet."""
    present = np.isfinite(table)
    totals = np.cumsum(np.where(present, table, 0.0), axis=1)
    n = np.cumsum(present, axis=1)
    means: Floats = np.divide(totals, n, out=np.full(table.shape, np.nan), where=n > 0)
    return means


def _reach(t: Floats, planned: int, alpha: float) -> Floats:
    """Half-width in units of the sd at ``t`` items."""
    tuning = -2 * math.log(alpha)
    tr2 = t * ((tuning + math.log(tuning) + 1) / planned if tuning > 1 else 2 / planned)
    reach: Floats = np.sqrt(2 * (tr2 + 1) / (t * tr2) * np.log(np.sqrt(tr2 + 1) / alpha))
    return reach


def _bets(unit: Floats, planned: int, alpha: float) -> Floats:
    """The stake on each item, from the items before it: one pseudo-observation of variance 1/4 starts the estimate."""
    t = np.arange(1, len(unit) + 1, dtype=np.float64)
    means = (0.5 + np.cumsum(unit)) / (t + 1)
    variances = (0.25 + np.cumsum((unit - means) ** 2)) / (t + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    bets: Floats = np.sqrt(2 * math.log(2 / alpha) / (planned * before))
    return bets


def _refused_up_to(unit: Floats, bets: Floats, threshold: float) -> float:
    """The largest mean that betting on more has refused at some look; the capital falls as the mean rises."""

    def refused(m: float) -> bool:
        stakes: NDArray[np.float64] = np.minimum(bets, _TRUNCATION / m)
        return bool(np.cumsum(np.log1p(stakes * (unit - m))).max() >= threshold)

    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if refused(middle) else (low, middle)
    return low


def _blank(values: Floats, method: str, level: float) -> Interval:
    estimate = mean(values.tolist()) if len(values) else None
    return Interval(None, None, estimate, checked_level(level), method, "items", len(values), _ESTIMAND)


def _bounded(blank: Interval, low: float, high: float) -> Interval:
    if low > high:
        return blank.unknown(
            "the looks have no value in common: the mean moved while items were counted (whole runs that move, or an "
            "order that is not random)"
        )
    return blank.between(low, high)


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"
