"""How long a server asks to be left alone, from whichever header it says so in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_S: Final = 86_400.0


def wait_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, or None when nothing usable was said: then the caller's own back-off holds.

    ``headers`` has lower-case names; ``now`` is seconds since the epoch. ``retry-after-ms`` is in milliseconds;
    ``retry-after`` in seconds or an HTTP date (RFC 9110, 10.2.3), which is read against the server's own ``date`` so
    that a clock that is off does not matter. Zero, negative and past values are None; a day is the most.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _usable(milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _usable(seconds)
    until = _epoch(text)
    if until is None:
        return None
    sent = _epoch(headers.get("date"))
    return _usable(until - (now if sent is None else sent))


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _epoch(text: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
        if moment is None:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _usable(seconds: float) -> float | None:
    return min(seconds, LONGEST_S) if math.isfinite(seconds) and seconds > 0 else None
