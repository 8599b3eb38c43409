"""Rows of the database as numpy columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaltui.core.delta import NO_WARMUP, AttemptBatch, CellBatch, Warmup
from evaltui.store import connect
from evaltui.store.stored_text import decode

Rows = Sequence[tuple[Any, ...]]

CELL_COLUMNS: Final = "key, run, item, revision, status, score, label, coalesce(text, -1), attempts, latency, finished"
ATTEMPT_COLUMNS: Final = (
    "key, run, status, number, started, latency, wait, queue_wait, coalesce(prompt_tokens, 0), "
    "coalesce(completion_tokens, 0), coalesce(cached_tokens, 0), coalesce(cost, 0), item, request_hash"
)
ATTEMPT_COST: Final = 11
"""Where the cost stands in a row of these."""
REQUEST_BYTES: Final = 8
"""How much of a request's hash tells it from others."""


def in_flight_column(connection: sqlite3.Connection) -> str:
    """What to select for the calls in flight with an attempt: a file of schema 1 does not know."""
    return "in_flight" if connect.schema_version(connection) >= 2 else "NULL"


@dataclass(frozen=True, slots=True)
class RunTable:
    """The runs of a study, sorted by key: which arm (index into ``Design.arms``) and repeat each key stands for.

    Rows of ``warmups`` (keys of runs that only warm up) are left out of every batch: no number may see them.
    """

    key: NDArray[np.int64]
    arm: NDArray[np.int16]
    repeat: NDArray[np.int16]
    warmups: frozenset[int] = frozenset()

    @classmethod
    def read(cls, connection: sqlite3.Connection, study: int) -> RunTable:
        rows = connection.execute(
            "SELECT runs.key, arms.position, runs.repeat FROM runs JOIN arms ON arms.key = runs.arm "
            "WHERE runs.study = ? ORDER BY runs.key",
            (study,),
        ).fetchall()
        key, arm, repeat = _columns([row for row in rows if row[2] > 0], 3)
        warmups = frozenset(row[0] for row in rows if row[2] <= 0)
        return cls(np.array(key, np.int64), np.array(arm, np.int16), np.array(repeat, np.int16), warmups)

    def cells(self, rows: Rows) -> CellBatch:
        """Rows of ``CELL_COLUMNS`` as columns."""
        _, run, item, revision, status, score, label, text, attempts, latency, finished = _columns(
            self._counted(rows), 11
        )
        place = self._places(run)
        return CellBatch(
            arm=self.arm[place],
            repeat=self.repeat[place],
            position=np.array(item, np.int32),
            revision=np.array(revision, np.int16),
            status=np.array(status, np.uint8),
            score=np.array(score, np.float64),
            label=[decode(value) if isinstance(value, bytes) else value for value in label],
            text=np.array(text, np.int64),
            attempts=np.array(attempts, np.int16),
            latency=np.array(latency, np.float32),
            finished=np.array(finished, np.float64),
        )

    def attempts(self, rows: Rows) -> AttemptBatch:
        """Rows of ``ATTEMPT_COLUMNS`` and the calls in flight (None where not known) as columns."""
        _, run, status, number, started, latency, wait, queue_wait, *tokens, cost, item, request, in_flight = _columns(
            self._counted(rows), 15
        )
        prompt, completion, cached = tokens
        place = self._places(run)
        return AttemptBatch(
            arm=self.arm[place],
            repeat=self.repeat[place],
            position=np.array(item, np.int32),
            status=np.array(status, np.uint8),
            number=np.array(number, np.int16),
            started=np.array(started, np.float64),
            latency=np.array(latency, np.float32),
            wait=np.array(wait, np.float32),
            queue_wait=np.array(queue_wait, np.float32),
            prompt_tokens=np.array(prompt, np.int64),
            completion_tokens=np.array(completion, np.int64),
            cached_tokens=np.array(cached, np.int64),
            cost=np.array(cost, np.float64),
            request=_requests(request),
            in_flight=np.array([count or 0 for count in in_flight], np.int64),
        )

    def warmup(self, cells: Rows, attempts: Rows) -> Warmup:
        """What the rows of warm-up runs amount to."""
        if not self.warmups:
            return NO_WARMUP
        calls = [row for row in attempts if row[1] in self.warmups]
        return Warmup(
            cells=sum(row[1] in self.warmups for row in cells),
            requests=len(calls),
            cost=sum(row[ATTEMPT_COST] or 0.0 for row in calls),
        )

    def _counted(self, rows: Rows) -> Rows:
        return [row for row in rows if row[1] not in self.warmups] if self.warmups else rows

    def _places(self, run: Sequence[int]) -> NDArray[np.intp]:
        return np.searchsorted(self.key, np.array(run, np.int64))


def _requests(hashes: Sequence[bytes | None]) -> NDArray[np.int64]:
    first = b"".join((value or b"").ljust(REQUEST_BYTES, b"\0")[:REQUEST_BYTES] for value in hashes)
    return np.frombuffer(first, dtype="<i8").astype(np.int64)


def _columns(rows: Rows, width: int) -> list[tuple[Any, ...]]:
    """Rows turned into columns; ``width`` empty ones where there are no rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width
