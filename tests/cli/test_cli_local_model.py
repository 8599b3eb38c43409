"""A real model behind a real server: docs/development.md says how to start one."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest
from evaltui_process import Evaltui

SAMPLES = Path(__file__).resolve().parents[2] / "sample_configs"

pytestmark = pytest.mark.model


@pytest.fixture
def served() -> None:
    """Skips unless something listens where ``sample_configs/local_model.toml`` expects the model."""
    try:
        socket.create_connection(("127.0.0.1", 8123), timeout=2).close()
    except OSError:
        pytest.skip("no model is served at 127.0.0.1:8123")


@pytest.mark.usefixtures("served")
def test_a_real_model_flips_and_every_cell_is_accounted_for(tmp_path: Path, evaltui: Evaltui) -> None:
    shutil.copytree(SAMPLES, tmp_path / "samples")
    done = evaltui("run", "samples/local_model.toml", "--json", "--db", "t.db", timeout=1200)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    for arm in document["arms"].values():
        assert [sum(run["counts"].values()) for run in arm["runs"]] == [40, 40, 40]
        assert arm["flips"]["items_that_flip"] > 0
    assert document["comparison"]["n_items"] + document["comparison"]["n_left_out"] == 40
