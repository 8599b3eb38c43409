"""Whether the file that is open is still the one under its name: an open file outlives its deletion."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from evaltui.core.errors import StoreError


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells a file from every other one."""

    device: int
    inode: int


def file_at(path: Path) -> FileIdentity | None:
    """The file that a path leads to now; None where there is none or it cannot be looked at."""
    try:
        return _looked_at(path)
    except OSError:
        return None


def path_of(connection: sqlite3.Connection) -> Path:
    """The main file of a connection."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def insist_there(path: Path, opened: FileIdentity | None) -> None:
    """Refuse to go on writing into a file that no reader can find any more.

    Raises:
        StoreError: the file was deleted, or another one has taken its place.
    """
    try:
        found = _looked_at(path)
    except FileNotFoundError:
        raise StoreError(f"{path} was deleted while the study ran: results can no longer be kept") from None
    except OSError:
        return
    if found != opened:
        raise StoreError(f"{path} was replaced while the study ran: results can no longer be kept")


def _looked_at(path: Path) -> FileIdentity:
    found = path.stat()
    return FileIdentity(found.st_dev, found.st_ino)
