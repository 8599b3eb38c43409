"""Another program that packs a database again and again until its input ends."""

from __future__ import annotations

import contextlib
import select
import sqlite3
import sys
import time

connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=1)
packed = 0
print("packing", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("VACUUM")
        packed += 1
    time.sleep(0.05)
print(packed, flush=True)
