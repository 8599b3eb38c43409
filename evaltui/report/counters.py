"""How a run's cells without a score are counted for people: four kinds by name, the others together."""

from __future__ import annotations

from typing import Final

from evaltui.core.status import Status
from evaltui.report.summary import RunSummary

COUNTERS: Final[dict[str, tuple[Status, ...]]] = {
    "timeout": (Status.TIMEOUT,),
    "parse": (Status.PARSE_FAILURE, Status.JUDGE_PARSE_FAILURE),
    "rate": (Status.RATE_LIMITED,),
    "trunc": (Status.TRUNCATED,),
    "other": (
        Status.SERVER_ERROR,
        Status.NETWORK_ERROR,
        Status.REQUEST_ERROR,
        Status.QUOTA,
        Status.LIMIT,
        Status.REFUSED,
        Status.EMPTY,
        Status.JUDGE_ERROR,
        Status.SCORER_ERROR,
        Status.CANCELLED,
    ),
}
"""Counter columns by heading; together they hold every status but ``ok``, each once."""


def counted(run: RunSummary, kind: str) -> int:
    """How many cells of a run ended in one of the statuses of a counter."""
    return sum(run.counts.get(status.value, 0) for status in COUNTERS[kind])
