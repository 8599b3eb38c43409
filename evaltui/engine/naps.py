"""Notices when this process has stood still: a laptop that slept, a job that was suspended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

NAP_S: Final = 2.0
"""Looked at every quarter of a second, a clock that has moved on by more than this has not been looked at in time."""

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Nobody sets it, and it goes on while the machine sleeps; on macOS the monotonic clock of the system does."""


def _clock() -> float:
    return time.clock_gettime(_CLOCK)


class Naps:
    """What failed across a nap says nothing about the endpoint. Somebody has to :meth:`look` all the time."""

    def __init__(self, clock: Callable[[], float] = _clock) -> None:
        self._clock = clock
        self._seen = clock()
        self._woke = -math.inf

    def look(self) -> float:
        """The moment it is, to be given to :meth:`since` later."""
        now = self._clock()
        if now - self._seen > NAP_S:
            self._woke = now
        self._seen = now
        return now

    def since(self, moment: float) -> bool:
        """Whether the process has slept since then."""
        self.look()
        return self._woke > moment
