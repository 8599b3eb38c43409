"""Nothing that this process does with a database takes from it the locks that SQLite holds for it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from study_making import make_study

from evaltui import store
from evaltui.store import connect

OPEN_AND_CLOSE = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM studies'); c.close()"


def readable_and_closed(path: Path) -> None:
    connect.readable(path).close()


@pytest.mark.parametrize(
    "use", [connect.identify, readable_and_closed, store.studies], ids=["identify", "readable", "studies"]
)
def test_another_program_that_closes_the_database_leaves_its_log(path: Path, use: Callable[[Path], object]) -> None:
    # The last program to close a database folds its log into it and deletes it; a program whose locks are gone is not
    # counted (https://sqlite.org/howtocorrupt.html, 2.2).
    study_id = make_study(path)
    ours = connect.writable(path)
    ours.execute("UPDATE studies SET name = 'before' WHERE id = ?", (study_id,))
    use(path)
    subprocess.run([sys.executable, "-c", OPEN_AND_CLOSE, str(path)], check=True, timeout=30)
    assert connect.wal(path).exists()
    ours.execute("UPDATE studies SET name = 'after' WHERE id = ?", (study_id,))
    theirs = sqlite3.connect(path)
    assert theirs.execute("SELECT name FROM studies WHERE id = ?", (study_id,)).fetchone() == ("after",)
    theirs.close()
    ours.close()
