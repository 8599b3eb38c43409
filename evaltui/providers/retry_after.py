"""How long a server asks to be left alone, from whichever header it says so in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_S: Final = 86_400.0


_DURATION: Final = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
_RESET: Final = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:([a-z-]+)-reset|reset(?:-([a-z-]+))?)")
_YEAR_2001: Final = 1e9


def wait_seconds(headers: Mapping[str, str], now: float, *, limited: bool = False) -> float | None:
    """Seconds to wait, or None when nothing usable was said: then the caller's own back-off holds.

    ``headers`` has lower-case names; ``now`` is seconds since the epoch. ``retry-after-ms`` is in milliseconds;
    ``retry-after`` in seconds or an HTTP date (RFC 9110, 10.2.3), which is read against the server's own ``date`` so
    that a clock that is off does not matter. Without either, a ``limited`` reply's reset headers are read: see
    :func:`_reset`. Zero, negative and past values are None; a day is the most.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _usable(milliseconds / 1000)
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return _usable(seconds)
    sent = _epoch(headers.get("date"))
    clock = now if sent is None else sent
    until = _epoch(text)
    if until is not None:
        return _usable(until - clock)
    return _reset(headers, clock) if limited and not text else None


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """When a limit is lifted, as ``x-ratelimit-reset-requests``, ``ratelimit-reset`` and their kin say.

    A duration (``6m0s``, ``20ms``), seconds, seconds or milliseconds since the epoch, or an ISO 8601 moment. Of several
    limits those with nothing remaining count, and the longest of these; where none says so, the shortest of all.
    """
    spent: list[float] = []
    others: list[float] = []
    for name, text in headers.items():
        match = _RESET.fullmatch(name)
        wait = _usable_or_none(_until(text, now)) if match else None
        if wait is None:
            continue
        remaining = _number(headers.get(re.sub(r"reset", "remaining", name)))
        (spent if remaining == 0 else others).append(wait)
    return max(spent) if spent else min(others, default=None)


def _until(text: str, now: float) -> float | None:
    number = _number(text)
    if number is not None:
        since_epoch = number / 1000 if number > _YEAR_2001 * 1000 else number
        return since_epoch - now if since_epoch > _YEAR_2001 else number
    match = _DURATION.fullmatch(text.strip())
    if match and any(match.groups()):
        days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
        return days * 86_400 + hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now


def _usable_or_none(seconds: float | None) -> float | None:
    return None if seconds is None else _usable(seconds)


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
