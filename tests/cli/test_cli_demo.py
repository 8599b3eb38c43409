"""The main job with nothing to configure."""

from __future__ import annotations

import json
from pathlib import Path

from evaltui_process import Evaltui

KEYS = {"study", "pins", "arms", "comparisons", "comparison", "categories", "warnings"}


def test_the_demo_accounts_for_every_cell(evaltui: Evaltui) -> None:
    done = evaltui("demo", "--headless", "--json", "--items", "40", "--repeats", "3", "--speed", "50", "--db", "d.db")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) >= KEYS
    assert list(document["arms"]) == ["baseline", "candidate"]
    for arm in document["arms"].values():
        assert [run["repeat"] for run in arm["runs"]] == [1, 2, 3]
        assert [sum(run["counts"].values()) for run in arm["runs"]] == [40, 40, 40]


def test_the_demo_is_the_same_for_the_same_seed_at_any_speed(evaltui: Evaltui) -> None:
    def scores(speed: str, db: str) -> list[float]:
        arguments = ("demo", "--json", "--items", "30", "--repeats", "2", "--speed", speed, "--db", db)
        document = json.loads(evaltui(*arguments).stdout)
        return [run["score"] for arm in document["arms"].values() for run in arm["runs"]]

    assert scores("50", "a.db") == scores("200", "b.db")


def test_without_a_terminal_the_demo_runs_headless_and_says_so(evaltui: Evaltui, tmp_path: Path) -> None:
    done = evaltui("demo", "--items", "12", "--repeats", "2", "--speed", "50", XDG_DATA_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "running headless" in done.stderr
    assert "baseline" in done.stdout
    assert (tmp_path / "evaltui" / "demo.db").exists()
    assert "\x1b" not in done.stdout
