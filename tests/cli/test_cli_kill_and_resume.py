"""A study killed with -9 and started again ends as if nothing had happened."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from evaltui_process import Evaltui, start

N_CELLS = 40 * 2 * 3
PASSING = ("started", "finished", "latency", "queue_wait_s", "retries")


def verdicts(db: Path) -> int:
    """Terminal verdicts on disk; 0 before there is a table."""
    if not db.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=5) as connection:
            return int(connection.execute("select count(*) from verdicts").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def run_and_kill(folder: Path, db: Path, target: int) -> None:
    """Start the study and kill its engine with -9 once ``target`` verdicts are stored."""
    engine = start(folder, "run", "study.toml", "--headless", "--db", str(db))
    try:
        while verdicts(db) < target and engine.poll() is None:
            time.sleep(0.005)
    finally:
        engine.kill()
        engine.wait()


def lasting(document: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on interruptions: arms and comparison without clocks and retries."""
    arms = {
        name: arm | {"runs": [{k: v for k, v in run.items() if k not in PASSING} for run in arm["runs"]]}
        for name, arm in document["arms"].items()
    }
    return {"arms": arms, "comparison": document["comparison"]}


def test_three_kills_change_nothing(tmp_path: Path, study_file: Path, evaltui: Evaltui) -> None:
    undisturbed = evaltui("run", "study.toml", "--headless", "--json", "--db", "whole.db")
    assert undisturbed.returncode == 0, undisturbed.stderr

    db = tmp_path / "killed.db"
    for target in sorted(random.Random(5).sample(range(10, N_CELLS - 20), 3)):
        run_and_kill(tmp_path, db, target)
    assert 0 < verdicts(db) < N_CELLS
    resumed = evaltui("run", "study.toml", "--headless", "--json", "--db", "killed.db")

    assert resumed.returncode == 0, resumed.stderr
    assert verdicts(db) == N_CELLS
    assert lasting(json.loads(resumed.stdout)) == lasting(json.loads(undisturbed.stdout))


@pytest.mark.usefixtures("study_file")
def test_a_finished_study_says_so_and_does_nothing(tmp_path: Path, evaltui: Evaltui) -> None:
    evaltui("run", "study.toml", "--headless", "--db", "t.db")
    again = evaltui("run", "study.toml", "--headless", "--db", "t.db")
    assert again.returncode == 0
    assert "finished already" in again.stderr
    assert verdicts(tmp_path / "t.db") == N_CELLS
