"""Looks at stored rows that a screen or a report asks for one at a time: items, texts, the history of a cell."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaltui.core.errors import StoreError
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Item, Usage, Verdict
from evaltui.core.status import STATUS_BY_CODE
from evaltui.store.columns import in_flight_column
from evaltui.store.ledger import reading, study_key
from evaltui.store.plans import load_design, read_items
from evaltui.store.stored_text import read_texts, restored

VERDICTS: Final = """
SELECT verdicts.revision, scorers.name, verdicts.status, verdicts.label, verdicts.score, verdicts.note, verdicts.text,
    verdicts.reasoning, verdicts.attempts, verdicts.latency, verdicts.finished
FROM verdicts JOIN scorers ON scorers.key = verdicts.scorer
WHERE verdicts.run = ? AND verdicts.item = ?
ORDER BY verdicts.revision DESC, verdicts.is_primary DESC, verdicts.key
"""
ATTEMPTS: Final = """
SELECT number, status, started, latency, wait, queue_wait, http_status, message, prompt_tokens, completion_tokens,
    cached_tokens, cost, model, fingerprint, seed, request_hash, {in_flight}
FROM attempts WHERE run = ? AND item = ? ORDER BY key
"""


@dataclass(frozen=True, slots=True)
class CellDetail:
    """Everything stored about one cell. ``record`` is that of the highest revision; None before there is one."""

    record: CellRecord | None
    attempts: tuple[AttemptRecord, ...]


def items(path: Path, study_id: str) -> tuple[Item, ...]:
    """The items of a study, by position.

    Raises:
        StoreError: there is no such study, or the file cannot be read.
    """
    with reading(path) as connection:
        study = study_key(connection, study_id)
        ((design,),) = connection.execute("SELECT design FROM studies WHERE key = ?", (study,)).fetchall()
        return read_items(connection, study, load_design(design))


def texts(path: Path, keys: Iterable[int]) -> dict[int, str]:
    """Answers by the keys that :class:`evaltui.core.delta.CellBatch` holds; unknown keys are left out.

    Raises:
        StoreError: the file cannot be read.
    """
    with reading(path) as connection:
        return read_texts(connection, keys)


def cell_detail(path: Path, study_id: str, arm: str, repeat: int, position: int) -> CellDetail:
    """The outcome of a cell and every call made for it, oldest first.

    Raises:
        StoreError: the study has no such cell, or the file cannot be read.
    """
    with reading(path) as connection:
        study = study_key(connection, study_id)
        cell = Cell(arm, repeat, position, _item_id(connection, study, position))
        run = _run(connection, study, cell)
        sql = ATTEMPTS.format(in_flight=in_flight_column(connection))
        attempts = connection.execute(sql, (run, position)).fetchall()
        verdicts = connection.execute(VERDICTS, (run, position)).fetchall()
        return CellDetail(
            _record(connection, cell, verdicts) if verdicts else None,
            tuple(_attempt(cell, row) for row in attempts),
        )


def _item_id(connection: sqlite3.Connection, study: int, position: int) -> str:
    sql = "SELECT item_id FROM items WHERE study = ? AND position = ?"
    row = connection.execute(sql, (study, position)).fetchone()
    if row is None:
        raise StoreError(f"the study has no item at position {position}")
    return restored(row[0])


def _run(connection: sqlite3.Connection, study: int, cell: Cell) -> int:
    sql = (
        "SELECT arms.name, runs.key FROM runs JOIN arms ON arms.key = runs.arm WHERE runs.study = ? AND runs.repeat = ?"
    )
    for name, key in connection.execute(sql, (study, cell.repeat)).fetchall():
        if restored(name) == cell.arm:
            return int(key)
    raise StoreError(f"the study has no run {cell.arm}#{cell.repeat}")


def _record(connection: sqlite3.Connection, cell: Cell, rows: list[tuple[Any, ...]]) -> CellRecord:
    revision, _, _, _, _, _, text, reasoning, attempts, latency, finished = rows[0]
    found = read_texts(connection, {key for key in (text, reasoning) if key is not None})
    return CellRecord(
        cell=cell,
        verdicts=tuple(
            Verdict(restored(scorer), STATUS_BY_CODE[status], _restored(label), score, restored(note))
            for of_revision, scorer, status, label, score, note, *_ in rows
            if of_revision == revision
        ),
        text=found.get(text),
        reasoning=found.get(reasoning, ""),
        attempts=attempts,
        latency_s=_number(latency),
        finished=_number(finished),
        revision=revision,
    )


def _attempt(cell: Cell, row: tuple[Any, ...]) -> AttemptRecord:
    number, status, started, latency, wait, queue_wait, http_status, message, *tokens = row[:11]
    cost, model, fingerprint, seed, request_hash, in_flight = row[11:]
    return AttemptRecord(
        cell=cell,
        number=number,
        status=STATUS_BY_CODE[status],
        started=_number(started),
        latency_s=_number(latency),
        wait_s=_number(wait),
        queue_wait_s=_number(queue_wait),
        http_status=http_status,
        message=restored(message),
        usage=Usage(*tokens),
        cost=_number(cost),
        model=_restored(model),
        fingerprint=_restored(fingerprint),
        seed=seed,
        request_hash=request_hash,
        in_flight=in_flight,
    )


def _restored(value: str | bytes | None) -> str | None:
    return None if value is None else restored(value)


def _number(value: float | None) -> float:
    """A stored number; SQLite keeps NaN as NULL."""
    return math.nan if value is None else value
