"""What the study may spend, and what it has spent."""

from __future__ import annotations

from evaltui.config import Price
from evaltui.core.records import Usage


def call_cost(price: Price | None, usage: Usage) -> float:
    """What one call costs at prices per million tokens; tokens that the server did not name cost nothing."""
    if price is None:
        return 0.0
    tokens_in, tokens_out = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return (tokens_in * price.input + tokens_out * price.output) / 1e6


class Budget:
    """Money spent over all sessions of a study, against ``limit`` (None: no limit).

    The calls in flight are reckoned at the mean cost of a call so far, so that they do not carry the study past its
    limit; only calls dearer than the mean can, and those that start before the study's first call has ended.
    ``calls`` were made by earlier sessions for ``spent``.
    """

    def __init__(self, limit: float | None, spent: float = 0.0, calls: int = 0) -> None:
        self.limit = limit
        self.spent = spent
        self._calls = calls

    def add(self, cost: float) -> None:
        """Count one finished call."""
        self.spent += cost
        self._calls += 1

    def allows(self, in_flight: int) -> bool:
        """Whether one more call may start beside ``in_flight`` others."""
        if self.limit is None:
            return True
        mean = self.spent / self._calls if self._calls else 0.0
        return self.spent < self.limit and self.spent + mean * (in_flight + 1) <= self.limit
