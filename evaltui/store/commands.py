"""What others than the engine may write: control, and the removal of a study that no engine runs."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from evaltui.core.errors import StoreError
from evaltui.core.status import Command
from evaltui.store import connect
from evaltui.store.lease import PATIENCE_S, LeaseWatch, insist_free, insist_untaken, read_lease, release_lease
from evaltui.store.ledger import study_key


def send(path: Path, study_id: str, command: Command) -> None:
    """Ask the engine that runs a study to pause, resume or stop; it answers with an event or a state.

    Raises:
        StoreError: there is no such study, no engine runs it, or the file cannot be written.
    """
    with closing(connect.writable(path)) as connection, connect.told(path):
        study = study_key(connection, study_id)
        held = read_lease(connection, study)
        if held is None or not LeaseWatch().alive(held):
            raise StoreError(f"no engine runs study {study_id}, so nothing can {command}")
        connection.execute(
            "INSERT INTO controls (study, at, command) VALUES (?, ?, ?)", (study, time.time(), command.value)
        )


def clear_lease(path: Path, study_id: str, *, patience: float = PATIENCE_S) -> None:
    """Return once no engine runs a study, the lease of a dead one removed, so that the next need not watch it again.

    Raises:
        LeaseHeldError: an engine runs it. One on another host is watched for ``patience`` seconds first.
        StoreError: there is no such study, or the file cannot be written.
    """
    with closing(connect.writable(path)) as connection, connect.told(path):
        study = study_key(connection, study_id)
        left = insist_free(connection, study, study_id, patience)
        if left is not None:
            release_lease(connection, left)


def delete(path: Path, study_id: str, *, patience: float = PATIENCE_S) -> None:
    """Remove a study with all its rows, and the texts that no other study uses. The file keeps its size.

    Raises:
        LeaseHeldError: an engine runs it. One on another host is watched for ``patience`` seconds first.
        StoreError: there is no such study, or the file cannot be written.
    """
    # Here and not at the top: importing sqlite-utils with the schema takes 0.2 s, which `send` should not cost.
    from evaltui.store.schema import STUDY_TABLES, TEXT_COLUMNS

    with closing(connect.writable(path)) as connection, connect.told(path):
        study = study_key(connection, study_id)
        left = insist_free(connection, study, study_id, patience)
        # Everything that refers to a removed row is removed with it. Checking each text for references would read all
        # verdicts once for every text.
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("BEGIN IMMEDIATE")
        insist_untaken(connection, study, study_id, left)
        for table in STUDY_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE study = ?", (study,))
        connection.execute("DELETE FROM studies WHERE key = ?", (study,))
        used = " UNION ".join(
            f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL" for table, column in TEXT_COLUMNS
        )
        connection.execute(f"DELETE FROM texts WHERE key NOT IN ({used})")
        connection.execute("COMMIT")
