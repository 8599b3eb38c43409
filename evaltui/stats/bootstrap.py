"""Bootstrap intervals of a mean from the exact bootstrap distribution: no resampling, no random numbers.

The same values give the same interval in whatever order they arrived. Percentile and BCa intervals (Efron 1979, 1987)
are read from one distribution; see ``lattice`` for how it is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from evaltui.stats.cluster_ratio import ClusterRatio
from evaltui.stats.interval import Interval
from evaltui.stats.lattice import find_lattice, smooth_distribution, sum_distribution
from evaltui.stats.sample import (
    FEW_CLUSTERS,
    SMALL_N,
    Codes,
    Floats,
    all_equal,
    checked_level,
    cluster_codes,
    cluster_sums,
    sample,
)

Method = Literal["percentile", "bca"]

FEWEST = 10
"""Below this many items (or clusters) no bootstrap interval is given."""

_NAMES: dict[Method, str] = {"percentile": "percentile bootstrap", "bca": "BCa bootstrap"}
_SMALL_N_NOTE = f"below {SMALL_N} items the t interval holds its level better"
_FEW_CLUSTERS_NOTE = f"below {FEW_CLUSTERS} clusters the t interval over clusters holds its level better"


def mean_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    method: Method = "percentile",
    clusters: Sequence[Hashable] | NDArray[np.generic] | None = None,
) -> Interval:
    """Interval for the mean of ``values`` (n,), one number per item, from the exact bootstrap distribution.

    For a paired comparison the values are the items' differences. ``clusters`` (n,) names the passage or document of
    each item (None: its own); whole clusters are then resampled. Below 10 units, or with all values equal, the bounds
    are None and the note says why. Raises ValueError for NaN or infinity, with the index.
    """
    array = sample(values)
    if clusters is not None:
        return _cluster_interval(array, cluster_codes(clusters, len(array)), level, method)
    unique, counts = np.unique(array + 0.0, return_counts=True)
    return histogram_interval(unique, counts, level=level, method=method)


def histogram_interval(
    values: ArrayLike, counts: ArrayLike, *, level: float = 0.95, method: Method = "percentile"
) -> Interval:
    """``mean_interval`` of a sample given as distinct ``values`` (U,) and how often each was seen (U,).

    The cost depends on U and the spread, not on n, and the result is identical to that from the listed values.
    Raises ValueError for NaN or infinity, and for counts that are not whole numbers of at least 0.
    """
    unique, repeats = _histogram(values, counts)
    n = int(repeats.sum())
    blank = Interval(
        None, None, _mean(unique, repeats), checked_level(level), _name(method), "items", n, "items like these"
    )
    problem = _degenerate(blank, unique)
    if problem:
        return blank.unknown(problem)
    note = _SMALL_N_NOTE if n < SMALL_N else ""
    return _read(blank, _sums(unique, repeats), method, _skewness(unique, repeats, blank.estimate), note)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """What an interval is read from: quantiles, and the share of the distribution below the estimate.

    ``error`` is how far a quantile that came out at a number may lie from the exact one; None: it is exact.
    """

    estimate: float
    quantile: Callable[[float], float]
    below: float
    error: Callable[[float], float] | None = None
    case: str = ""

    def note(self, bounds: Sequence[float]) -> str:
        if self.error is None:
            return ""
        error = max(self.error(bound) for bound in bounds)
        return f"{self.case}characteristic function inverted numerically, error at most about {error:.1g}"


def _sums(unique: Floats, counts: Codes, per_unit: float = 1.0) -> _Distribution:
    """The distribution of the mean of n draws, over ``per_unit`` items each."""
    n = int(counts.sum())
    lattice = find_lattice(unique)
    if lattice:
        codes = np.zeros(int(lattice.codes[-1]) + 1, dtype=np.int64)
        np.add.at(codes, lattice.codes, counts)
        present = np.flatnonzero(codes)
        exact = sum_distribution(present, codes[present])
        if exact:
            observed = int(present @ codes[present])
            return _Distribution(
                lattice.mean(observed, n) / per_unit,
                lambda alpha: lattice.mean(exact.quantile(alpha), n) / per_unit,
                exact.mid_cdf(observed),
            )
    smooth = smooth_distribution(unique, counts)
    return _Distribution(
        smooth.centre / n / per_unit,
        lambda alpha: smooth.quantile(alpha) / n / per_unit,
        smooth.probability(smooth.centre),
        lambda _: smooth.error / n / per_unit,
    )


def _read(blank: Interval, distribution: _Distribution, method: Method, skewness: float, note: str) -> Interval:
    tail = (1 - blank.level) / 2
    alphas = (tail, 1 - tail)
    if method == "bca":
        bias = float(ndtri(distribution.below))
        acceleration = skewness / (6 * math.sqrt(blank.n))
        alphas = (_bca_level(bias, acceleration, alphas[0]), _bca_level(bias, acceleration, alphas[1]))
    low, high = (distribution.quantile(alpha) for alpha in alphas)
    whole_note = "; ".join(part for part in (note, distribution.note((low, high))) if part)
    return Interval(
        low, high, distribution.estimate, blank.level, blank.method, blank.unit, blank.n, blank.estimand, whole_note
    )


def _bca_level(bias: float, acceleration: float, alpha: float) -> float:
    """Efron (1987): the level at which a quantile is read, given bias and acceleration."""
    shifted = bias + float(ndtri(alpha))
    scale = 1 - acceleration * shifted
    if scale <= 0:
        return 1.0 if shifted > 0 else 0.0
    return float(ndtr(bias + shifted / scale))


def _cluster_interval(values: Floats, codes: Codes, level: float, method: Method) -> Interval:
    sums, sizes = cluster_sums(values + 0.0, codes)
    n = len(sums)
    estimate = math.fsum(values.tolist()) / len(values) if len(values) else None
    blank = Interval(
        None, None, estimate, checked_level(level), _name(method), "clusters", n, "items from clusters like these"
    )
    means = sums / sizes
    problem = _degenerate(blank, means)
    if problem:
        return blank.unknown(problem)
    note = _FEW_CLUSTERS_NOTE if n < FEW_CLUSTERS else ""
    if sizes.min() == sizes.max():
        unique, counts = np.unique(sums, return_counts=True)
        distribution = _sums(unique, counts, float(sizes[0]))
        return _read(blank, distribution, method, _skewness(unique, counts, _mean(unique, counts)), note)
    pairs, counts = np.unique(np.column_stack((sums, sizes)), axis=0, return_counts=True)
    pair_sums, pair_sizes = np.asarray(pairs[:, 0], np.float64), np.asarray(pairs[:, 1], np.float64)
    ratio = _ratio_distribution(pair_sums, pair_sizes, counts)
    influence = pair_sums - ratio.estimate * pair_sizes
    return _read(blank, ratio, method, _skewness(influence, counts, 0.0), note)


def _ratio_distribution(sums: Floats, sizes: Floats, counts: Codes) -> _Distribution:
    ratio = ClusterRatio(sums, sizes, counts)
    return _Distribution(
        ratio.estimate, ratio.quantile, ratio.cdf(ratio.estimate), ratio.error, "clusters of unequal size: "
    )


def _histogram(values: ArrayLike, counts: ArrayLike) -> tuple[Floats, Codes]:
    unique = sample(values)
    repeats = np.asarray(counts)
    if repeats.shape != unique.shape:
        raise ValueError(f"counts must have the shape of values, {unique.shape}, not {repeats.shape}")
    if repeats.size and not np.issubdtype(repeats.dtype, np.integer):
        raise ValueError(f"counts must be whole numbers, not {repeats.dtype}")
    if (repeats < 0).any():
        raise ValueError(f"counts[{int(np.argmax(repeats < 0))}] is negative")
    order = np.argsort(unique, kind="stable")
    order = order[repeats[order] > 0]
    return unique[order] + 0.0, repeats[order].astype(np.int64)


def _degenerate(blank: Interval, values: Floats) -> str:
    """Why no interval can be given, or nothing."""
    if blank.n < FEWEST:
        return f"needs more: {FEWEST} {blank.unit} at least, there are {blank.n}"
    if all_equal(values):
        return f"all {blank.n} {blank.unit} have the same value: how much others would differ cannot be known from them"
    return ""


def _mean(unique: Floats, counts: Codes) -> float | None:
    n = int(counts.sum())
    return math.fsum((unique * counts).tolist()) / n if n else None


def _skewness(values: Floats, counts: Codes, centre: float | None) -> float:
    deviations = values - (centre or 0.0)
    second = math.fsum((deviations**2 * counts).tolist())
    third = math.fsum((deviations**3 * counts).tolist())
    return third / math.sqrt(second) ** 3 * math.sqrt(int(counts.sum()))


def _name(method: Method) -> str:
    if method not in _NAMES:
        raise ValueError(f"method must be one of {', '.join(_NAMES)}, not {method}")
    return _NAMES[method]
