"""The feed of a study: what happened that is worth a line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from evaltui.core.records import Event
from evaltui.store.ledger import reading, study_key
from evaltui.store.stored_text import restored, storable

EVENT_COLUMNS: Final = "at, kind, text, level, arm, repeat"


def events(path: Path, study_id: str) -> list[Event]:
    """Every event of a study, oldest first.

    Raises:
        StoreError: there is no such study, or the file cannot be read.
    """
    with reading(path) as connection:
        sql = f"SELECT {EVENT_COLUMNS} FROM events WHERE study = ? ORDER BY key"
        rows = connection.execute(sql, (study_key(connection, study_id),)).fetchall()
        return [event_of(row) for row in rows]


def event_of(row: tuple[float, str, str | bytes, str, str | bytes | None, int | None]) -> Event:
    """The event that a row of ``EVENT_COLUMNS`` holds."""
    at, kind, text, level, arm, repeat = row
    return Event(at, kind, restored(text), level, None if arm is None else restored(arm), repeat)


def insert_events(connection: sqlite3.Connection, study: int, new: Iterable[Event]) -> None:
    """Add events to a study (its integer key)."""
    connection.executemany(
        f"INSERT INTO events (study, {EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                study,
                event.at,
                event.kind,
                storable(event.text),
                event.level,
                None if event.arm is None else storable(event.arm),
                event.repeat,
            )
            for event in new
        ],
    )
