"""The distribution of a sum of n draws with replacement, computed instead of sampled.

The distribution of the sum is the n-fold convolution of the empirical distribution, so its transform is the empirical
characteristic function to the power n. A transform of length M gives the sum modulo M; with M as wide as a tail bound
of 1e-18 (Bernstein 1924) the wrapped mass is nothing, and M grows with sqrt(n).

Values on a lattice are convolved exactly. Other values are spread over a fine lattice with cubic weights, which keep
their first three moments: the transform is then the characteristic function on M/2 frequencies at once (a non-uniform
FFT; Dutt and Rokhlin 1993).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.sample import Codes, Floats

MAX_DENOMINATOR = 60
MAX_CODE = 2**16
MAX_TRANSFORM = 2**17

_LOG_TAIL = math.log(1e18)
_LOG_NEGLIGIBLE = -50.0
_TIE = 1e-12
_ON_LATTICE = 1e-7
_OF_SPAN = 1e-10


@dataclass(frozen=True, slots=True)
class Lattice:
    """Sorted values as ``origin + scale * (base + stride * codes) / denominator``: integers wherever they can be.

    ``codes`` (U,) begin at 0 and have no common divisor.
    """

    origin: float
    scale: float
    denominator: int
    base: int
    stride: int
    codes: Codes

    def mean(self, total: int, n: int) -> float:
        """The mean of n values whose codes sum to ``total``, from one correctly rounded division of integers."""
        return self.origin + self.scale * ((self.base * n + self.stride * total) / (self.denominator * n))


def find_lattice(values: Floats) -> Lattice | None:
    """The coarsest lattice that holds sorted ``values`` (U,), or None where there is none worth using.

    Looked for are multiples of 1/D and multiples of the smallest gap over D, D up to 60: means over up to 60 repeats,
    and whatever is a shift or a multiple of them.
    """
    gaps = np.diff(values)
    span = float(values[-1] - values[0])
    gaps = gaps[gaps > 1e-9 * span]
    if not gaps.size:
        return None
    smallest = float(gaps.min())
    for origin, scale in ((0.0, 1.0), (float(values[0]), smallest)):
        offsets = (values - origin) / scale
        if abs(offsets).max() > 2**40:
            continue
        denominator = _common_denominator(offsets)
        if denominator:
            numerators = np.rint(offsets * denominator).astype(np.int64)
            if scale != 1.0:
                scale = span / int(numerators[-1]) * denominator
            return _reduced(origin, scale, denominator, numerators)
    return None


def _common_denominator(offsets: Floats) -> int:
    """The smallest D up to 60 for which all sorted ``offsets * D`` are integers, else 0.

    What counts as an integer is measured against the span too: values are taken as one only where they differ by less
    than 1e-10 of it, which is rounding.
    """
    candidates = np.arange(1, MAX_DENOMINATOR + 1)
    allowed = np.minimum(_ON_LATTICE, _OF_SPAN * (offsets[-1] - offsets[0]) * candidates)
    few = np.multiply.outer(candidates, offsets[:8])
    possible = (np.abs(few - np.rint(few)) <= allowed[:, None]).all(axis=1)
    for denominator, tolerance in zip(candidates[possible], allowed[possible], strict=True):
        scaled = offsets * denominator
        if (np.abs(scaled - np.rint(scaled)) <= tolerance).all():
            return int(denominator)
    return 0


def _reduced(origin: float, scale: float, denominator: int, numerators: Codes) -> Lattice | None:
    base = int(numerators[0])
    codes = numerators - base
    stride = int(np.gcd.reduce(codes))
    codes = codes // stride
    if codes[-1] > MAX_CODE:
        return None
    return Lattice(origin, scale, denominator, base, stride, codes)


@dataclass(frozen=True, slots=True)
class SumDistribution:
    """Probabilities of the sum of codes: point ``first + i`` has ``pmf[i]`` and cumulated ``cdf[i]``."""

    first: int
    pmf: Floats
    cdf: Floats

    def quantile(self, alpha: float) -> int:
        """The smallest point whose distribution function reaches ``alpha - 1e-12``, so that platforms agree."""
        place = int(np.searchsorted(self.cdf, alpha - _TIE))
        return self.first + min(place, len(self.cdf) - 1)

    def mid_cdf(self, point: int) -> float:
        """P(sum < point) + P(sum = point) / 2."""
        place = point - self.first
        return float(self.cdf[place] - self.pmf[place] / 2)


def sum_distribution(codes: Codes, counts: Codes) -> SumDistribution | None:
    """Distribution of the sum of n draws from codes (U,) seen ``counts`` (U,) times, n = sum of counts.

    None where the transform would be longer than 131,072 points.
    """
    n = int(counts.sum())
    width = int(codes[-1])
    mean = int(codes @ counts) / n
    reach = math.ceil(_reach(codes.astype(np.float64) - mean, counts))
    whole = n * width + 1
    size = _transform_length(min(whole, 2 * reach + 2))
    if size > MAX_TRANSFORM:
        return None
    # Centred codes keep the phases near zero, where the n-th power loses least.
    centre = round(mean)
    first = 0 if size >= whole else round(n * mean) - size // 2
    masses = np.zeros(size)
    masses[(codes - centre) % size] = counts / n
    pmf = np.roll(_convolved(masses, n), -((first - n * centre) % size))
    pmf = np.clip(pmf[: min(size, whole)], 0.0, None)
    return SumDistribution(first, pmf, np.cumsum(pmf))


@dataclass(frozen=True, slots=True)
class SmoothDistribution:
    """The distribution function of a sum about ``centre`` (its mean), known on a grid of ``step`` and linear between.

    ``cdf[i]`` belongs to ``centre + (i - origin + 1/2) * step``. ``error`` is how far a quantile may lie from the exact
    one, in units of the sum: five sd of the blur. Where the sum takes few distinct values its steps are smoothed over
    that distance; elsewhere the error is far smaller.
    """

    centre: float
    step: float
    origin: int
    cdf: Floats
    error: float

    def quantile(self, alpha: float) -> float:
        place = min(max(int(np.searchsorted(self.cdf, alpha)), 1), len(self.cdf) - 1)
        below, above = self.cdf[place - 1], self.cdf[place]
        share = (alpha - below) / (above - below) if above > below else 1.0
        return float(self.centre + (place - 0.5 - self.origin + min(max(share, 0.0), 1.0)) * self.step)

    def probability(self, point: float) -> float:
        """P(sum <= point)."""
        place = (point - self.centre) / self.step + self.origin - 0.5
        return float(np.interp(place, np.arange(len(self.cdf)), self.cdf))


def smooth_distribution(
    values: Floats,
    counts: Codes,
    points: int = 2**16,
    *,
    draws: int | None = None,
    some_of: NDArray[np.bool_] | None = None,
) -> SmoothDistribution:
    """Distribution of the sum of n draws from real ``values`` (U,) seen ``counts`` (U,) times, on ``points`` points.

    n is the sum of ``counts`` unless ``draws`` is given. With ``some_of`` (U,) only the outcomes that draw at least one
    of those values count, so that all of them together have a probability below 1.
    """
    total = int(counts.sum())
    n = total if draws is None else draws
    mean = math.fsum((values * counts).tolist()) / total
    deviations = values - mean
    step = 2 * _reach(deviations, np.asarray(counts * (n / total), dtype=np.float64)) / (points - 8)
    # The cubic weights ring around an atom, over a width that grows with the n-th power; a blur of that width stops it.
    blur = 1 + (n / 50) ** 0.25
    shares = counts / total
    powers = _powers(_spread(deviations / step, shares, points), n, blur)
    if some_of is not None:
        powers -= _powers(_spread(deviations[~some_of] / step, shares[~some_of], points), n, blur)
    pmf = np.roll(np.fft.irfft(powers, points), points // 2)
    cdf = np.clip(np.maximum.accumulate(np.cumsum(pmf)), 0.0, 1.0)
    return SmoothDistribution(n * mean, step, points // 2, cdf, 5 * blur * step)


def _spread(positions: Floats, shares: Floats, points: int) -> Floats:
    """``shares`` (U,) at real ``positions`` (U,) put on a circle of ``points`` with cubic weights."""
    cells = np.floor(positions).astype(np.int64)
    f = positions - cells
    weights = (
        -f * (f - 1) * (f - 2) / 6,
        (f + 1) * (f - 1) * (f - 2) / 2,
        -(f + 1) * f * (f - 2) / 2,
        (f + 1) * f * (f - 1) / 6,
    )
    masses = np.zeros(points)
    for shift, weight in zip((-1, 0, 1, 2), weights, strict=True):
        masses += np.bincount((cells + shift) % points, weights=weight * shares, minlength=points)
    return masses


def _convolved(masses: Floats, n: int) -> Floats:
    """The n-fold circular convolution of ``masses``."""
    result: NDArray[np.float64] = np.fft.irfft(_powers(masses, n), len(masses))
    return result


def _powers(masses: Floats, n: int, blur: float = 0.0) -> NDArray[np.complex128]:
    """The n-th power of the transform of ``masses``; frequencies that weigh less than e^-50 are left at zero."""
    transform = np.fft.rfft(masses)
    size = transform.real**2 + transform.imag**2
    kept = np.flatnonzero(size > math.exp(2 * _LOG_NEGLIGIBLE / n))
    powers = np.zeros_like(transform)
    powers[kept] = transform[kept] ** n
    if blur:
        powers[kept] *= np.exp(-2 * (np.pi * blur / len(masses) * kept) ** 2)
    return powers


def _reach(deviations: Floats, counts: Codes | Floats) -> float:
    """How far the sum of sum(``counts``) draws strays from its mean, with probability at most 1e-18 (Bernstein)."""
    variance = math.fsum((deviations * deviations * counts).tolist())
    bound = float(np.abs(deviations).max()) * _LOG_TAIL / 3
    return bound + math.sqrt(bound * bound + 2 * _LOG_TAIL * variance)


def _transform_length(least: int) -> int:
    """The next length of the form 2^a or 3 * 2^a, which the FFT likes."""
    power = 1 << max(least - 1, 1).bit_length()
    return 3 * power // 4 if 3 * power // 4 >= least else power
