"""A database that another program holds locked is waited for."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from evaltui_process import Evaltui, environment

from evaltui import store
from evaltui.cli.launch import check


@pytest.mark.usefixtures("study_file")
def test_an_engine_waits_for_the_lock_and_runs_what_the_study_has_become_by_then(
    tmp_path: Path, evaltui: Evaltui
) -> None:
    db, extended = tmp_path / "t.db", tmp_path / "extended.db"
    study = store.open_study(db, check(tmp_path / "study.toml", repeats=1).plan).study_id
    shutil.copy(db, extended)
    store.open_study(extended, check(tmp_path / "study.toml", repeats=2).plan)
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("ATTACH ? AS extended", (str(extended),))
        other.execute("BEGIN IMMEDIATE")
        engine = subprocess.Popen(
            [sys.executable, "-m", "evaltui", "resume", study, "--headless", "--json", "--db", "t.db"],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert engine.stderr is not None
        while "another program holds the database locked; waiting for it" not in engine.stderr.readline():
            assert engine.poll() is None
        other.execute("UPDATE main.studies SET design = (SELECT design FROM extended.studies)")
        other.execute("INSERT INTO main.runs SELECT * FROM extended.runs WHERE repeat = 2")
        other.execute("COMMIT")
    report, _ = engine.communicate()
    assert engine.returncode == 0
    for arm in json.loads(report)["arms"].values():
        assert [sum(run["counts"].values()) for run in arm["runs"]] == [40, 40]
