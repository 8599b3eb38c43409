"""Whether two arms ran at the same time: weather that only one of them met looks like a difference between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaltui.core.format import duration
from evaltui.decide.comparability import Finding
from evaltui.stats.checks import finite

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Span:
    """From the first call to the last verdict, in seconds since the epoch; ``end`` is infinite while more will come.

    Raises ValueError where it ends before it starts, and for what is no time.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        finite("start", self.start)
        if math.isnan(self.end):
            raise ValueError(f"end must be a time, or infinite while more will come, not {self.end}")
        if self.end < self.start:
            raise ValueError(f"a span of time cannot end ({self.end}) before it starts ({self.start})")


def gap(a: Span, b: Span) -> float:
    """Seconds between the end of the earlier span and the start of the later one; 0 where they overlap."""
    return max(0.0, a.start - b.end, b.start - a.end)


def different_weeks(baseline: Span | None, candidate: Span | None) -> Finding | None:
    """The mark of two arms that did not run at overlapping times; None where they did or where it is not known."""
    if baseline is None or candidate is None or not gap(baseline, candidate):
        return None
    apart = gap(baseline, candidate)
    later = "after" if candidate.start > baseline.start else "before"
    return Finding(
        "different_weeks",
        f'"different weeks": the candidate ran {_time(apart)} {later} the baseline, not beside it, so what else '
        "changed in between counts as a difference of the arms; run the baseline again beside the candidate",
    )


def _time(apart: float) -> str:
    if apart < 1:
        return "right"
    return duration(apart) if apart < 2 * _DAY else f"{apart / _DAY:.0f} days"
