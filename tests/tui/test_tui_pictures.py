"""Pictures of the screens: compared with those that were looked at and committed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from screen_world import NOON, Bench, Workspace, monitor_of, plan_of, until, write_study_file
from textual.app import App
from textual.widgets import Input

from evaltui import store
from evaltui.core.records import Event
from evaltui.core.status import StudyState
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.screens.item import ItemScreen
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger

Compare = Callable[[App[Any]], None]
Make = Callable[..., Workspace]


@pytest.fixture
def study(workspace: Make) -> Workspace:
    made = workspace(plan_of(repeats=8), share=0.62)
    text = "endpoint main asked for a pause of 2 s"
    made.writer.event(Event(NOON + 40, "rate", text, level="warning", arm="candidate", repeat=2))
    made.writer.flush()
    return made


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_monitor(study: Workspace, looks_like: Compare, size: tuple[int, int]) -> None:
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=size) as pilot:
        await monitor_of(app, pilot)
        looks_like(app)


@pytest.mark.parametrize("theme", ["light", "colour-blind-safe", "monochrome"])
async def test_a_theme(study: Workspace, looks_like: Compare, theme: str) -> None:
    app = EvaltuiApp(study.path, study_id=study.study_id, theme=theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        looks_like(app)


@pytest.mark.parametrize("key", ["1", "3"])
async def test_a_pane_where_there_is_room_for_one(study: Workspace, looks_like: Compare, key: str) -> None:
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press(key)
        await pilot.pause()
        looks_like(app)


async def test_an_item(study: Workspace, looks_like: Compare) -> None:
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ItemScreen) and app.screen.answers is not None)
        await pilot.pause()
        looks_like(app)


async def test_the_ledger(workspace: Make, looks_like: Compare) -> None:
    workspace(plan_of(60, name="judge swap"), share=0.3, state=StudyState.PAUSED)
    workspace(plan_of(60, name="gsm8k nightly"), share=1.0, state=StudyState.FINISHED).writer.close()
    workspace(plan_of(60, name="lost its engine"), share=0.2).writer.close()
    last = workspace(plan_of(60), share=0.62)
    begun = store.resolve(last.path, last.study_id).created
    app = EvaltuiApp(last.path, launcher=Bench(last.path), clock=lambda: begun)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger) and len(app.screen.headlines) == 4)
        await pilot.pause()
        looks_like(app)


async def test_a_study_before_it_is_started(
    tmp_path: Path, looks_like: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Launch))
        screen = app.screen
        assert isinstance(screen, Launch)
        screen.query_one("#path", Input).value = "sums.toml"
        await pilot.press("enter")
        await until(pilot, lambda: screen.preview is not None)
        await pilot.pause()
        looks_like(app)
