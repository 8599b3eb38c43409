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
    times = _latest(finished)
    if len(times) < _LEAST:
        return None
    step = (len(times) - 1) // _BLOCKS
    marks = np.sort(times)[::-1][::step]
    block = float(np.median(-np.diff(marks)))
    if now - marks[0] > _STALLED * max(block, 1.0):
        return None
    return remaining * block / step


class LivePace:
    """The latest finish times of a study, kept while cells come in."""

    def __init__(self, finished: NDArray[np.float64]) -> None:
        self._latest = _latest(finished)

    def update(self, finished: NDArray[np.float64], flat: NDArray[np.intp], before: NDArray[np.float64]) -> None:
        """Take in cells at ``flat`` places, each named once; ``before`` holds when they had finished, NaN: pending.

        Where one of the latest was revised, all of ``finished`` is looked through again.
        """
        gone = before[np.isfinite(before)]
        if gone.size and (len(self._latest) < _WINDOW or gone.max() >= self._latest.min()):
            self._latest = _latest(finished)
        else:
            self._latest = _latest(np.concatenate((self._latest, finished.ravel()[flat])))

    def time_left(self, remaining: int, now: float) -> float | None:
        """``time_left`` of all finish times."""
        return time_left(self._latest, remaining, now)


def _latest(finished: NDArray[np.float64]) -> NDArray[np.float64]:
    times: NDArray[np.float64] = finished[np.isfinite(finished)]
    return np.partition(times, len(times) - _WINDOW)[-_WINDOW:] if len(times) > _WINDOW else times
