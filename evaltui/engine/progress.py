"""How far a study is, for whoever has no screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` cells are terminal. ``cost`` covers all sessions of the study.

    ``failures`` counts this session's cells whose primary verdict is not ok, by status. ``eta_s`` is the time left at
    this session's mean rate, None before the first cell. ``trouble`` says why results cannot be saved at the moment,
    which holds back new calls; empty while all is well. Cells of warm-up runs are counted apart; they are none of
    ``total``.
    """

    done: int
    total: int
    cost: float
    failures: Mapping[str, int]
    eta_s: float | None
    trouble: str = ""
    warmup_done: int = 0
    warmup_total: int = 0


def time_left(done_now: int, left: int, elapsed_s: float) -> float | None:
    """Seconds for ``left`` cells, when ``done_now`` took ``elapsed_s``; None while nothing is done."""
    if done_now == 0:
        return None
    return left * elapsed_s / done_now
