"""When an endpoint fails too often, the study pauses instead of burning its items."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from evaltui.core.status import Status

WINDOW: Final = 50

ENDPOINT_ERRORS: Final = frozenset(
    {
        Status.TIMEOUT,
        Status.RATE_LIMITED,
        Status.SERVER_ERROR,
        Status.NETWORK_ERROR,
        Status.REQUEST_ERROR,
        Status.QUOTA,
    }
)
"""Failures that say something about the endpoint. A refusal is an answer to one item."""


class Breaker:
    """Counts errors among an endpoint's last 50 calls.

    It trips as soon as they reach ``max_errors`` x 50, without waiting for fifty calls: calls not yet made count as
    good ones, so an endpoint that is down from the start trips it after ten calls at the default of 0.2.
    """

    def __init__(self, max_errors: float) -> None:
        self.limit = max(1, math.ceil(round(max_errors * WINDOW, 6)))
        self._last: deque[bool] = deque(maxlen=WINDOW)
        self._errors = 0

    @property
    def calls(self) -> int:
        """How many of the last 50 calls have been made."""
        return len(self._last)

    @property
    def errors(self) -> int:
        """Errors among the last 50 calls."""
        return self._errors

    def record(self, failed: bool) -> bool:
        """Count one call; True when the study should pause."""
        if len(self._last) == WINDOW:
            self._errors -= self._last[0]
        self._last.append(failed)
        self._errors += failed
        return failed and self._errors >= self.limit
