"""The one shape in which every significance test leaves this package."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PValue:
    """The outcome of a test: ``p`` is None where it cannot be made, and ``note`` says why.

    ``df`` are degrees of freedom where the reference distribution has them; ``n`` counts the items that entered.
    """

    p: float | None
    statistic: float | None
    method: str
    n: int
    df: int | None = None
    note: str = ""
