"""A study file that runs on the simulator, and evaltui as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from evaltui_process import Evaltui, environment

STUDY = """
[study]
name = "sums"
repeats = 3
concurrency = 8
order_seed = 7

[dataset]
path = "items.jsonl"
gold = "answer"
category = "topic"

[endpoints.sim]
kind = "simulator"
timeout_s = 5
retries = 2

[endpoints.sim.simulator]
seed = 11
latency_s = 0.04
speed = 1.0
faults = { rate_limit = 0.02, server_error = 0.03, unparsable = 0.03, truncated = 0.02, empty = 0.01, refused = 0.01 }
retry_after_s = 0.05

[arms.baseline]
endpoint = "sim"
model = "sim-1"
prompt_text = "{{question}}"
temperature = 0.5

[arms.candidate]
extends = "baseline"
prompt_text = "Think. {{question}}"

[scorers.number]
kind = "numeric"
"""


@pytest.fixture
def evaltui(tmp_path: Path) -> Evaltui:
    """Runs ``evaltui ARGUMENTS`` in ``tmp_path`` and returns the finished process."""

    def call(*arguments: str, timeout: float = 120, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "evaltui", *arguments],
            cwd=tmp_path,
            env=environment() | extra,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return call


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """A study of 40 items, 2 arms and 3 repeats with a few of every fault."""
    rows = [
        {"id": f"q{n:02}", "question": f"What is {n} + {n}?", "answer": str(2 * n), "topic": "even" if n % 2 else "odd"}
        for n in range(40)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path
