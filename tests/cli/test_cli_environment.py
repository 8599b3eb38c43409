"""What the command line keeps of a session: its environment, the calls in flight, and files of an older evaltui."""

from __future__ import annotations

import json
import platform
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from evaltui_process import Evaltui


def rows(db: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.usefixtures("study_file")
def test_a_run_tells_its_environment_once_and_a_change_when_it_goes_on(tmp_path: Path, evaltui: Evaltui) -> None:
    db = tmp_path / "t.db"
    assert evaltui("run", "study.toml", "--headless", "--db", "t.db").returncode == 0
    ((told,),) = rows(db, "SELECT text FROM events WHERE kind LIKE 'environment%'")
    assert str(told).startswith(f"python {platform.python_version()}, platform ")
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute("UPDATE studies SET environment = json_set(environment, '$.python', '3.9.0')")
    assert evaltui("extend", "sums", "--repeats", "+1", "--json", "--db", "t.db").returncode == 0
    ((changed, level),) = rows(db, "SELECT text, level FROM events WHERE kind = 'environment_changed'")
    assert str(changed).startswith(f"python 3.9.0 before, {platform.python_version()} now (digest ")
    assert level == "warning"


@pytest.mark.usefixtures("study_file")
def test_calls_in_flight_are_stored_and_reported_up_to_the_concurrency(tmp_path: Path, evaltui: Evaltui) -> None:
    document = json.loads(evaltui("run", "study.toml", "--headless", "--json", "--db", "t.db").stdout)
    ((least, most, unknown),) = rows(
        tmp_path / "t.db", "SELECT min(in_flight), max(in_flight), sum(in_flight IS NULL) FROM attempts"
    )
    assert (least, most, unknown) == (1, 8, 0)
    runs = [run for arm in document["usage"]["arms"].values() for run in arm]
    assert all(1 < run["in_flight"] <= 8 for run in runs)
    assert [run["cached_tokens"] for run in runs] == [0] * 6
    assert "requests_differ" not in {warning["code"] for warning in document["warnings"]}


@pytest.mark.usefixtures("study_file")
@pytest.mark.parametrize("verb", ["run", "resume", "extend"])
def test_a_file_of_schema_1_is_reported_as_it_is_and_taken_up(tmp_path: Path, evaltui: Evaltui, verb: str) -> None:
    db = tmp_path / "t.db"
    assert evaltui("run", "study.toml", "--repeats", "2", "--headless", "--db", "t.db").returncode == 0
    before = rows(db, "SELECT key, run, item, status, cost FROM attempts")
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        for view in ("v_items", "v_runs", "v_attempts", "v_cells"):
            connection.execute(f"DROP VIEW {view}")
        connection.execute("ALTER TABLE attempts DROP COLUMN in_flight")
        connection.execute("ALTER TABLE studies DROP COLUMN environment")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'm002_in_flight'")
        connection.execute("PRAGMA user_version = 1")
        if verb == "resume":
            connection.execute("UPDATE studies SET state = 'stopped'")
            connection.execute("DELETE FROM verdicts WHERE key > 100")
    report = json.loads(evaltui("report", "sums", "--format", "json", "--db", "t.db").stdout)
    assert {run["in_flight"] for arm in report["usage"]["arms"].values() for run in arm} == {None}
    assert rows(db, "PRAGMA user_version") == [(1,)]
    arguments = {
        "run": ("run", "study.toml", "--headless"),
        "resume": ("resume", "sums", "--headless"),
        "extend": ("extend", "sums", "--repeats", "+1", "--headless"),
    }[verb]
    ended = evaltui(*arguments, "--db", "t.db")
    assert ended.returncode == 0, ended.stderr
    assert rows(db, "PRAGMA user_version") == [(2,)]
    after = rows(db, "SELECT key, run, item, status, cost FROM attempts")
    assert (after[: len(before)], len(after) > len(before)) == (before, True)
    assert rows(db, "SELECT count(*) FROM v_attempts WHERE in_flight IS NULL") == [(len(before),)]
