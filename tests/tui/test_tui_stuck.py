"""The screen says when results are no longer saved, and when they are again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from screen_world import Workspace, monitor_of, plan_of, screen_text, until

from evaltui.store import connect, lease, saver
from evaltui.tui.app import EvaltuiApp


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_an_engine_that_cannot_save_is_told_until_it_can(
    workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(connect, "BUSY_TIMEOUT_S", 0.05)
    monkeypatch.setattr(saver, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(lease, "SILENT_S", 1.5)
    study = workspace(plan_of(20), share=0.25)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=size) as pilot:
        await monitor_of(app, pilot)
        assert "not saved" not in screen_text(app)
        with closing(sqlite3.connect(study.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await until(pilot, lambda: "! results are not saved (disk full or database locked)" in screen_text(app))
            other.execute("ROLLBACK")
        await until(pilot, lambda: "not saved" not in screen_text(app))
