"""What the study may spend, what it has spent, and what is set aside for calls in flight."""

from __future__ import annotations

from typing import Final

from evaltui.core.format import money

ROUNDING: Final = 1e-9
"""Sums of fractions miss their round total; the last call that just fits is not refused for that."""


class Budget:
    """Money spent over all sessions of a study, against ``limit`` (None: no limit).

    A call in flight is reckoned at its bound, what its prompt and the longest answer asked for cost, or at the mean of
    the calls so far where that is more. So a study passes its limit by no more than what the calls in flight cost
    above what was set aside for them. ``calls`` were made by earlier sessions for ``spent``.
    """

    def __init__(self, limit: float | None, spent: float = 0.0, calls: int = 0) -> None:
        self.limit = limit
        self.spent = spent
        self.in_flight = 0
        self._calls = calls
        self._reserved = 0.0

    def add(self, cost: float) -> None:
        """Count one finished call."""
        self.spent += cost
        self._calls += 1

    def reserve(self, bound: float) -> float | None:
        """Set aside what one more call may cost; the amount, or None where it does not fit beside those in flight."""
        amount = self._reckoned(bound)
        if self.limit is not None:
            fits = self.spent + self._reserved + amount <= self.limit * (1 + ROUNDING)
            if self.spent >= self.limit or not fits:
                return None
        self.in_flight += 1
        self._reserved += amount
        return amount

    def release(self, amount: float) -> None:
        """Give back what was set aside for a call that has ended; its cost was added before."""
        self.in_flight -= 1
        self._reserved = self._reserved - amount if self.in_flight else 0.0

    def refusal(self, bound: float) -> str:
        """Why no further call may start, and what helps."""
        return (
            f"max_cost = {self.limit:g} allows no further call: {money(self.spent)} are spent, and the next call may "
            f"cost up to {money(self._reckoned(bound))}; raise study.max_cost in the study file and run that again "
            "(resumed as it is, the study stops again)"
        )

    def _reckoned(self, bound: float) -> float:
        return max(bound, self.spent / self._calls) if self._calls else bound
