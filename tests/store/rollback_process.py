"""An engine where no write-ahead log is possible: it writes every cell and ends, or dies within a transaction."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

from study_making import cells_of, outcome_of

from evaltui import store


def write(path: Path, study_id: str) -> None:
    with store.Writer(path, study_id) as writer:
        for cell in cells_of(store.load_plan(path, study_id)):
            writer.cell(outcome_of(cell, text=os.urandom(2000).hex()))
            if cell.position % 20 == 0:
                writer.flush()


def die(path: Path) -> None:
    """Change every page of the file, with more changes than memory holds, and end before the transaction does."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE verdicts SET note = hex(randomblob(500))")
    connection.execute("UPDATE studies SET reason = hex(randomblob(50000))")
    os._exit(9)


if __name__ == "__main__":
    if sys.argv[2:]:
        write(Path(sys.argv[1]), sys.argv[2])
    else:
        die(Path(sys.argv[1]))
