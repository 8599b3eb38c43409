"""The one shape in which every interval leaves this package."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Unit = Literal["items", "runs", "clusters"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval of nominal coverage ``level``.

    ``low`` and ``high`` are both None where the data cannot support one; ``note`` then says why. ``unit`` is what was
    taken to vary, ``n`` how many of those the interval rests on (pairs of runs where runs are paired), ``estimand``
    what the interval is about, in words. Numbers are in the unit of the scores.

    Raises ValueError if a bound or the estimate is not finite: no NaN or infinity leaves this package.
    """

    low: float | None
    high: float | None
    estimate: float | None
    level: float
    method: str
    unit: Unit
    n: int
    estimand: str
    note: str = ""

    def __post_init__(self) -> None:
        if (self.low is None) is not (self.high is None):
            raise ValueError(f"{self.method}: an interval has both bounds or none")
        for name in ("low", "high", "estimate"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{self.method}: {name} is {value}; the scores are too large to be averaged")

    @property
    def known(self) -> bool:
        return self.low is not None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """Whether ``value`` lies outside; an unknown interval excludes nothing."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def between(self, low: float, high: float, note: str = "") -> Interval:
        """This interval with its bounds filled in."""
        return replace(self, low=float(low), high=float(high), note=note)

    def unknown(self, note: str) -> Interval:
        """This interval without bounds, and why."""
        return replace(self, low=None, high=None, note=note)
