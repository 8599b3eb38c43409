"""More repeats for a study, finished or running: what was done is kept, what is added is done."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest
from evaltui_process import Evaltui, start

N_CELLS = 40 * 2 * 3


def one(db: Path, sql: str) -> object:
    """The single value that ``sql`` finds; None before there is a table."""
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=5) as connection:
        try:
            return connection.execute(sql).fetchone()[0]
        except sqlite3.OperationalError:
            return None


def wait_for(db: Path, sql: str, value: object) -> None:
    deadline = time.monotonic() + 60
    while one(db, sql) != value:
        assert time.monotonic() < deadline, f"{sql} is still {one(db, sql)}"
        time.sleep(0.05)


@pytest.mark.usefixtures("study_file")
def test_a_finished_study_goes_on_with_the_repeats_that_are_added(tmp_path: Path, evaltui: Evaltui) -> None:
    before = json.loads(evaltui("run", "study.toml", "--headless", "--json", "--db", "t.db").stdout)
    extended = evaltui("extend", "sums", "--repeats", "+2", "--json", "--db", "t.db")
    assert extended.returncode == 0, extended.stderr
    after = json.loads(extended.stdout)
    assert after["study"]["status"] == "finished"
    assert after["study"]["repeats"] == 5
    for arm in ("baseline", "candidate"):
        runs = after["arms"][arm]["runs"]
        assert [run["repeat"] for run in runs] == [1, 2, 3, 4, 5]
        assert [run["score"] for run in runs[:3]] == [run["score"] for run in before["arms"][arm]["runs"]]
        assert all(sum(run["counts"].values()) == 40 for run in runs)
    assert one(tmp_path / "t.db", "select count(*) from verdicts") == 40 * 2 * 5
    assert one(tmp_path / "t.db", "select text from events where kind = 'extended'") == "3 repeats before, 5 now"
    # The study file still says 3: that takes nothing back.
    again = evaltui("run", "study.toml", "--headless", "--db", "t.db")
    assert again.returncode == 0
    assert "begun with 5 repeats and keeps them" in again.stderr


@pytest.mark.usefixtures("study_file")
def test_a_running_study_does_the_repeats_that_are_added_too(tmp_path: Path, evaltui: Evaltui) -> None:
    db = tmp_path / "t.db"
    engine = start(tmp_path, "run", "study.toml", "--headless", "--db", "t.db")
    try:
        while not db.exists():
            time.sleep(0.02)
        wait_for(db, "select count(*) > 5 from verdicts", 1)
        extended = evaltui("extend", "latest", "--repeats", "+1", "--db", "t.db")
        assert extended.returncode == 0, extended.stderr
        assert "its engine goes on with them" in extended.stderr
        assert engine.wait(timeout=120) == 0
    finally:
        engine.kill()
        engine.wait()
    assert one(db, "select count(*) from verdicts") == N_CELLS + 40 * 2
    assert one(db, "select state from studies") == "finished"


@pytest.mark.usefixtures("study_file")
def test_what_is_no_number_of_repeats_to_add_is_refused(evaltui: Evaltui) -> None:
    evaltui("run", "study.toml", "--headless", "--db", "t.db")
    for wrong in ("3", "+0", "-1", "+1.5", "+x"):
        refused = evaltui("extend", "latest", f"--repeats={wrong}", "--db", "t.db")
        assert refused.returncode == 2
        assert "write +5 for five more" in refused.stderr
    refused = evaltui("extend", "latest", "--repeats", "+998", "--db", "t.db")
    assert refused.returncode == 2
    assert "3 repeats, and 998 more make 1001; at most 1000 are possible" in refused.stderr
    assert evaltui("extend", "nobody", "--repeats", "+1", "--db", "t.db").returncode == 2
