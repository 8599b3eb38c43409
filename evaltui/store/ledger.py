"""Studies in a workspace file: opening the right one, naming one, listing them, and reading back what was planned."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from evaltui.core.errors import StoreError
from evaltui.core.status import StudyState
from evaltui.core.study import StudyInfo, StudyPlan
from evaltui.store import connect
from evaltui.store.lease import LeaseWatch, read_lease
from evaltui.store.plans import load_config, load_design, read_items
from evaltui.store.stored_text import restored

INFO_COLUMNS: Final = "key, id, state, reason, created, design"
LATEST: Final = "latest"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection for one look; every SQLite error inside becomes a sentence.

    Raises:
        StoreError: the file cannot be read.
    """
    with closing(connect.readable(path)) as connection, connect.told(path):
        yield connection


def study_key(connection: sqlite3.Connection, study_id: str) -> int:
    """The integer key of a study.

    Raises:
        StoreError: there is none of that id.
    """
    row = connection.execute("SELECT key FROM studies WHERE id = ?", (study_id,)).fetchone()
    if row is None:
        raise StoreError(f"there is no study {study_id!r} in this database")
    return int(row[0])


def studies(path: Path, *, watch: LeaseWatch | None = None) -> list[StudyInfo]:
    """Every study, newest first; none where there is no file yet.

    A ledger that looks again and again passes the same ``watch``, so that an engine on another host that has died is
    seen to be dead.

    Raises:
        StoreError: the file cannot be read.
    """
    if connect.missing(path) or not connect.identify(path):
        return []
    watch = watch or LeaseWatch()
    with reading(path) as connection:
        rows = connection.execute(f"SELECT {INFO_COLUMNS} FROM studies ORDER BY key DESC").fetchall()
        return [_info(connection, row, watch) for row in rows]


def resolve(path: Path, ref: str) -> StudyInfo:
    """The study that ``ref`` names: ``latest``, an id, a name (its newest study), or a unique prefix of an id.

    Raises:
        StoreError: there is none, or several; near names are listed.
    """
    with reading(path) as connection:
        study_id = named(connection, ref, path)
        row = connection.execute(f"SELECT {INFO_COLUMNS} FROM studies WHERE id = ?", (study_id,)).fetchone()
        if row is None:
            raise StoreError(f"{path} does not hold study {study_id} any more: it was deleted, or the file replaced")
        return _info(connection, row, LeaseWatch())


def named(connection: sqlite3.Connection, ref: str, path: Path) -> str:
    """The id of the study that ``ref`` names, as :func:`resolve` finds it.

    Raises:
        StoreError: there is none, or several; near names are listed.
    """
    rows = connection.execute("SELECT id, name FROM studies ORDER BY key DESC").fetchall()
    return _named(ref, [(study_id, restored(name)) for study_id, name in rows], path)


def load_plan(path: Path, study_id: str) -> StudyPlan:
    """What was planned: enough to run the study without its files.

    Raises:
        StoreError: there is no such study, or it cannot be read.
    """
    with reading(path) as connection:
        study = study_key(connection, study_id)
        design, config, config_path = connection.execute(
            "SELECT design, config, config_path FROM studies WHERE key = ?", (study,)
        ).fetchone()
        planned = load_design(design)
        return StudyPlan(
            design=planned,
            items=read_items(connection, study, planned),
            config=load_config(config),
            config_path=None if config_path is None else restored(config_path),
        )


def _named(ref: str, rows: list[tuple[str, str]], path: Path) -> str:
    """The id that ``ref`` stands for among (id, name), newest first."""
    if not rows:
        raise StoreError(f"{path} holds no studies yet")
    if ref == LATEST:
        return rows[0][0]
    wanted = ref.lower()
    for study_id, _ in rows:
        if study_id == wanted:
            return study_id
    for study_id, name in rows:
        if name == ref:
            return study_id
    found = [study_id for study_id, _ in rows if wanted and study_id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise StoreError(f"{ref!r} is the beginning of {len(found)} studies: {_some(found)}")
    near = difflib.get_close_matches(ref, [word for row in rows for word in row], n=3)
    hint = f"; did you mean {_some(list(dict.fromkeys(near)))}?" if near else "; `evaltui studies` lists them"
    raise StoreError(f"{path} holds no study {ref!r}{hint}")


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _info(connection: sqlite3.Connection, row: tuple[int, str, str, str, float, str], watch: LeaseWatch) -> StudyInfo:
    key, study_id, state, reason, created, design = row
    return StudyInfo(
        id=study_id,
        design=load_design(design),
        state=StudyState(state),
        reason=restored(reason),
        created=created,
        lease=watch.judge(read_lease(connection, key)),
    )
