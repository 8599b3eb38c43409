"""Whether the file that is open is still the one under its name: an open file outlives its deletion."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from evaltui.core.errors import StoreError


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """A database file by device and inode, as it was when it was opened."""

    path: Path
    device: int
    inode: int

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> FileIdentity:
        """The main file of a connection that was just opened."""
        path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        found = path.stat()
        return cls(path, found.st_dev, found.st_ino)

    def insist_there(self) -> None:
        """Refuse to go on writing into a file that no reader can find any more.

        Raises:
            StoreError: the file was deleted, or another one has taken its place.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise StoreError(f"{self.path} was deleted while the study ran: results can no longer be kept") from None
        except OSError:
            return
        if (found.st_dev, found.st_ino) != (self.device, self.inode):
            raise StoreError(f"{self.path} was replaced while the study ran: results can no longer be kept")
