"""Workspace files as an older evaltui left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from evaltui.store import connect
from evaltui.store.schema import migrations


def make_schema_1(path: Path) -> None:
    """Turn a workspace file into one of schema 1 with the same rows: made by its migration, columns it lacks left out.

    One of its views is there too, as it was or not: those are made anew.
    """
    newer = path.with_name("newer.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    path.rename(newer)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrations.apply(Database(connection, execute_plugins=False), stop_before=connect.MIGRATIONS[1])
        connection.execute("CREATE VIEW v_attempts AS SELECT key, run, item FROM attempts")
        connection.execute("ATTACH ? AS newer", (str(newer),))
        for table in tables(connection):
            columns = ", ".join(columns_of(connection, table))
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM newer.{table}")
        connection.execute("DETACH newer")
        connection.execute("PRAGMA journal_mode=WAL")
    newer.unlink()


def tables(connection: sqlite3.Connection) -> list[str]:
    """The tables of evaltui, without those that SQLite and the migrations keep."""
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_%'"
        " ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return [name for (name,) in rows]


def columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})").fetchall()]


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, as far as schema 1 knows its columns."""
    later = {"in_flight", "environment"}
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(
                f"SELECT {', '.join(name for name in columns_of(connection, table) if name not in later)} FROM {table}"
            ).fetchall()
            for table in tables(connection)
        }
