"""The screen's own marks: plain single-width characters, and ASCII for terminals that are not UTF-8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaltui.core.status import Status


@dataclass(frozen=True, slots=True)
class Marks:
    """``upper``, ``lower`` and ``block`` draw half lines of the trace; ``levels`` are eight rising bars."""

    passed: str
    failed: str
    otherwise: str
    partial: str
    pending: str
    full: str
    empty: str
    upper: str
    lower: str
    block: str
    line: str
    point: str
    live: str
    idle: str
    levels: str


UNICODE: Final = Marks("+", "-", "=", "~", "·", "━", "─", "▀", "▄", "█", "─", "━", "●", "○", "▁▂▃▄▅▆▇█")
ASCII: Final = Marks("+", "-", "=", "~", ".", "#", "-", '"', "_", "#", "-", "=", "*", "o", "...:::##")

STATUS_LETTERS: Final[dict[Status, str]] = {
    Status.TIMEOUT: "T",
    Status.RATE_LIMITED: "R",
    Status.SERVER_ERROR: "S",
    Status.NETWORK_ERROR: "N",
    Status.REQUEST_ERROR: "Q",
    Status.QUOTA: "$",
    Status.TRUNCATED: "C",
    Status.LIMIT: "L",
    Status.REFUSED: "F",
    Status.EMPTY: "E",
    Status.PARSE_FAILURE: "P",
    Status.JUDGE_ERROR: "J",
    Status.JUDGE_PARSE_FAILURE: "V",
    Status.SCORER_ERROR: "X",
    Status.CANCELLED: "/",
}
"""One letter for each way a cell can end without a score."""

STATUS_WORDS: Final[dict[Status, str]] = {
    Status.TIMEOUT: "timeout",
    Status.RATE_LIMITED: "rate limited",
    Status.SERVER_ERROR: "server error",
    Status.NETWORK_ERROR: "network error",
    Status.REQUEST_ERROR: "request refused",
    Status.QUOTA: "quota used up",
    Status.TRUNCATED: "cut off (truncated)",
    Status.LIMIT: "limit reached",
    Status.REFUSED: "refused to answer",
    Status.EMPTY: "empty answer",
    Status.PARSE_FAILURE: "parse failure",
    Status.JUDGE_ERROR: "judge error",
    Status.JUDGE_PARSE_FAILURE: "judge's verdict unreadable",
    Status.SCORER_ERROR: "scorer error",
    Status.CANCELLED: "cancelled",
}


def marks_for(encoding: str | None) -> Marks:
    """The marks that a stream of this encoding can show."""
    return UNICODE if (encoding or "").lower().replace("-", "").startswith("utf") else ASCII
