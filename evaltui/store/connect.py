"""Connections to a workspace file: recognised before it is touched, and every failure told in a sentence."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from evaltui.core.errors import StoreError

APPLICATION_ID: Final = 0x45564C54
"""``PRAGMA application_id`` of a workspace file: "EVLT"."""

SCHEMA_VERSION: Final = 2
"""``PRAGMA user_version`` of a workspace file, raised by every migration."""

MIGRATIONS: Final = ("m001_first", "m002_in_flight")
"""The migrations of :mod:`evaltui.store.schema`, by the names under which a workspace file records them."""

BUSY_TIMEOUT_S: Final = 5.0
LOOKS: Final = 3
LOOK_AGAIN_S: Final = 0.02


class LockedError(StoreError):
    """Another program holds the database locked: the same may be tried again."""


Synchronous = Literal["NORMAL", "FULL"]


def writable(path: Path, *, synchronous: Synchronous = "NORMAL") -> sqlite3.Connection:
    """A read-write connection to an existing workspace file, in autocommit mode, usable from any one thread at a time.

    Raises:
        StoreError: the file is missing, not ours, newer than this evaltui, or cannot be written.
    """
    identify(path)
    with told(path):
        return open_writable(path, synchronous=synchronous)


def readable(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, in autocommit mode: fetch at once and no read transaction stays open.

    Raises:
        StoreError: the file is missing, not ours, newer than this evaltui, or cannot be read.
    """
    if not identify(path):
        raise StoreError(f"{path} is empty: it holds no studies yet")
    with told(path):
        return _open_readable(path, immutable=closed_and_read_only(path))


def missing(path: Path) -> bool:
    """Whether there is nothing at ``path``; False where that cannot be told, which :func:`identify` then says."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def identify(path: Path) -> bool:
    """Whether the file is a workspace of ours (True), or an empty database that can become one (False).

    Nothing is written, not even beside the file; only what a program left half written when it was killed is taken
    back, as whatever opens the file must.

    Raises:
        StoreError: it is missing, a folder, not a SQLite database, another program's, or newer than this evaltui.
    """
    _insist_on_file(path)
    with told(path):
        application, version, objects, unknown = _looked_into(path)
    if application == 0 and objects == 0:
        return False
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; nothing was written to it")
    if version > SCHEMA_VERSION or unknown:
        newer = f"schema {version}" if version > SCHEMA_VERSION else f"migration {', '.join(unknown)}"
        known = SCHEMA_VERSION if version > SCHEMA_VERSION else MIGRATIONS[-1]
        raise StoreError(
            f"{path} was written by a newer evaltui ({newer}, this one knows {known}): "
            "upgrade evaltui, or name another file with --db"
        )
    return True


def _looked_into(path: Path) -> tuple[int, int, int, list[str]]:
    """Application, version, number of tables and the like, and the migrations that this evaltui does not have."""
    for left in reversed(range(LOOKS)):
        journal = path.with_name(path.name + "-journal").exists()
        if journal:
            _settle(path)
        # With neither file there is nothing to lock against, unless somebody begins to write at this moment and has no
        # write-ahead log: then half of what is written looks like damage, and the next look tells.
        connection = _open_readable(path, immutable=not journal and not wal(path).exists())
        try:
            ((application,),) = connection.execute("PRAGMA application_id")
            ((version,),) = connection.execute("PRAGMA user_version")
            ((objects,),) = connection.execute("SELECT count(*) FROM sqlite_master")
            unknown = _unknown_migrations(connection) if application == APPLICATION_ID else []
            return application, version, objects, unknown
        except sqlite3.DatabaseError as error:
            if not left or primary_code(error) != sqlite3.SQLITE_CORRUPT:
                raise
        finally:
            connection.close()
        time.sleep(LOOK_AGAIN_S)
    raise AssertionError("the last look returns or raises")


def _settle(path: Path) -> None:
    """Take back what a killed program left half written, where there is no write-ahead log: no reader may do it."""
    connection = sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True, timeout=BUSY_TIMEOUT_S)
    with suppress(sqlite3.Error), closing(connection):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()


def _unknown_migrations(connection: sqlite3.Connection) -> list[str]:
    """Migrations that were applied to the file and that this evaltui does not have."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchall():
        return []
    applied = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'evaltui'").fetchall()
    return sorted(str(name) for (name,) in applied if name not in MIGRATIONS)


def open_writable(path: Path, *, synchronous: Synchronous = "NORMAL") -> sqlite3.Connection:
    """A bare read-write connection, the file created where there is none. For callers that have identified it."""
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=rwc",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def schema_version(connection: sqlite3.Connection) -> int:
    """Which version of the schema the file has; one that is only read stays as old as it is."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    return int(version)


def enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, waiting for others who are opening the file at this moment.

    A file system that cannot do it keeps its rollback journal: slower to follow, no less safe.
    """
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def wal(path: Path) -> Path:
    """The write-ahead log beside a database."""
    return path.with_name(path.name + "-wal")


def closed_and_read_only(path: Path) -> bool:
    """Whether nobody has the database open and no file can be made beside it, which is when SQLite itself gives up."""
    if wal(path).exists() or os.access(path.absolute().parent, os.W_OK):
        return False
    with closing(_open_readable(path, immutable=False)) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except sqlite3.OperationalError as error:
            # A reader cannot take back what is half written either, but that must not be read.
            half_written = error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK
            return not half_written and primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
    # It has no write-ahead log: whoever writes it locks the file itself, and an immutable look would see nothing new.
    return False


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite says into a sentence that names the file.

    Raises:
        LockedError: another program holds the database locked.
        StoreError: for any other ``sqlite3.Error``, and for compressed text that cannot be read back.
    """
    try:
        yield
    except sqlite3.Error as error:
        kind = LockedError if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) else StoreError
        raise kind(f"{path}: {sentence(error)}") from error
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: {DAMAGED}") from error


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or 0 where the driver itself raised."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


DAMAGED: Final = "the database is damaged; keep a copy, then save what can be read with `sqlite3 FILE .recover`"
SENTENCES: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_BUSY: "another program holds the database locked",
    sqlite3.SQLITE_LOCKED: "another program holds the database locked",
    sqlite3.SQLITE_READONLY: "the file or its folder cannot be written",
    sqlite3.SQLITE_PERM: "access was refused",
    sqlite3.SQLITE_CANTOPEN: "the file, or one beside it, cannot be opened",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: "this is not a SQLite database; nothing was written to it",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
}


def sentence(error: sqlite3.Error) -> str:
    """What happened, in words; SQLite's own where there are none better."""
    return SENTENCES.get(primary_code(error), str(error))


def _open_readable(path: Path, *, immutable: bool) -> sqlite3.Connection:
    query = "?mode=ro&immutable=1" if immutable else "?mode=ro"
    connection = sqlite3.connect(
        path.absolute().as_uri() + query,
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only=ON")
    return connection


def _insist_on_file(path: Path) -> None:
    """Raise StoreError unless ``path`` is a regular file that may be read.

    It is looked at, never opened: closing any descriptor of a file drops the POSIX locks that this process holds on it,
    those of SQLite too, and the next program to close the database then deletes the log under our feet
    (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StoreError(f"{path}: there is no such database") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder, not a database file")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path} is not a regular file")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path} cannot be read: {os.strerror(errno.EACCES)}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
