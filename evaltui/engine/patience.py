"""How often one cell is asked again, and after what wait: the one retry rule of the engine."""

from __future__ import annotations

import random
from typing import Final

from evaltui.config import EndpointConfig
from evaltui.core.records import Failure
from evaltui.core.status import Status

BACKOFF_S: Final = 0.5
BACKOFF_AT_MOST_S: Final = 30.0
SHORTEST_RATE_WAIT_S: Final = 0.05
ASKED_WAIT_AT_MOST_S: Final = 600.0

_rng = random.Random()


class Patience:
    """Counts one cell's failures.

    A 429 uses none of the retries; what servers ask a cell to wait (429 or ``Retry-After``) may add up to ten
    minutes. Waits grow exponentially and are jittered by up to a half, so no loop of calls is ever hot, whatever
    ``Retry-After`` says.
    """

    def __init__(self, config: EndpointConfig) -> None:
        self._config = config
        self._retries = 0
        self._rate_limits = 0
        self._asked = 0.0

    def wait_after(self, failure: Failure) -> float | None:
        """Seconds to wait before the cell's next call, None when it has had its turns."""
        if not failure.retry:
            return None
        if failure.status is Status.RATE_LIMITED:
            return self._wait_for_rate(failure.wait_s)
        if failure.status is Status.TIMEOUT and not self._config.retry_timeouts:
            return None
        self._retries += 1
        if self._retries > self._config.retries:
            return None
        asked = failure.wait_s or 0.0
        return self._granted(asked, max(asked, _backoff(self._retries, BACKOFF_S)))

    def _wait_for_rate(self, asked: float | None) -> float | None:
        self._rate_limits += 1
        if asked is None:
            wait = _backoff(self._rate_limits, BACKOFF_S)
        else:
            wait = max(asked, _backoff(self._rate_limits, SHORTEST_RATE_WAIT_S))
        return self._granted(wait, wait)

    def _granted(self, asked: float, wait: float) -> float | None:
        self._asked += asked
        return wait if self._asked <= ASKED_WAIT_AT_MOST_S else None


def _backoff(times: int, first: float) -> float:
    longest = min(BACKOFF_AT_MOST_S, first * 2.0 ** min(times - 1, 30))
    return longest * _rng.uniform(0.5, 1.0)
