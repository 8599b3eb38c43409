"""One endpoint's gate: a 429 holds back every call to that endpoint, not the one that was refused."""

from __future__ import annotations

import random
from typing import Final

SPREAD: Final = 0.25
SPREAD_AT_MOST_S: Final = 2.0
ANNOUNCE_EVERY_S: Final = 10.0


class Gate:
    """Closed until a moment of the loop's clock. Callers ask for their delay, sleep, and ask again until it is 0.

    The delay is jittered upwards, by at most a quarter of the hold and 2 s, so that waiting calls do not come back
    as one burst; it never ends before what the server asked for.
    """

    def __init__(self, rng: random.Random | None = None) -> None:
        self._opens_at = float("-inf")
        self._spread = 0.0
        self._quiet_until = float("-inf")
        self._rng = rng or random.Random()

    def hold(self, seconds: float, now: float) -> bool:
        """Keep closed for ``seconds`` from ``now``, or longer if it already is.

        True when this is worth an event: the gate was open, and it is a long wait or the first one in a while.
        """
        was_open = self._opens_at <= now
        if now + seconds > self._opens_at:
            self._opens_at = now + seconds
            self._spread = min(SPREAD * seconds, SPREAD_AT_MOST_S)
        if not was_open or (now < self._quiet_until and seconds < ANNOUNCE_EVERY_S):
            return False
        self._quiet_until = now + ANNOUNCE_EVERY_S
        return True

    def delay(self, now: float) -> float:
        """Seconds to sleep before asking again; 0.0 means go."""
        left = self._opens_at - now
        if left <= 0:
            return 0.0
        return left + self._rng.uniform(0.0, self._spread)
