"""Engines killed with -9 at a hundred random moments: what was committed stays, and every study ends as if undisturbed.

``pytest -m slow tests/cli/test_cli_hundred_kills.py -s --count 100``
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from answering_server import AnsweringServer, Place
from evaltui_process import Evaltui, start

N_ITEMS: Final = 60
N_CELLS: Final = N_ITEMS * 2 * 3
KILLS_A_STUDY: Final = 9
COMMITTED_AFTER_S: Final = 0.3
"""An answer sent so long before a kill must be stored: the commit window is 50 ms, the rest is this machine's load."""
PASSING: Final = frozenset(
    {"id", "created", "started", "finished", "latency", "queue_wait_s", "retries", "usage", "endpoint_url"}
)
"""What may differ between two studies with the same seeds: times, ids, and how often was called."""
ABOUT_CALLS: Final = frozenset({"in_flight_differs"})
"""Warnings about how the calls were made, not about what they brought."""

STUDY: Final = """
[study]
name = "{name}"
repeats = 3
concurrency = 8
order_seed = 7
[dataset]
path = "items.jsonl"
gold = "answer"
[endpoints.sim]
kind = "simulator"
base_url = "{url}"
timeout_s = 20
[arms.baseline]
endpoint = "sim"
model = "m"
prompt_text = "{{{{question}}}}"
temperature = 0.5
[arms.candidate]
extends = "baseline"
prompt_text = "Think. {{{{question}}}}"
[scorers.number]
kind = "numeric"
"""


@dataclass
class Tale:
    """What the kills of all studies did."""

    kills: int = 0
    before_the_study: int = 0
    lost_answers: int = 0
    calls: int = 0
    oldest_loss_s: float = 0.0
    studies: int = 0
    stored_at: list[int] = field(default_factory=list)


def rows(db: Path, sql: str) -> list[tuple[Any, ...]]:
    """Read without ever writing; nothing before the tables are there."""
    if not db.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "unable to open" in str(error):
            return []
        raise


def stored(db: Path) -> list[Place]:
    return [(arm, repeat, item) for arm, repeat, item in rows(db, "select arm, repeat, item from v_cells")]


def study_of(db: Path) -> str | None:
    found = rows(db, "select id from studies")
    return str(found[0][0]) if found else None


def begin(folder: Path, db: Path) -> subprocess.Popen[bytes]:
    """The engine, on the study that is there, or on a new one."""
    study = study_of(db)
    verb = ("run", "study.toml") if study is None else ("resume", study)
    return start(folder, *verb, "--headless", "--db", str(db))


def kill_at_random(
    engine: subprocess.Popen[bytes], server: AnsweringServer, chance: random.Random
) -> tuple[bool, float]:
    """Kill the engine at some moment of its start, or of its work; whether it was still alive, and when that was."""
    if chance.random() < 0.15:
        time.sleep(chance.uniform(0, 1.2))
    else:
        before = sum(map(len, server.answered.values()))
        while sum(map(len, server.answered.copy().values())) == before and engine.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.6))
    at = time.monotonic()
    alive = engine.poll() is None
    engine.kill()
    engine.wait()
    return alive, at


def insist_news(server: AnsweringServer, since: float, kept: list[Place]) -> dict[Place, float]:
    """What was answered since then, and when: nothing that had been stored before."""
    answered = {place: times[-1] for place, times in server.answered.copy().items() if times[-1] > since}
    again = answered.keys() & set(kept)
    assert not again, f"{again} were stored and were called again"
    return answered


def insist_nothing_lost(
    db: Path, before: list[Place], answered: dict[Place, float], at: float, tale: Tale
) -> list[Place]:
    """Check what is stored right after a kill, and return it; ``answered`` by the engine that was killed."""
    now = stored(db)
    assert len(set(now)) == len(now), "a cell is stored twice"
    assert set(before) <= set(now), f"{set(before) - set(now)} had been committed and are gone"
    lost = {place: at - moment for place, moment in answered.items() if place not in set(now)}
    for place, age in lost.items():
        assert age < COMMITTED_AFTER_S, f"{place} was answered {age:.2f} s before the kill and is not stored"
    tale.oldest_loss_s = max(tale.oldest_loss_s, *lost.values(), 0.0)
    tale.lost_answers += len(lost)
    tale.stored_at.append(len(now))
    return now


def insist_sound(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert connection.execute("pragma foreign_key_check").fetchall() == []


def lasting(value: Any) -> Any:
    """A report without what may differ."""
    if isinstance(value, dict):
        return {name: lasting(inner) for name, inner in value.items() if name not in PASSING}
    if isinstance(value, list):
        return [lasting(v) for v in value if not (isinstance(v, dict) and v.get("code") in ABOUT_CALLS)]
    return value


def kill_one_study(folder: Path, db: Path, kills: int, chance: random.Random, tale: Tale) -> None:
    """A study that is killed ``kills`` times and then goes on to its end."""
    with AnsweringServer(0.025) as server:
        (folder / "study.toml").write_text(STUDY.format(name="killed", url=server.url), encoding="utf-8")
        kept: list[Place] = []
        while kills:
            server.settle()
            since = time.monotonic()
            engine = begin(folder, db)
            alive, at = kill_at_random(engine, server, chance)
            kept = insist_nothing_lost(db, kept, insist_news(server, since, kept), at, tale)
            if study_of(db) is not None:
                insist_sound(db)
            if not alive:
                break
            kills -= 1
            tale.kills += 1
            tale.before_the_study += study_of(db) is None
        server.settle()
        since = time.monotonic()
        assert begin(folder, db).wait() == 0
        insist_news(server, since, kept)
        tale.calls += sum(map(len, server.answered.values()))
    assert sorted(stored(db)) == sorted(
        (arm, repeat, f"q{n:02}") for arm in ("baseline", "candidate") for repeat in (1, 2, 3) for n in range(N_ITEMS)
    )
    insist_sound(db)
    tale.studies += 1


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(
    tmp_path: Path, evaltui: Evaltui, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    count, seed = pytestconfig.getoption("--count"), random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance, tale = random.Random(seed), Tale()
    items = [{"id": f"q{n:02}", "question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(N_ITEMS)]
    items[1]["question"] = items[0]["question"]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items), encoding="utf-8")

    def report(db: str) -> Any:
        shown = evaltui("report", "latest", "--json", "--db", db)
        assert shown.returncode == 0, shown.stderr
        return lasting(json.loads(shown.stdout))

    with AnsweringServer(0.005) as server:
        (tmp_path / "study.toml").write_text(STUDY.format(name="killed", url=server.url), encoding="utf-8")
        whole = evaltui("run", "study.toml", "--headless", "--json", "--db", "whole.db")
        assert whole.returncode == 0, whole.stderr
    undisturbed = report("whole.db")
    began = time.monotonic()
    while tale.kills < count:
        db = f"killed-{tale.studies}.db"
        kill_one_study(tmp_path, tmp_path / db, min(KILLS_A_STUDY, count - tale.kills), chance, tale)
        assert report(db) == undisturbed
        verified = evaltui("studies", "--verify", "--db", db)
        assert verified.returncode == 0, verified.stdout
    with capsys.disabled():
        print(
            f"\n{tale.kills} kills (seed {seed}) of {tale.studies} studies of {N_CELLS} cells in "
            f"{time.monotonic() - began:.0f} s, {tale.before_the_study} of them before the study was stored: "
            f"{tale.studies * N_CELLS} verdicts, each once; {tale.calls} calls answered, "
            f"{tale.calls - tale.studies * N_CELLS} of them twice; {tale.lost_answers} answers were not yet committed "
            f"at a kill, the oldest for {1000 * tale.oldest_loss_s:.0f} ms"
        )
