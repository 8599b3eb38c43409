"""How numbers are written for people, in one place. Files and JSON hold fractions; people read points."""

from __future__ import annotations

from typing import Final

NOTHING: Final = "–"


def points(fraction: float | None, *, decimals: int = 1, signed: bool = False) -> str:
    """0.8123 -> ``81.2``: a score or a difference in points."""
    if fraction is None:
        return NOTHING
    value = round(100 * fraction, decimals) + 0.0
    return f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"


def span(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """``-1.2 to +0.8``: an interval in points."""
    if low is None or high is None:
        return NOTHING
    return f"{points(low, signed=signed)} to {points(high, signed=signed)}"


def seconds(value: float | None) -> str:
    """``340 ms``, ``1.2 s``: a latency."""
    if value is None:
        return NOTHING
    return f"{1000 * value:.0f} ms" if value < 0.9995 else f"{value:.1f} s"


def duration(value: float | None) -> str:
    """``45 s``, ``12 min``, ``3 h 05``: how long something takes."""
    if value is None:
        return NOTHING
    if value < 90:
        return f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.0f} min"
    hours, rest = divmod(int(value), 3600)
    return f"{hours} h {rest // 60:02d}"


def money(value: float | None) -> str:
    """``0.0042``, ``13.80``, ``1,297``: in the currency of the study file's prices."""
    if value is None:
        return NOTHING
    if value and value < 0.01:
        return f"{value:.4f}"
    return f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"


def count(n: int, noun: str) -> str:
    """``1 item``, ``2,000 items``: a number of things whose plural ends in s."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
