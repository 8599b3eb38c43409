"""Control of a running study, and removal of one that does not run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from study_making import attempt_of, cells_of, first_cell, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.records import Event
from evaltui.core.status import Command


def fill(path: Path, study: str, text: str) -> None:
    with store.Writer(path, study) as writer:
        for cell in cells_of(make_plan()):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell, text=f"{text} {cell.position}"))
        writer.event(Event(1.0, "note", "here"))
        store.send(path, study, Command.PAUSE)


def test_a_command_without_an_engine_is_refused(path: Path) -> None:
    study = make_study(path)
    with pytest.raises(StoreError, match="no engine runs study"):
        store.send(path, study, Command.PAUSE)


def test_a_command_to_an_unknown_study_is_refused(path: Path) -> None:
    make_study(path)
    with pytest.raises(StoreError, match="no study 'absent'"):
        store.send(path, "absent", Command.PAUSE)


def test_a_running_study_is_not_deleted(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        with pytest.raises(store.LeaseHeldError):
            store.delete(path, study)
        writer.cell(outcome_of(first_cell()))
    assert store.cell_detail(path, study, "baseline", 1, 0).record is not None


def test_a_deleted_study_leaves_no_row_behind(path: Path) -> None:
    study = make_study(path)
    fill(path, study, "answer")
    store.delete(path, study)
    assert store.studies(path) == []
    connection = sqlite3.connect(path)
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if name not in ("statuses", "sqlite_sequence", "_sqlite_migrations")
    ]
    counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    connection.close()
    assert counts == dict.fromkeys(tables, 0)


def test_deleting_a_study_leaves_the_others_and_the_texts_they_share(path: Path) -> None:
    gone, kept = make_study(path), make_study(path)
    fill(path, gone, "shared")
    fill(path, kept, "shared")
    before = [store.cell_detail(path, kept, cell.arm, cell.repeat, cell.position) for cell in cells_of(make_plan())]
    store.delete(path, gone)
    after = [store.cell_detail(path, kept, cell.arm, cell.repeat, cell.position) for cell in cells_of(make_plan())]
    assert after == before
    assert store.load_plan(path, kept) == make_plan()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
