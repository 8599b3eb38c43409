"""Sums that lose nothing: values may be added and taken away in any order, and the total is that of ``math.fsum``."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.sample import Codes, Floats

_MANTISSA = 53
_HALF = 27
_LOW = (1 << _HALF) - 1
_OFFSET = 1080
_EXPONENTS = 2112
_UNIT: int = 1 << (_OFFSET + _MANTISSA)
_SPLIT = float(2**27 + 1)


class ExactSums:
    """Running sums of several columns of floats, each held as whole numbers by binary exponent.

    Nothing is rounded before a total is asked for, so taking a value away leaves what was there before it was added,
    and totals depend on neither order nor batches.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._high: NDArray[np.int64] = np.zeros(columns * _EXPONENTS, dtype=np.int64)
        self._low: NDArray[np.int64] = np.zeros(columns * _EXPONENTS, dtype=np.int64)
        self._base = np.arange(columns, dtype=np.int64) * _EXPONENTS + _OFFSET

    def add(self, values: Floats) -> None:
        """Add rows of finite values, shape (m, columns)."""
        if values.size == 0:
            return
        mantissa, exponent = np.frexp(values)
        whole = np.ldexp(mantissa, _MANTISSA).astype(np.int64).ravel()
        place = (exponent + self._base).ravel()
        np.add.at(self._high, place, whole >> _HALF)
        np.add.at(self._low, place, whole & _LOW)

    def replace(self, old: Floats, new: Floats) -> None:
        """Take rows ``old`` away and add rows ``new``, each of shape (m, columns)."""
        self.add(np.concatenate((-old, new)))

    def total(self, column: int, *, extra: float = 0.0, times: int = 0) -> float:
        """The correctly rounded sum of a column, with ``extra`` counted ``times`` times more."""
        here = slice(column * _EXPONENTS, (column + 1) * _EXPONENTS)
        high, low = self._high[here], self._low[here]
        places = np.flatnonzero((high != 0) | (low != 0))
        whole: int = sum(
            ((h << _HALF) + part) << place
            for h, part, place in zip(high[places].tolist(), low[places].tolist(), places.tolist(), strict=True)
        )
        if times:
            numerator, denominator = extra.as_integer_ratio()
            whole += times * numerator * (_UNIT // denominator)
        return whole / _UNIT


def weighted_sum(values: Floats, counts: Codes) -> float:
    """``math.fsum`` of each value (U,) listed as often as ``counts`` (U,) says, counts below 2^26."""
    split = values * _SPLIT
    high = split - (split - values)
    return math.fsum((high * counts).tolist() + ((values - high) * counts).tolist())
