"""A study that warms up, killed half-way through that, ends with the numbers of one that does not."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from evaltui_process import Evaltui, start

N_ITEMS, N_CELLS = 40, 40 * 2 * 3


def rows(db: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql).fetchall()


def numbers(document: dict[str, Any]) -> Any:
    """What does not depend on when the calls were made."""
    arms = {
        name: {k: v for k, v in arm.items() if k not in ("runs", "notes")} for name, arm in document["arms"].items()
    }
    scores = {name: [(run["repeat"], run["score"]) for run in arm["runs"]] for name, arm in document["arms"].items()}
    comparison = {k: v for k, v in document["comparison"].items() if k != "sentence"}
    return arms, scores, comparison, document["progress"]


def test_warm_up_runs_are_recorded_resumed_and_in_no_number(tmp_path: Path, study_file: Path, evaltui: Evaltui) -> None:
    cold = evaltui("run", "study.toml", "--headless", "--json", "--db", "cold.db")
    text = study_file.read_text(encoding="utf-8").replace("repeats = 3", "repeats = 3\nwarmup = 2", 1)
    study_file.write_text(text, encoding="utf-8")
    db = tmp_path / "warm.db"
    engine = start(tmp_path, "run", "study.toml", "--headless", "--db", "warm.db")
    while not db.exists() or not rows(db, "select 1 from sqlite_master where name = 'verdicts'"):
        time.sleep(0.02)
    while rows(db, "select count(*) from verdicts")[0][0] < N_ITEMS:
        time.sleep(0.01)
    engine.kill()
    engine.wait()
    assert rows(db, "select count(*) from verdicts")[0][0] < 4 * N_ITEMS

    half = json.loads(evaltui("report", "latest", "--json", "--db", "warm.db").stdout)
    assert half["progress"]["done"] == 0
    assert [run["done"] for arm in half["arms"].values() for run in arm["runs"]] == [0] * len(half["arms"]) * 3
    warm = evaltui("run", "study.toml", "--headless", "--json", "--db", "warm.db")
    assert warm.returncode == 0, warm.stderr
    assert " of 240" in warm.stderr
    assert f"0 of {N_CELLS} cells were done" in rows(db, "select text from events where kind = 'resumed'")[0][0]

    document = json.loads(warm.stdout)
    assert numbers(document) == numbers(json.loads(cold.stdout))
    (notice,) = [each["text"] for each in document["warnings"] if each["code"] == "warmup"]
    assert notice == (
        "2 warm-up runs of each arm are in no score, band or counter; "
        "their calls are part of the requests and of the cost"
    )
    assert [(document["usage"]["requests"],)] == rows(db, "select count(*) from v_attempts")
    assert document["usage"]["cost"] == pytest.approx(rows(db, "select coalesce(sum(cost), 0) from v_attempts")[0][0])
    assert document["pins"]["baseline"]["warmup"] == 2
    kinds = rows(db, "select repeat, kind, done from v_runs where arm = 'baseline' order by repeat")
    assert kinds == [(r, "warmup" if r < 1 else "end-to-end", N_ITEMS) for r in (-1, 0, 1, 2, 3)]
    assert rows(db, "select count(*) from v_cells where kind = 'warmup'") == [(4 * N_ITEMS,)]
    assert rows(db, "select count(*) >= 160 from v_attempts where kind = 'warmup'") == [(1,)]
    assert rows(db, "select max(done) from v_items") == [(3,)]
    verified = evaltui("studies", "--verify", "--db", "warm.db")
    assert verified.returncode == 0, verified.stdout

    more = evaltui("extend", "latest", "--repeats", "+1", "--headless", "--json", "--db", "warm.db")
    assert more.returncode == 0, more.stderr
    assert rows(db, "select count(*) from v_runs where kind = 'warmup'") == [(4,)]
    assert json.loads(more.stdout)["progress"]["done"] == 4 * 2 * N_ITEMS
