"""The screen in front of a real engine process."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from screen_world import STUDY_FILE, monitor_of, until, write_study_file
from textual.widgets import Input

from evaltui import store
from evaltui.cli.launch import EngineLauncher
from evaltui.core.status import StudyState
from evaltui.report.read import read
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger


async def test_a_study_is_launched_watched_to_its_end_and_reported_alike(tmp_path: Path) -> None:
    file = write_study_file(tmp_path, STUDY_FILE.replace("seed = 1", "seed = 1\nspeed = 20"))
    path = tmp_path / "t.db"
    app = EvaltuiApp(path, launcher=EngineLauncher(path))
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Launch))
        screen = app.screen
        assert isinstance(screen, Launch)
        screen.query_one("#path", Input).value = str(file)
        await pilot.press("enter")
        await until(pilot, lambda: screen.preview is not None)
        await pilot.press("ctrl+s")
        monitor = await monitor_of(app, pilot)

        def finished() -> bool:
            snapshot = monitor.snapshot
            return snapshot is not None and snapshot.summary.info.state is StudyState.FINISHED

        await until(pilot, finished)
        assert monitor.snapshot is not None
        shown = monitor.snapshot.summary
    assert shown.progress.done == shown.progress.total == 18
    reported = read(path, shown.info.id)
    assert replace(shown, info=reported.info) == reported


async def test_what_the_follower_holds_is_what_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    plan = EngineLauncher(path)
    study_id = plan.start(write_study_file(tmp_path, STUDY_FILE.replace("seed = 1", "seed = 1\nspeed = 20")))
    app = EvaltuiApp(path, study_id=study_id)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor = await monitor_of(app, pilot)
        await until(pilot, lambda: monitor.snapshot is not None and monitor.snapshot.summary.progress.done == 18)
        assert monitor.snapshot is not None
        shade = monitor.snapshot.heat.shade
    with closing(store.Follower(path, study_id)) as follower:
        delta = follower.poll()
    assert delta is not None
    assert (shade > 0).sum() == len(delta.cells) == 18
