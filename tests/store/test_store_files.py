"""Paths that are no workspace file get a sentence, and nothing is written to them or beside them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from rights import without_rights
from study_making import cells_of, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.store import connect

USES: list[Callable[[Path], object]] = [
    lambda path: store.open_study(path, make_plan()),
    lambda path: store.resolve(path, "latest"),
    lambda path: store.studies(path),
    lambda path: store.Follower(path, "any"),
    lambda path: store.Writer(path, "any").__enter__(),
    lambda path: store.delete(path, "any"),
]


@pytest.fixture(params=USES, ids=["open_study", "resolve", "studies", "Follower", "Writer", "delete"])
def use(request: pytest.FixtureRequest) -> Callable[[Path], object]:
    """One way into the store."""
    use: Callable[[Path], object] = request.param
    return use


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_folder(tmp_path: Path, use: Callable[[Path], object]) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        use(tmp_path)


def test_a_file_that_is_no_database(path: Path, use: Callable[[Path], object]) -> None:
    path.write_text("question,answer\n" * 100)
    before = contents(path.parent)
    with pytest.raises(StoreError, match="not a SQLite database; nothing was written"):
        use(path)
    assert contents(path.parent) == before


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_another_program(path: Path, use: Callable[[Path], object], mode: str) -> None:
    with sqlite3.connect(path) as theirs:
        theirs.execute(f"PRAGMA journal_mode={mode}")
        theirs.execute("CREATE TABLE studies (id)")
    theirs.close()
    before = contents(path.parent)
    with pytest.raises(StoreError, match="another program; nothing was written"):
        use(path)
    assert contents(path.parent) == before


def test_a_database_of_a_newer_evaltui(path: Path, use: Callable[[Path], object]) -> None:
    make_study(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 1000")
    connection.close()
    before = contents(path.parent)
    with pytest.raises(StoreError, match="newer evaltui"):
        use(path)
    assert contents(path.parent) == before


def test_a_database_with_a_migration_that_this_evaltui_does_not_have(path: Path, use: Callable[[Path], object]) -> None:
    make_study(path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('evaltui', 'm999_later', '')"
        )
    connection.close()
    before = contents(path.parent)
    with pytest.raises(StoreError, match=r"newer evaltui \(migration m999_later, this one knows m002_in_flight\)"):
        use(path)
    assert contents(path.parent) == before


def test_the_known_migrations_are_those_that_are_applied(path: Path) -> None:
    make_study(path)
    with closing(sqlite3.connect(path)) as connection:
        applied = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY rowid").fetchall()
    assert tuple(name for (name,) in applied) == connect.MIGRATIONS


def test_something_that_is_no_regular_file(use: Callable[[Path], object]) -> None:
    with pytest.raises(StoreError, match="not a regular file"):
        use(Path(os.devnull))


def test_a_missing_file_is_named_where_one_is_needed(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        store.resolve(path, "latest")
    assert store.studies(path) == []
    assert contents(path.parent) == {}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        store.open_study(tmp_path / "absent" / "t.db", make_plan())


def test_an_empty_file_becomes_a_workspace(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreError, match="holds no studies yet"):
        store.resolve(path, "latest")
    assert store.studies(path) == []
    assert not store.open_study(path, make_plan()).resumed


@pytest.fixture
def damaged(path: Path) -> Path:
    """A workspace file whose pages from the third on are noise."""
    plan = make_plan(n=50)
    study = make_study(path, n=50)
    with store.Writer(path, study) as writer:
        for cell in cells_of(plan):
            writer.cell(outcome_of(cell))
    size = path.stat().st_size
    with path.open("r+b") as stream:
        stream.seek(2 * 4096)
        stream.write(b"\xa5" * (size - 2 * 4096))
    return path


def test_a_damaged_file_is_told_with_what_to_do(damaged: Path, use: Callable[[Path], object]) -> None:
    with pytest.raises(StoreError, match=r"damaged.*\.recover"):
        use(damaged)


def test_a_file_cut_short_is_told(path: Path) -> None:
    make_study(path, n=50)
    os.truncate(path, 3 * 4096)
    with pytest.raises(StoreError, match="damaged"):
        store.resolve(path, "latest")


def count_cells(path: Path) -> int:
    with store.Follower(path, store.resolve(path, "latest").id) as follower:
        delta = follower.poll()
        assert delta is not None
        return len(delta.cells)


def write_all(path: Path, study: str) -> None:
    with store.Writer(path, study) as writer:
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))


def test_a_closed_database_in_a_folder_without_write_permission_is_read(public: Path) -> None:
    path = public / "t.db"
    write_all(path, make_study(path))
    public.chmod(0o555)
    before = contents(public)
    with without_rights():
        assert count_cells(path) == 16
    assert contents(public) == before


def test_a_database_that_is_being_written_is_read_by_an_account_that_may_not_write(public: Path) -> None:
    path = public / "t.db"
    study = make_study(path)
    with store.Writer(path, study) as writer:
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell))
        writer.flush()
        with without_rights():
            assert count_cells(path) == 16


def test_a_follower_of_a_closed_read_only_database_sees_it_come_to_life(public: Path) -> None:
    path = public / "t.db"
    study = make_study(path)
    with without_rights():
        follower = store.Follower(path, study)
        first = follower.poll()
        assert follower.poll() is None
    assert first is not None
    assert len(first.cells) == 0
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(next(cells_of(make_plan()))))
        writer.flush()
        with without_rights():
            second = follower.poll()
            follower.close()
    assert second is not None
    assert len(second.cells) == 1


def test_writing_without_permission_is_told(public: Path) -> None:
    path = public / "t.db"
    make_study(path)
    path.chmod(0o444)
    public.chmod(0o555)
    with without_rights(), pytest.raises(StoreError, match="cannot be written"):
        store.open_study(path, make_plan())


def test_making_a_file_without_permission_is_told(public: Path) -> None:
    public.chmod(0o555)
    with without_rights(), pytest.raises(StoreError, match="cannot be opened"):
        store.open_study(public / "t.db", make_plan())


def test_a_file_without_read_permission_is_told(public: Path) -> None:
    path = public / "t.db"
    make_study(path)
    path.chmod(0o000)
    with without_rights(), pytest.raises(StoreError, match="cannot be read: Permission denied"):
        store.resolve(path, "latest")
