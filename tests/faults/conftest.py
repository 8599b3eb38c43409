"""A whole study against a scripted endpoint: the real command, a real server, a real database."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Played:
    """How a study ended. ``cells``: (item, repeat) -> (status, attempts); ``calls``: one row per attempt, in order."""

    code: int
    stdout: str
    stderr: str
    folder: Path
    asked: list[dict[str, Any]]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "t.db")) as connection:
            return connection.execute(sql).fetchall()

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.stdout)

    @property
    def run(self) -> dict[str, Any]:
        """The first run of the baseline, as the report has it."""
        return self.report["arms"]["baseline"]["runs"][0]

    @property
    def cells(self) -> dict[tuple[str, int], tuple[str, int]]:
        found = self.rows("select item, repeat, status, attempts from v_cells where is_primary")
        return {(item, repeat): (status, attempts) for item, repeat, status, attempts in found}

    @property
    def calls(self) -> list[tuple[str, str]]:
        return self.rows("select item, status from v_attempts order by started, number")

    @property
    def events(self) -> list[tuple[str, str]]:
        return self.rows("select kind, text from events order by key")


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


@pytest.fixture
def play(scripted: Callable[[str], str], tmp_path: Path) -> Callable[..., Played]:
    """``play("C_truncated", ["Q1", "Q2"], retries=1)``: the study of one arm that asks those questions."""

    def run(
        script: str,
        questions: list[str],
        *,
        study: dict[str, object] | None = None,
        endpoint: dict[str, object] | None = None,
        arm: dict[str, object] | None = None,
        scorer: dict[str, object] | None = None,
        environ: dict[str, str] | None = None,
        url: Callable[[str], str] = str,
    ) -> Played:
        server = scripted(script)
        rows = [
            {"id": f"{question}.{place}", "question": question, "answer": "4"}
            for place, question in enumerate(questions)
        ]
        (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        tables: dict[str, dict[str, object]] = {
            "study": {"name": "faults", "repeats": 1, "concurrency": 4, **(study or {})},
            "dataset": {"path": "items.jsonl", "gold": "answer"},
            "endpoints.main": {
                "kind": "openai",
                "base_url": url(server),
                "timeout_s": 20,
                "retries": 1,
                **(endpoint or {}),
            },
            "arms.baseline": {"endpoint": "main", "model": "m", "prompt_text": "{{question}}", **(arm or {})},
            "scorers.s": {"kind": "numeric", **(scorer or {})},
        }
        lines = [
            f"[{name}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in table.items()) for name, table in tables.items()
        ]
        (tmp_path / "study.toml").write_text("\n".join(lines), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("EVALTUI")}
        ended = subprocess.run(
            [sys.executable, "-m", "evaltui", "run", "study.toml", "--headless", "--json", "--db", "t.db"],
            cwd=tmp_path,
            env=kept | {"COLUMNS": "200", "NO_COLOR": "1"} | (environ or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        host = server.split("/v1")[0]
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{host}/_log") as answer:
            asked = json.load(answer)
        return Played(ended.returncode, ended.stdout, ended.stderr, tmp_path, asked)

    return run
