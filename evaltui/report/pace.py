"""How long a running study will still take, from the pace at which its cells finish."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WINDOW = 512
_BLOCKS = 8
_LEAST = 2 * _BLOCKS
_STALLED = 20.0


def time_left(finished: NDArray[np.float64], remaining: int, now: float) -> float | None:
    """Seconds until ``remaining`` cells are done, from the finish times of those that are; any shape, NaN: pending.

    The pace is the median over eight blocks of the latest 512 cells, so that one pause or one burst does not move it.
    None before 16 cells have finished, and when nothing has finished for twenty blocks' worth of time.
    """
    times = finished[np.isfinite(finished)]
    if len(times) < _LEAST:
        return None
    if len(times) > _WINDOW:
        times = np.partition(times, len(times) - _WINDOW)[-_WINDOW:]
    step = (len(times) - 1) // _BLOCKS
    marks = np.sort(times)[::-1][::step]
    block = float(np.median(-np.diff(marks)))
    if now - marks[0] > _STALLED * max(block, 1.0):
        return None
    return remaining * block / step
