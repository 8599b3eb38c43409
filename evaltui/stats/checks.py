"""What may be asked of a formula: single numbers that it can take, or a ValueError that names the argument."""

from __future__ import annotations

import math
from numbers import Integral

from evaltui.stats.sample import LARGEST

MOST_COUNTED = 2**53
"""Counts beyond this are refused: a float no longer tells one from the next."""

_LEAST_DIVISOR = 1e-60


def finite(name: str, value: float) -> float:
    """``value`` itself. Raises ValueError for NaN, an infinity or a number beyond ``LARGEST``."""
    if not -math.inf < value < math.inf:
        raise ValueError(f"{name} must be a finite number, not {value}")
    return _within_reach(name, value)


def at_least_zero(name: str, value: float) -> float:
    """``value`` itself. Raises ValueError unless it is finite and at least 0."""
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, not {value}")
    return _within_reach(name, value)


def positive(name: str, value: float, advice: str = "") -> float:
    """``value`` itself. Raises ValueError, with ``advice``, unless it is finite, above 0 and fit to divide by."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number, not {value}{advice and f'; {advice}'}")
    if value < _LEAST_DIVISOR:
        raise ValueError(f"{name} must be a positive number, not {value}; below {_LEAST_DIVISOR:g} it is no divisor")
    return _within_reach(name, value)


def share(name: str, value: float) -> float:
    """``value`` itself. Raises ValueError unless it lies between 0 and 1, both included."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, not {value}")
    return value


def count(name: str, value: int, least: int = 1, most: int = MOST_COUNTED) -> int:
    """``value`` itself. Raises ValueError unless it is a whole number from ``least`` to ``most``; True is none."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, not {value}")
    return value


def _within_reach(name: str, value: float) -> float:
    if abs(value) > LARGEST:
        raise ValueError(f"{name} must be within {LARGEST:g}, not {value}: beyond it nothing can be computed")
    return value
