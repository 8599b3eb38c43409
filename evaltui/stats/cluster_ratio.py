"""The bootstrap distribution of a mean over clusters of unequal size, sum(s) / sum(m) over G resampled clusters.

P(ratio <= x) = P(sum(s - x m) <= 0), one characteristic function for each x. Where a few clusters are much larger than
the rest, one grid cannot resolve both the resamples that hold a large cluster and those that hold none: the probability
is then split by the size of the largest cluster drawn, and each part has a grid of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from evaltui.stats.lattice import SmoothDistribution, smooth_distribution
from evaltui.stats.sample import Codes, Floats

_POINTS = 2**14
_SURELY = 10.0
_ALIKE = 8
"""Clusters whose sizes differ by less than this factor share a grid."""
_RARE = 1e-9
_SD_OF_TOTAL = 6.0


@dataclass(frozen=True, slots=True)
class _Part:
    """The resamples in which the largest cluster drawn is one of ``large``; none of ``sizes`` (U,) is larger.

    ``weight`` is the probability that no larger cluster is drawn, ``least`` the fewest items such a resample has.
    """

    sums: Floats
    sizes: Floats
    counts: Codes
    large: NDArray[np.bool_] | None
    weight: float
    draws: int
    least: float

    def of_residual(self, x: float) -> SmoothDistribution:
        values = self.sums - x * self.sizes
        return smooth_distribution(values, self.counts, _POINTS, draws=self.draws, some_of=self.large)


class ClusterRatio:
    """Distribution of the ratio for clusters with ``sums`` and ``sizes`` (U,), each seen ``counts`` (U,) times."""

    def __init__(self, sums: Floats, sizes: Floats, counts: Codes) -> None:
        items = math.fsum((sizes * counts).tolist())
        self.estimate = math.fsum((sums * counts).tolist()) / items
        self._parts = _parted(sums, sizes, counts)
        ratios, influence = sums / sizes, sums - self.estimate * sizes
        self._low, self._high = float(ratios.min()), float(ratios.max())
        if len(self._parts) == 1:
            reach = _SURELY * math.sqrt(math.fsum((influence**2 * counts).tolist())) / items
            self._low, self._high = max(self._low, self.estimate - reach), min(self._high, self.estimate + reach)

    def cdf(self, x: float) -> float:
        """P(ratio <= x)."""
        return math.fsum(part.weight * part.of_residual(x).probability(0.0) for part in self._parts)

    def quantile(self, alpha: float) -> float:
        """Where the distribution function reaches ``alpha``."""
        return _crossing(self.cdf, alpha, self._low, self._high, self.error(self.estimate) / 100)

    def error(self, x: float) -> float:
        """How far a quantile at ``x`` may lie from the exact one, at most about."""
        return max(part.of_residual(x).error / part.least for part in self._parts)


def _parted(sums: Floats, sizes: Floats, counts: Codes) -> list[_Part]:
    draws, weight = int(counts.sum()), 1.0
    parts = []
    while True:
        large = sizes * _ALIKE > sizes.max()
        none = (1 - counts[large].sum() / counts.sum()) ** draws
        last = bool(large.all()) or weight * none < _RARE
        least = _fewest_items(sizes, counts, draws, None if last else float(sizes[large].min()))
        parts.append(_Part(sums, sizes, counts, None if last else large, weight, draws, least))
        if last:
            return parts
        sums, sizes, counts = sums[~large], sizes[~large], counts[~large]
        weight *= float(none)


def _fewest_items(sizes: Floats, counts: Codes, draws: int, drawn: float | None) -> float:
    """Items in a resample at least: where one cluster of ``drawn`` is in it, and six sd below the mean."""
    n, smallest = int(counts.sum()), float(sizes.min())
    mean = float(sizes @ counts) / n
    variance = float((sizes - mean) ** 2 @ counts) / n
    usual = draws * mean - _SD_OF_TOTAL * math.sqrt(draws * variance)
    return max(usual, (drawn or smallest) + (draws - 1) * smallest)


def _crossing(cdf: Callable[[float], float], alpha: float, low: float, high: float, tolerance: float) -> float:
    """Where an increasing ``cdf`` reaches ``alpha``: false position (Illinois) on the probit scale, almost a line."""
    target = _probit(alpha)
    below, above = _probit(cdf(low)) - target, _probit(cdf(high)) - target
    if below >= 0 or above <= 0:
        return low if below >= 0 else high
    last = 0
    for _ in range(100):
        if high - low <= tolerance:
            break
        middle = (low * above - high * below) / (above - below)
        value = _probit(cdf(middle)) - target
        if abs(value) < 1e-7:
            return middle
        if value < 0:
            low, below = middle, value
            above /= 2 if last < 0 else 1
            last = -1
        else:
            high, above = middle, value
            below /= 2 if last > 0 else 1
            last = 1
    return (low + high) / 2


def _probit(probability: float) -> float:
    return float(ndtri(min(max(probability, 1e-15), 1 - 1e-15)))
