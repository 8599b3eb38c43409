"""The ledger of studies and the launch screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from screen_world import STUDY_FILE, Bench, Workspace, monitor_of, plan_of, screen_text, until, write_study_file
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input

from evaltui import store
from evaltui.core.status import StudyState
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger
from evaltui.tui.table import Table

Make = Callable[..., Workspace]


async def ledger_of(app: EvaltuiApp, pilot: Pilot[None], count: int) -> Ledger:
    await until(pilot, lambda: isinstance(app.screen, Ledger) and len(app.screen.headlines) == count)
    screen = app.screen
    assert isinstance(screen, Ledger)
    await pilot.pause()
    return screen


async def test_what_runs_stands_on_top_then_the_latest(workspace: Make) -> None:
    running = workspace(plan_of(10, name="runs"), share=0.5)
    old = workspace(plan_of(10, name="old"), share=1.0, state=StudyState.FINISHED)
    new = workspace(plan_of(10, name="new"), share=1.0, state=StudyState.FINISHED)
    old.writer.close()
    new.writer.close()
    app = EvaltuiApp(running.path)
    async with app.run_test(size=(120, 40)) as pilot:
        ledger = await ledger_of(app, pilot, 3)
        keys = [row.key for row in ledger.query_one(Table).rows]
        assert keys == [running.study_id, new.study_id, old.study_id]


async def test_a_row_says_state_name_headline_and_arms(workspace: Make) -> None:
    study = workspace(plan_of(60, name="nightly"), share=1.0, state=StudyState.FINISHED)
    app = EvaltuiApp(study.path)
    async with app.run_test(size=(160, 40)) as pilot:
        await ledger_of(app, pilot, 1)
        line = next(line for line in screen_text(app).splitlines() if "nightly" in line)
        for word in ("finished", " to ", "baseline, candidate", "60", study.study_id):
            assert word in line


async def test_a_study_that_starts_while_one_looks_appears(workspace: Make) -> None:
    study = workspace(plan_of(10, name="first"), share=0.5)
    app = EvaltuiApp(study.path)
    async with app.run_test(size=(120, 40)) as pilot:
        await ledger_of(app, pilot, 1)
        workspace(plan_of(10, name="second"), share=0.5)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "second" in screen_text(app))


async def test_enter_opens_the_study_under_the_cursor_and_escape_comes_back(workspace: Make) -> None:
    study = workspace(plan_of(10), share=0.5)
    app = EvaltuiApp(study.path)
    async with app.run_test(size=(120, 40)) as pilot:
        ledger = await ledger_of(app, pilot, 1)
        await pilot.press("enter")
        await monitor_of(app, pilot)
        await pilot.press("escape")
        assert app.screen is ledger


async def test_an_empty_ledger_says_how_to_begin(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "none.db", launcher=Bench(tmp_path / "none.db"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "evaltui demo" in screen_text(app))
        assert "starts one from a study file" in screen_text(app)
        assert all(line[0] == line[-1] == "│" for line in screen_text(app).splitlines()[2:-2])
        await pilot.press("enter", "down", "end")
    assert not (tmp_path / "none.db").exists()


async def test_the_first_study_of_a_file_appears_under_the_cursor(workspace: Make) -> None:
    app = EvaltuiApp(Path("t.db"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "No studies yet" in screen_text(app))
        study = workspace(plan_of(10, name="first"), share=0.5)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "first" in screen_text(app))
        await pilot.press("enter")
        monitor = await monitor_of(app, pilot)
        assert monitor.snapshot is not None
        assert monitor.snapshot.summary.info.id == study.study_id


async def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("these are notes")
    app = EvaltuiApp(path)
    async with app.run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: "is not a SQLite database" in screen_text(app))
    assert path.read_text() == "these are notes"


async def test_without_a_launcher_nothing_is_launched(workspace: Make) -> None:
    study = workspace(plan_of(10), share=0.5)
    app = EvaltuiApp(study.path)
    async with app.run_test(size=(80, 24)) as pilot:
        ledger = await ledger_of(app, pilot, 1)
        await pilot.press("n")
        assert app.screen is ledger
        assert "New study" not in screen_text(app)


async def look_at(app: EvaltuiApp, pilot: Pilot[None], path: Path) -> Launch:
    """The launch screen with this path given."""
    await until(pilot, lambda: isinstance(app.screen, Ledger))
    await pilot.press("n")
    await until(pilot, lambda: isinstance(app.screen, Launch))
    screen = app.screen
    assert isinstance(screen, Launch)
    screen.query_one("#path", Input).value = str(path)
    await pilot.press("enter")
    return screen


async def test_a_study_file_is_shown_before_it_is_started(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        await pilot.pause()
        text = screen_text(app)
        for word in ("18 requests", "at most", "temperature", "3 items x 2 arms x 3 repeats", "ten repeats"):
            assert word in text
        assert any("!" in line for line in text.splitlines() if "temperature" in line)
    assert not (tmp_path / "t.db").exists()


async def test_repeats_and_arms_are_adjusted_and_priced_again(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        screen.query_one("#repeats", Input).value = "5"
        await until(pilot, lambda: screen.preview is not None and screen.preview.requests == 30)
        screen.query(Checkbox).last().value = False
        await until(pilot, lambda: screen.preview is not None and screen.preview.requests == 15)


@pytest.mark.parametrize("repeats", ["", "0", "-"])
async def test_a_number_of_repeats_that_cannot_be_is_not_started(tmp_path: Path, repeats: str) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        screen.query_one("#repeats", Input).value = repeats
        await until(pilot, lambda: "at least one repeat" in screen_text(app))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is screen
    assert not (tmp_path / "t.db").exists()


async def test_every_fault_of_a_study_file_is_shown_in_place(tmp_path: Path) -> None:
    faulty = STUDY_FILE.replace("temperature = 1.0", "temprature = 1.0").replace("repeats = 3", "repeats = 0")
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path, faulty))
        await until(pilot, lambda: "nothing was started" in screen_text(app))
        assert "temprature" in screen_text(app)
        assert "study.repeats" in screen_text(app)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is screen


async def test_a_missing_file_is_said_and_can_be_corrected(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, tmp_path / "nowhere.toml")
        await until(pilot, lambda: "1 fault" in screen_text(app))
        screen.query_one("#path", Input).value = str(write_study_file(tmp_path))
        await pilot.press("enter")
        await until(pilot, lambda: screen.preview is not None)


async def test_a_path_that_was_changed_after_the_check_is_not_started_as_what_was_checked(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    app = EvaltuiApp(path, launcher=Bench(path))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        await pilot.press("x")
        await until(pilot, lambda: "enter checks this file" in screen_text(app))
        assert "18 requests" not in screen_text(app)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is screen
    assert not path.exists()


async def test_faults_stay_in_sight_when_a_start_is_refused(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        await look_at(app, pilot, write_study_file(tmp_path, STUDY_FILE.replace("repeats = 3", "repeats = 0")))
        await until(pilot, lambda: "study.repeats" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Nothing to start yet" in screen_text(app))
        assert "study.repeats" in screen_text(app)


async def test_an_arm_that_is_left_out_has_an_empty_box(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        await pilot.pause()
        line = next(line for line in screen_text(app).splitlines() if "Repeats" in line)
        assert line.count("X") == 2
        screen.query(Checkbox).last().value = False
        await pilot.pause()
        line = next(line for line in screen_text(app).splitlines() if "Repeats" in line)
        assert line.count("X") == 1


async def test_starting_opens_the_monitor_of_what_was_shown(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    app = EvaltuiApp(path, launcher=Bench(path))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        screen.query_one("#repeats", Input).value = "2"
        await until(pilot, lambda: screen.preview is not None and screen.preview.repeats == 2)
        await pilot.press("ctrl+s")
        monitor = await monitor_of(app, pilot)
        assert monitor.snapshot is not None
        assert monitor.snapshot.summary.info.design.repeats == 2
    assert [info.design.name for info in store.studies(path)] == ["sums"]


async def test_a_start_that_fails_is_said_in_place(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    path.write_text("not a database, and long enough to be looked at")
    app = EvaltuiApp(path, launcher=Bench(path))
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await look_at(app, pilot, write_study_file(tmp_path))
        await until(pilot, lambda: screen.preview is not None)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "is not a SQLite database" in screen_text(app))
        assert app.screen is screen


async def test_escape_leaves_without_starting(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 60)) as pilot:
        await look_at(app, pilot, write_study_file(tmp_path))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Ledger))
