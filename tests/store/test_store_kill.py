"""kill -9 loses at most the last moments, and nothing is counted twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

from study_making import make_study

from evaltui import store
from evaltui.core.status import StudyState

Start = Callable[..., subprocess.Popen[str]]


def stored(path: Path) -> int:
    """Cells in the file; each must be whole, with its attempt before it."""
    connection = sqlite3.connect(path)
    ((cells,),) = connection.execute("SELECT count(*) FROM (SELECT DISTINCT run, item FROM verdicts)").fetchall()
    ((rows,),) = connection.execute("SELECT count(*) FROM verdicts").fetchall()
    ((alone,),) = connection.execute(
        "SELECT count(*) FROM verdicts WHERE NOT EXISTS (SELECT 1 FROM attempts"
        " WHERE attempts.run = verdicts.run AND attempts.item = verdicts.item)"
    ).fetchall()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert (rows, alone) == (2 * cells, 0)
    return int(cells)


def test_an_engine_killed_three_times_leaves_every_cell_exactly_once(path: Path, start: Start) -> None:
    n, repeats = 400, 2
    total = 2 * n * repeats
    study = make_study(path, n=n, repeats=repeats)
    chance = random.Random(5)
    before = 0
    for _ in range(3):
        engine = start("writing_process.py", path, study)
        assert engine.stdout is not None
        safe = 0
        for line in engine.stdout:
            if line.startswith("safe"):
                safe = int(line.split()[1])
            if safe and chance.random() < 0.2:
                break
        engine.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, engine.pid, os.WEXITED | os.WNOWAIT)
        assert store.resolve(path, study).crashed
        now = stored(path)
        assert before + safe <= now < total
        before = now
    last = start("writing_process.py", path, study)
    output, _ = last.communicate()
    assert output.endswith("ended\n")
    assert stored(path) == total
    assert store.resolve(path, study).state is StudyState.FINISHED
    assert [event.kind for event in store.events(path, study)] == ["resumed"] * 3
