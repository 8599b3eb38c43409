"""Keeps everybody out of a database, readers too, until its input ends."""

from __future__ import annotations

import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("UPDATE studies SET name = name")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
