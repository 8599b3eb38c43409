"""The noncentral t distribution, by integration: scipy's ``nctdtr`` gives NaN in the far tail, where plans search."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammainccinv, gammaincinv, ndtr

from evaltui.stats.sample import Floats

_NODES = 200
_FURTHEST = 9.0
_LOST = 1e-18
_POWER = 4
_NARROWEST = 1e-13


def exceeds(t: ArrayLike, df: float, delta: float) -> Floats:
    """P(T > t) for T = (Z + delta) / s, noncentral t with ``df`` degrees of freedom; the shape is that of ``t``.

    The mean of Phi(delta - t s) over s, a chi variable over sqrt(df), by Gauss-Legendre quadrature where neither factor
    is flat (Johnson, Kotz and Balakrishnan 1995, chapter 31). Within 1e-12 of the exact value, never NaN, never outside
    0..1. Raises ValueError unless t and delta are finite and df is finite and at least 1.
    """
    values = np.asarray(t, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"t must be finite, not {values[~np.isfinite(values)].flat[0]}")
    if not 1 <= df < math.inf:
        raise ValueError(f"df must be a finite number of at least 1, not {df}")
    if not math.isfinite(delta):
        raise ValueError(f"delta must be a finite number, not {delta}")
    flat = values.ravel()
    below = flat < 0
    upper = _above(np.where(flat == 0, 1.0, np.abs(flat)), float(df), np.where(below, -delta, delta))
    result = np.where(below, 1 - upper, np.where(flat == 0, ndtr(delta), upper))
    return np.asarray(np.clip(result, 0.0, 1.0).reshape(values.shape), dtype=np.float64)


def _above(t: Floats, df: float, delta: Floats) -> Floats:
    """P(T > t) for t > 0, all of shape (n,).

    Below (delta - 9) / t Phi(delta - t s) is 1 and the chi distribution function is enough; beyond (delta + 9) / t
    it is 0.
    """
    low, high = _support(df)
    # A result too large for a float is as good as infinite: it is clipped, or Phi of it is 0 or 1.
    with np.errstate(over="ignore"):
        if high - low < _NARROWEST:
            return np.asarray(ndtr(delta - t), dtype=np.float64)
        start, end = (delta - _FURTHEST) / t, (delta + _FURTHEST) / t
        certain = gammainc(df / 2, df / 2 * np.clip(start, 0.0, high) ** 2)
        s, weight = _weighted(np.clip(start, low, high), np.clip(end, low, high), df)
        rest = (weight * ndtr(delta[:, None] - t[:, None] * s)).sum(axis=1)
    return np.asarray(certain + rest / _total(df), dtype=np.float64)


def _weighted(low: Floats, high: Floats, df: float) -> tuple[Floats, Floats]:
    """Nodes s between ``low`` and ``high``, shape (n, nodes), and weights that hold the density of s but its constant.

    The nodes are even in the fourth root of s, in which the density is smooth at 0 for every df. It is written around
    its peak at 1, where the powers of s and of e cancel.
    """
    nodes, weights = gauss_legendre(_NODES)
    first, last = low[:, None] ** (1 / _POWER), high[:, None] ** (1 / _POWER)
    half = (last - first) / 2
    root = first + half * (nodes + 1)
    s = root**_POWER
    density = np.exp(-df / 2 * ((s - 1) * (s + 1) - 2 * np.log(s))) / root
    return s, half * weights * density


@lru_cache(maxsize=1024)
def _support(df: float) -> tuple[float, float]:
    """Where s lies but for 1e-18 on either side."""
    tails = gammaincinv(df / 2, _LOST), gammainccinv(df / 2, _LOST)
    low, high = (math.sqrt(2 * float(tail) / df) for tail in tails)
    return low, high


@lru_cache(maxsize=1024)
def _total(df: float) -> float:
    """The constant of the density: closed forms of it lose digits where df is large."""
    low, high = _support(df)
    return float(_weighted(np.array([low]), np.array([high]), df)[1].sum())


@cache
def gauss_legendre(n: int) -> tuple[Floats, Floats]:
    """Nodes on -1..1 and weights, (n,) each. Finding them takes longer than any integral here, hence once."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    nodes.setflags(write=False)
    weights.setflags(write=False)
    return nodes, weights
