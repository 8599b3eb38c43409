"""Intervals by formula: over items, over clusters, over runs, for exactly these items, and which one leads."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from evaltui.stats import checks
from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.exact import weighted_sum
from evaltui.stats.interval import Interval
from evaltui.stats.proportions import clopper_pearson, mcnemar_exact, wilson
from evaltui.stats.sample import (
    FEW_CLUSTERS,
    SMALL_N,
    Floats,
    all_equal,
    checked_level,
    cluster_codes,
    cluster_sums,
    mean,
    sample,
    score_table,
    sum_of_squares,
)

__all__ = [
    "FEWEST_RUNS",
    "FEW_CLUSTERS",
    "SMALL_N",
    "Headline",
    "clopper_pearson",
    "cluster_sem",
    "cluster_t",
    "fixed_items_interval",
    "headline",
    "headline_reach",
    "headline_relief",
    "histogram_t",
    "item_interval",
    "item_sem",
    "item_t",
    "mcnemar_exact",
    "run_interval",
    "wilson",
]

FEWEST_RUNS = 3
"""From this many repeats on the headline looks at runs too."""

_RUNS = "runs like these, on these items"
_ROUNDING = 1e-12
_RELIEF = 1.25
_WARNED_CLUSTERS = 20

Clusters = Sequence[Hashable] | NDArray[np.generic]


def item_interval(values: ArrayLike, *, level: float = 0.95, clusters: Clusters | None = None) -> Interval:
    """The item interval that is valid at this size: t below 50 items or 40 clusters, else the exact bootstrap.

    ``values`` (n,) holds one number per item, ``clusters`` (n,) the cluster of each. Raises ValueError for NaN or
    infinity, with the index.
    """
    array = sample(values)
    if clusters is None:
        return item_t(array, level=level) if len(array) < SMALL_N else mean_interval(array, level=level)
    if len(set(cluster_codes(clusters, len(array)).tolist())) < FEW_CLUSTERS:
        return cluster_t(array, clusters, level=level)
    return mean_interval(array, level=level, clusters=clusters)


def item_sem(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Mean of ``values`` (n,) plus and minus z times the standard error of the mean (1.96 SEM at level 0.95)."""
    array = sample(values)
    return _about_mean(array, "SEM (z)", level, _normal(level))


def item_t(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Student's t interval (Student 1908) for the mean of ``values`` (n,); the valid one below 50 items."""
    array = sample(values)
    return _about_mean(array, "t over items", level, _student(level, len(array) - 1))


def histogram_t(values: ArrayLike, counts: NDArray[np.int64], *, level: float = 0.95) -> Interval:
    """``item_t`` of a sample given as distinct ``values`` (U,) and how often each was seen (U,), at least once."""
    return _about_mean(sample(values), "t over items", level, _student(level, int(counts.sum()) - 1), counts)


def cluster_sem(values: ArrayLike, clusters: Clusters, *, level: float = 0.95) -> Interval:
    """Mean of ``values`` (n,) plus and minus z times the cluster-robust standard error.

    The error is sqrt(G / (G - 1) sum_g (sum of residuals in g)^2) / n over G clusters (Liang and Zeger 1986; Miller
    2024 for evaluations): the plain SEM when every cluster is one item.
    """
    array = sample(values)
    return _about_cluster_mean(array, clusters, "cluster SEM (z)", level, student=False)


def cluster_t(values: ArrayLike, clusters: Clusters, *, level: float = 0.95) -> Interval:
    """As ``cluster_sem`` with the t quantile at G - 1 degrees of freedom: the valid one with few clusters."""
    array = sample(values)
    return _about_cluster_mean(array, clusters, "t over clusters", level, student=True)


def run_interval(
    baseline_run_means: ArrayLike, candidate_run_means: ArrayLike, *, paired: bool, level: float = 0.95
) -> Interval:
    """Interval for candidate minus baseline with the run as the unit.

    ``paired``: the two arrays (k,) belong together repeat by repeat, and t is taken over their differences; n is the
    number of pairs. Otherwise Welch (1947) over all runs of both arms, which may differ in number; n counts both.
    Raises ValueError for NaN, and for paired arrays of different length.
    """
    baseline, candidate = (
        sample(baseline_run_means, "baseline_run_means"),
        sample(candidate_run_means, "candidate_run_means"),
    )
    if paired:
        return _paired_runs(baseline, candidate, level)
    return _welch(baseline, candidate, level)


def fixed_items_interval(baseline: ArrayLike, candidate: ArrayLike, *, level: float = 0.95) -> Interval:
    """Interval for the difference on exactly these items: only what varies between repeats of the same item counts.

    ``baseline`` (n, k) and ``candidate`` (n, k') hold the scores of the same items, NaN where a cell has none. The
    variance is sum_i v_i / k_i / n^2 per arm, v_i the variance of item i over its k_i repeats; an item scored once
    takes the mean of the others. Items without a score in one of the arms are left out.
    """
    tables = score_table(baseline, "baseline"), score_table(candidate, "candidate")
    if len(tables[0]) != len(tables[1]):
        raise ValueError(f"both arms must hold the same items: {len(tables[0])} and {len(tables[1])} rows")
    both = np.isfinite(tables[0]).any(axis=1) & np.isfinite(tables[1]).any(axis=1)
    n = int(both.sum())
    if not n:
        return fixed_items_from(0, (0.0, None), (0.0, None), level=level)
    return fixed_items_from(n, _within_items(tables[0][both]), _within_items(tables[1][both]), level=level)


def fixed_items_from(
    n: int, baseline: tuple[float, float | None], candidate: tuple[float, float | None], *, level: float = 0.95
) -> Interval:
    """``fixed_items_interval`` from what it needs of each arm: the mean over ``n`` items, and its variance.

    The variance is that of repeats alone, None where no item of the arm has two.
    """
    blank = Interval(None, None, None, checked_level(level), "within-item noise (z)", "items", n, "exactly these items")
    if not n:
        return blank.unknown("no item has a score in both arms")
    (mean_a, error_a), (mean_b, error_b) = baseline, candidate
    blank = Interval(None, None, mean_b - mean_a, level, blank.method, "items", n, blank.estimand)
    if error_a is None or error_b is None:
        return blank.unknown("no item of an arm has two scored repeats: how one item varies cannot be known")
    error = math.sqrt(error_a + error_b)
    if error < _ROUNDING:
        return blank.unknown("no item changed between repeats: too few repeats to see how often one does")
    reach = _normal(level) * error
    return blank.between(mean_b - mean_a - reach, mean_b - mean_a + reach)


def item_moments(scores: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Per item of scores (..., n, k), NaN where missing: how many there are, their mean (NaN: none) and variance.

    The variance is 0 for an item with fewer than two scores.
    """
    present = np.isfinite(scores)
    k = present.sum(axis=-1)
    means: Floats = np.full(k.shape, np.nan)
    np.divide(np.where(present, scores, 0.0).sum(axis=-1), k, out=means, where=k > 0)
    squares = (np.where(present, scores - means[..., None], 0.0) ** 2).sum(axis=-1)
    return k, means, squares / np.maximum(k - 1, 1)


@dataclass(frozen=True, slots=True)
class Headline:
    """The interval that leads, and in words why it is this one."""

    interval: Interval
    why: str

    @property
    def method(self) -> str:
        return self.interval.method

    @property
    def low(self) -> float | None:
        return self.interval.low

    @property
    def high(self) -> float | None:
        return self.interval.high


def headline(item: Interval, run: Interval | None, *, k: int, noise: Interval | None = None) -> Headline:
    """What leads: items and runs together for ``k`` >= 3 repeats; below, the item interval with its limitation.

    ``noise`` is the ``fixed_items_interval`` of the same cells: what both other intervals contain. With half-widths
    I, R and N of the three, and m runs, that of the headline is sqrt(I^2 + max(0, R^2 - (1 + 1.25 / (m - 1)) N^2)):
    two-way random effects, items plus what whole runs move beyond the noise, each with its own quantile (Banerjee 1960
    shows that such a sum errs at most as often as its parts). The 1.25 is as much as the level bears: in theory at most
    5.5 % errors at a nominal 5 %, whether or not runs move and items differ (bench/coverage.py simulates it).

    Without ``noise`` it is the wider of the item and the run interval. That holds where the arms differ by the same on
    all items; where items differ and whole runs move as well, it errs in up to 10 %. Raises ValueError if the levels
    differ, and for a ``k`` that is no count.
    """
    checks.count("k", k, least=0)
    for other in (run, noise):
        if other is not None and other.level != item.level:
            raise ValueError(f"the intervals have different levels: {item.level} and {other.level}")
    small = f" Below {SMALL_N} items the item interval is t." if item.unit == "items" and item.n < SMALL_N else ""
    if k < FEWEST_RUNS:
        done = ("no repeat is", "1 repeat is", "2 repeats are")[k]
        scored = "" if k else " with scores in both arms"
        return Headline(
            item,
            f"The movement of whole runs could not be measured and is not in here: {done} complete{scored}, it takes "
            f"{FEWEST_RUNS}.{small}",
        )
    if run is None or run.half_width is None:
        reason = run.note if run is not None and run.note else "there is no interval over runs"
        return Headline(item, f"The movement of whole runs is not in here: {reason}.{small}")
    if not item.half_width:
        reason = item.note or "it has no width"
        return Headline(run, f"The interval over runs, because there is none over {item.unit}: {reason}.")
    if noise is not None and noise.half_width is not None:
        return _together(item, item.half_width, run.half_width, run.n, noise.half_width, small)
    wider, other = (run, item) if run.half_width > item.half_width else (item, run)
    times = max(run.half_width, item.half_width) / min(run.half_width, item.half_width)
    why = f"The wider of two: over {wider.unit} it is {times:.2f} times as wide as over {other.unit}.{small}"
    return Headline(wider, why)


def headline_reach(item: float, run: float, noise: float, *, runs: int) -> float:
    """Half-width of the headline from those of the item, run and noise interval; ``runs`` as counted by the second."""
    beyond = run**2 - headline_relief(runs) * min(noise, item) ** 2
    return math.sqrt(item**2 + max(0.0, beyond))


def headline_relief(runs: int) -> float:
    """How many times the squared half-width of the noise the headline takes off that of ``runs`` runs."""
    return 1 + _RELIEF / (runs - 1)


def _together(item: Interval, item_reach: float, run_reach: float, runs: int, noise: float, small: str) -> Headline:
    times = headline_reach(item_reach, run_reach, noise, runs=runs) / item_reach
    if times == 1 or item.low is None or item.high is None:
        why = f"Whole runs moved no more than single answers explain: the interval over {item.unit} stands.{small}"
        return Headline(item, why)
    middle = (item.low + item.high) / 2
    both = replace(
        item,
        low=middle - times * (middle - item.low),
        high=middle + times * (item.high - middle),
        method=f"t over {item.unit} and runs",
        estimand=f"{item.estimand}, and runs like these",
    )
    why = (
        f"Items and runs together: with the movement of whole runs it is {times:.2f} times as wide as over {item.unit}."
    )
    return Headline(both, f"{why}{small}")


def _normal(level: float) -> float:
    return float(ndtri((1 + checked_level(level)) / 2))


def _student(level: float, df: float) -> float:
    return float(stdtrit(df, (1 + checked_level(level)) / 2)) if df > 0 else math.nan


def _about_mean(
    values: Floats, method: str, level: float, quantile: float, counts: NDArray[np.int64] | None = None
) -> Interval:
    repeats = np.ones(len(values), dtype=np.int64) if counts is None else counts
    n = int(repeats.sum())
    estimate = weighted_sum(values, repeats) / n if n else None
    blank = Interval(None, None, estimate, checked_level(level), method, "items", n, "items like these")
    if estimate is None or n < 2:
        return blank.unknown(f"needs more: 2 items at least, there are {n}")
    if all_equal(values):
        return blank.unknown(
            f"all {n} items have the same value: how much others would differ cannot be known from them"
        )
    reach = quantile * math.sqrt(weighted_sum((values - estimate) ** 2, repeats) / (n - 1) / n)
    return blank.between(estimate - reach, estimate + reach)


def _about_cluster_mean(values: Floats, clusters: Clusters, method: str, level: float, *, student: bool) -> Interval:
    sums, sizes = cluster_sums(values, cluster_codes(clusters, len(values)))
    n, groups = len(values), len(sums)
    estimate = mean(values.tolist()) if n else None
    blank = Interval(
        None, None, estimate, checked_level(level), method, "clusters", groups, "items from clusters like these"
    )
    if estimate is None or groups < 2:
        return blank.unknown(f"needs more: 2 clusters at least, there are {groups}")
    if all_equal(sums / sizes):
        return blank.unknown(
            f"all {groups} clusters have the same mean: how much others would differ cannot be known from them"
        )
    residuals = sums - estimate * sizes
    error = math.sqrt(groups / (groups - 1) * math.fsum((residuals**2).tolist())) / n
    reach = (_student(level, groups - 1) if student else _normal(level)) * error
    note = f"only {groups} clusters: even t may cover less than it says" if groups < _WARNED_CLUSTERS else ""
    return blank.between(estimate - reach, estimate + reach, note)


def _paired_runs(baseline: Floats, candidate: Floats, level: float) -> Interval:
    if len(baseline) != len(candidate):
        raise ValueError(f"paired runs come in pairs: {len(baseline)} baseline and {len(candidate)} candidate runs")
    differences = candidate - baseline
    k = len(differences)
    estimate = mean(differences.tolist()) if k else None
    blank = Interval(None, None, estimate, checked_level(level), "paired t over runs", "runs", k, _RUNS)
    if estimate is None or k < 2:
        return blank.unknown(f"needs more: 2 pairs of complete runs at least, there {_are(k)}")
    if all_equal(differences):
        return blank.unknown(
            f"all {k} pairs of runs differ by the same amount: how runs vary cannot be known from them"
        )
    reach = _student(level, k - 1) * math.sqrt(sum_of_squares(differences) / (k - 1) / k)
    return blank.between(estimate - reach, estimate + reach)


def _welch(baseline: Floats, candidate: Floats, level: float) -> Interval:
    k, m = len(baseline), len(candidate)
    estimate = mean(candidate.tolist()) - mean(baseline.tolist()) if k and m else None
    blank = Interval(None, None, estimate, checked_level(level), "Welch t over runs", "runs", k + m, _RUNS)
    if estimate is None or min(k, m) < 2:
        return blank.unknown(f"needs more: 2 complete runs in each arm at least, there are {k} and {m}")
    if all_equal(baseline) and all_equal(candidate):
        return blank.unknown("the runs of each arm have the same score: how runs vary cannot be known from them")
    a, b = sum_of_squares(baseline) / (k - 1) / k, sum_of_squares(candidate) / (m - 1) / m
    df = (a + b) ** 2 / (a * a / (k - 1) + b * b / (m - 1))
    reach = _student(level, df) * math.sqrt(a + b)
    return blank.between(estimate - reach, estimate + reach)


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _within_items(scores: Floats) -> tuple[float, float | None]:
    """Mean over items of their mean, and the variance of that mean from repeats alone (None: not one item has two)."""
    k, means, variances = item_moments(scores)
    several = k >= 2
    if not several.any():
        return mean(means.tolist()), None
    each = np.where(several, variances, mean(variances[several].tolist()))
    return mean(means.tolist()), math.fsum((each / k).tolist()) / len(scores) ** 2
