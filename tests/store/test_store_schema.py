"""A file of schema 1 is read as it is, and brought up to date by whoever takes up one of its studies."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from old_files import make_schema_1, rows_of
from study_making import attempt_of, cells_of, first_cell, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.records import Usage
from evaltui.core.status import Command, StudyState
from evaltui.store import connect


@pytest.fixture
def old(path: Path) -> str:
    """The id of a study in a file of schema 1: 3 of its 16 cells are done, one call each."""
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.state(StudyState.STOPPED, "for the test")
        for cell in list(cells_of(make_plan()))[:3]:
            writer.attempt(attempt_of(cell, usage=Usage(10, 5, 4), cost=0.5, request_hash=bytes(16)))
            writer.cell(outcome_of(cell))
    make_schema_1(path)
    return study


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connect.schema_version(connection)


def in_flight_of(path: Path, study: str) -> list[int]:
    with store.Follower(path, study) as follower:
        delta = follower.poll()
        assert delta is not None
        return delta.attempts.in_flight.tolist()


def test_it_is_read_and_stays_as_it_is(path: Path, old: str) -> None:
    before = path.read_bytes()
    with store.Follower(path, old) as follower:
        delta = follower.poll()
    assert delta is not None
    assert (len(delta.cells), delta.attempts.in_flight.tolist()) == (3, [0, 0, 0])
    assert delta.attempts.cached_tokens.tolist() == [4, 4, 4]
    (attempt,) = store.cell_detail(path, old, "baseline", 1, 0).attempts
    assert (attempt.in_flight, attempt.cost, attempt.request_hash) == (None, 0.5, bytes(16))
    assert [study.id for study in store.studies(path)] == [old]
    assert len(store.load_plan(path, old).items) == 4
    assert (version(path), path.read_bytes()) == (1, before)


def test_an_engine_that_takes_it_up_brings_it_up_to_date_and_loses_nothing(path: Path, old: str) -> None:
    before = rows_of(path)
    with store.Writer(path, old) as writer:
        done = sum(mask.sum() for mask in writer.terminal().values())
        writer.attempt(attempt_of(first_cell(), 2, in_flight=7))
        writer.flush()
        assert in_flight_of(path, old) == [0, 0, 0, 7]
    after = rows_of(path)
    assert (done, version(path)) == (3, 2)
    assert after["attempts"][:3] == before["attempts"]
    assert after["events"][: len(before["events"])] == before["events"]
    for table in before.keys() - {"attempts", "events"}:
        assert after[table] == before[table], table
    assert [each.in_flight for each in store.cell_detail(path, old, "baseline", 1, 0).attempts] == [None, 7]
    with closing(sqlite3.connect(path)) as connection:
        known = connection.execute("SELECT in_flight, cost FROM v_attempts ORDER BY repeat, number DESC").fetchall()
        migrated = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert known == [(7, 0.0), (None, 0.5), (None, 0.5), (None, 0.5)]
    assert tuple(name for (name,) in migrated) == connect.MIGRATIONS


def test_a_follower_sees_the_file_change_under_it(path: Path, old: str) -> None:
    with store.Follower(path, old) as follower:
        assert follower.poll() is not None
        with store.Writer(path, old) as writer:
            writer.attempt(attempt_of(first_cell(), 2, in_flight=7))
            writer.flush()
            delta = follower.poll()
    assert delta is not None
    assert delta.attempts.in_flight.tolist() == [7]


def test_going_on_with_the_study_file_brings_it_up_to_date(path: Path, old: str) -> None:
    assert store.open_study(path, make_plan()).study_id == old
    assert version(path) == 2
    assert in_flight_of(path, old) == [0, 0, 0]


@pytest.mark.parametrize(
    "write",
    [
        lambda path, study: store.extend(path, study, 2),
        lambda path, study: store.clear_lease(path, study),
        lambda path, study: store.delete(path, study),
    ],
    ids=["extend", "clear_lease", "delete"],
)
def test_what_needs_no_new_column_works_on_the_old_file(
    path: Path, old: str, write: Callable[[Path, str], object]
) -> None:
    write(path, old)
    assert version(path) == 1


def test_who_may_not_run_the_study_changes_nothing(path: Path, old: str) -> None:
    with store.Writer(path, old):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 1")
        with pytest.raises(store.LeaseHeldError):
            store.Writer(path, old).__enter__()
        assert version(path) == 1
        store.send(path, old, Command.PAUSE)
        assert version(path) == 1


def test_a_call_is_followed_with_what_tells_its_request_and_how_many_were_in_flight(path: Path) -> None:
    study = make_study(path)
    cells = list(cells_of(make_plan()))
    with store.Writer(path, study) as writer:
        writer.attempt(attempt_of(cells[0], request_hash=b"\x01" + bytes(15), in_flight=3))
        writer.attempt(attempt_of(cells[-1], request_hash=b"\xff" * 16, in_flight=8))
        writer.attempt(attempt_of(cells[-1], 2))
    with store.Follower(path, study) as follower:
        delta = follower.poll()
    assert delta is not None
    calls = delta.attempts
    assert calls.request.tolist() == [1, -1, 0]
    assert calls.in_flight.tolist() == [3, 8, 0]
    assert calls.position.tolist() == [0, 3, 3]
