"""The monitor: what each key does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from screen_world import Bench, Workspace, monitor_of, plan_of, screen_text, until

from evaltui.core.status import Command, StudyState
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.heat import Order
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.run_table import run_rows
from evaltui.tui.screens import item
from evaltui.tui.screens.confirm import Confirm
from evaltui.tui.screens.help import Help
from evaltui.tui.screens.item import ItemScreen
from evaltui.tui.screens.ledger import Ledger

Make = Callable[..., Workspace]


def watching(study: Workspace) -> EvaltuiApp:
    return EvaltuiApp(study.path, study_id=study.study_id)


def owning(study: Workspace) -> EvaltuiApp:
    return EvaltuiApp(study.path, study_id=study.study_id, launcher=Bench(study.path))


async def test_verdicts_appear_while_they_are_written(workspace: Make) -> None:
    study = workspace(plan_of(20), share=0.25)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        assert "40 of 160" in screen_text(app)
        study.run_to(1.0)
        await until(pilot, lambda: "160 of 160" in screen_text(app))


async def test_the_run_table_shows_the_counts_of_the_summary(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        assert monitor.snapshot is not None
        summary = monitor.snapshot.summary
        by_key = {row.key: row for row in run_rows(summary)}
        run = summary.arms[0].runs[0]
        failed = sum(count for status, count in run.counts.items() if status != "ok")
        counters = [int(cell.text) for cell in by_key["baseline#1"].cells[3:8]]
        assert sum(counters) == failed > 0


async def test_s_goes_round_the_orders_and_the_cursor_stays_on_its_item(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        heatmap = app.screen.query_one(Heatmap)
        await pilot.press("down", "down", "down")
        position, line = heatmap.position, heatmap.row - heatmap.scroll_offset.y
        for order in (Order.PLANNED, Order.CATEGORY, Order.CHANGE, Order.FLIP):
            await pilot.press("s")
            assert heatmap.order is order
            assert heatmap.position == position
            assert 0 <= heatmap.row - heatmap.scroll_offset.y < heatmap.page_lines
        assert heatmap.row - heatmap.scroll_offset.y == line


async def test_the_cursor_stays_on_its_item_when_verdicts_reorder_the_rows(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        heatmap = monitor.query_one(Heatmap)
        await pilot.press("end")
        position = heatmap.position
        study.run_to(1.0)
        await until(pilot, lambda: monitor.snapshot is not None and monitor.snapshot.number > 1)
        assert heatmap.position == position


async def test_a_chosen_order_holds_when_verdicts_arrive(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press("s")
        study.run_to(1.0)
        await until(pilot, lambda: monitor.snapshot is not None and monitor.snapshot.number > 1)
        heatmap = monitor.query_one(Heatmap)
        assert heatmap.order is Order.PLANNED
        assert heatmap.position == heatmap.row


async def test_space_holds_the_picture_and_lets_it_go(workspace: Make) -> None:
    study = workspace(plan_of(20), share=0.25)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press("space")
        assert "FROZEN" in screen_text(app)
        study.run_to(1.0)
        await until(pilot, lambda: monitor.held is not None)
        assert "40 of 160" in screen_text(app)
        await pilot.press("space")
        await until(pilot, lambda: "160 of 160" in screen_text(app))
        assert "FROZEN" not in screen_text(app)


@pytest.mark.parametrize(("key", "command"), [("p", Command.PAUSE), ("x", Command.STOP)])
async def test_the_owner_asks_the_engine(workspace: Make, key: str, command: Command) -> None:
    study = workspace(share=0.25)
    app = owning(study)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await monitor_of(app, pilot)
        await pilot.press(key)
        if command is Command.STOP:
            assert isinstance(app.screen, Confirm)
            await pilot.press("y")
        heard: list[Command] = []
        await until(pilot, lambda: bool(heard.extend(study.writer.commands()) or heard))
        assert heard == [command]
        await until(pilot, lambda: f"asked the study to {command}" in screen_text(app))


async def test_a_paused_study_is_resumed(workspace: Make) -> None:
    study = workspace(share=0.25, state=StudyState.PAUSED)
    app = owning(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("p", "r")
        heard: list[Command] = []
        await until(pilot, lambda: bool(heard.extend(study.writer.commands()) or heard))
        assert heard == [Command.RESUME]


@pytest.mark.parametrize("answer", ["n", "escape"])
async def test_no_is_an_answer_to_stopping(workspace: Make, answer: str) -> None:
    study = workspace(share=0.25)
    app = owning(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("x")
        await pilot.pause()
        assert "calls in flight finish" in " ".join(screen_text(app).split())
        await pilot.press(answer)
        await pilot.pause()
        assert not isinstance(app.screen, Confirm)
        assert study.writer.commands() == []


async def test_who_only_watches_has_no_owner_actions(workspace: Make) -> None:
    study = workspace(share=0.25)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press("p", "x", "r")
        await pilot.pause()
        assert app.screen is monitor
        assert study.writer.commands() == []
        assert "Pause" not in screen_text(app)
        assert "Pause" not in [command.title for command in app.get_system_commands(monitor)]


async def test_a_study_that_is_over_is_not_paused_or_stopped(workspace: Make) -> None:
    study = workspace(share=1.0, state=StudyState.FINISHED)
    study.writer.close()
    app = owning(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        shown = [command.title for command in app.get_system_commands(monitor)]
        assert not {"Pause", "Resume", "Stop"} & set(shown)


async def test_why_a_study_paused_is_said(workspace: Make) -> None:
    study = workspace(share=0.25)
    study.writer.state(StudyState.PAUSED, "endpoint main: connection refused")
    study.writer.flush()
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        assert "endpoint main: connection refused" in screen_text(app)


async def test_a_study_whose_engine_died_is_called_crashed(workspace: Make) -> None:
    study = workspace(share=0.25)
    study.writer.close()
    app = owning(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        assert "crashed" in screen_text(app)
        assert "Resume" in [command.title for command in app.get_system_commands(monitor)]


async def test_enter_opens_the_item_with_every_answer(workspace: Make) -> None:
    study = workspace(plan_of(20), share=1.0)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        position = monitor.query_one(Heatmap).position
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ItemScreen) and app.screen.answers is not None)
        screen = app.screen
        assert isinstance(screen, ItemScreen)
        assert screen.answers is not None
        assert len(screen.answers) == 8
        await pilot.pause()
        assert study.plan.items[position or 0].id in screen_text(app)
        assert "It is 42." in screen_text(app)
        await pilot.press("escape")
        assert app.screen is monitor


@pytest.mark.parametrize("key", ["1", "2", "3", "4"])
async def test_each_pane_is_one_key_away_where_there_is_room_for_one(workspace: Make, key: str) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press(key)
        await pilot.pause()
        visible = [name for name in ("runs", "compare", "items", "events") if monitor.query_one(f"#{name}").size]
        assert visible == [{"1": "runs", "2": "items", "3": "compare", "4": "events"}[key]]
        assert app.focused is monitor.query_one(f"#{visible[0]}")


async def test_the_score_the_band_and_the_difference_stand_above_every_pane(workspace: Make) -> None:
    study = workspace(share=1.0)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        for key in "1234":
            await pilot.press(key)
            third = screen_text(app).splitlines()[2]
            assert "baseline 80.4" in third
            assert third.count("±") == 2
            assert "diff +0.2 (" in third


async def test_c_shows_the_next_arm(workspace: Make) -> None:
    study = workspace(plan_of(30, arms=("baseline", "v2", "v3")), share=1.0)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        assert "v2" in screen_text(app).splitlines()[2]
        await pilot.press("3")
        await pilot.pause()
        assert "1 of 2, c for the next" in screen_text(app)
        await pilot.press("c")
        assert "v3" in screen_text(app).splitlines()[2]
        await pilot.press("c")
        assert "v2" in screen_text(app).splitlines()[2]


async def test_an_interval_that_cannot_be_known_says_what_it_needs(workspace: Make) -> None:
    study = workspace(plan_of(30, repeats=1), share=1.0)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        text = screen_text(app)
        assert "1 repeat x 30 items" in text
        assert "2 pairs of complete runs at least" in text
        assert "these items" in text


async def test_thousands_are_set_apart_in_a_heading(workspace: Make) -> None:
    study = workspace(plan_of(30, repeats=2), share=1.0)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        assert monitor.snapshot is not None
        summary = monitor.snapshot.summary
        arm = summary.arms[0]
        many = replace(arm, flips=replace(arm.flips, expected_changes=1018.4, items=3318))
        heading = run_rows(replace(summary, arms=(many,)))[0]
        assert "rerun: about 1,018 of 3,318 change" in heading.cells[-1].text


async def test_the_baseline_is_told_from_the_other_arms(workspace: Make) -> None:
    study = workspace(plan_of(30, arms=("v1", "v2")), share=1.0)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        assert monitor.snapshot is not None
        headings = [row for row in run_rows(monitor.snapshot.summary) if row.heading]
        assert ["baseline" in [cell.text for cell in row.cells] for row in headings] == [True, False]


async def test_a_run_says_how_it_stands_where_its_latencies_have_no_room(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(100, 30)) as pilot:
        await monitor_of(app, pilot)
        assert "complete" in screen_text(app)
        assert "p50" not in screen_text(app)


async def test_one_arm_alone_shows_its_noise(workspace: Make) -> None:
    study = workspace(plan_of(30, arms=("baseline",)), share=1.0)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("3")
        await pilot.pause()
        assert "run it again and about" in " ".join(screen_text(app).replace("│", " ").split())


async def test_an_open_item_takes_in_the_answers_that_come(workspace: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item, "RELOAD_S", 0.02)
    study = workspace(plan_of(20, repeats=2), share=0.5)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "no verdict yet: #2" in screen_text(app))
        study.run_to(1.0)
        await until(pilot, lambda: "no verdict yet" not in screen_text(app))


async def test_runs_beyond_the_edge_are_reached_sideways(workspace: Make) -> None:
    study = workspace(plan_of(10, repeats=60), share=0.1)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor = await monitor_of(app, pilot)
        assert "more" in screen_text(app)
        heatmap = monitor.query_one(Heatmap)
        width = heatmap.scrollable_content_region.width
        before = heatmap.draw_row(0, width, cursor=False).text
        await pilot.press(*["right"] * 9)
        assert heatmap.draw_header(0, width).text.split()[0] == "candidate"
        assert heatmap.draw_header(1, width).text.split()[-2].endswith("567890")
        await pilot.press(*["left"] * 9)
        assert heatmap.draw_row(0, width, cursor=False).text == before


@pytest.mark.parametrize(
    ("keys", "row"), [("G", 119), ("end", 119), ("G,g", 0), ("j,j,k", 1), ("pagedown,pageup", 0), ("k", 0)]
)
async def test_the_cursor_moves(workspace: Make, keys: str, row: int) -> None:
    study = workspace(share=0.1)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press(*keys.split(","))
        heatmap = monitor.query_one(Heatmap)
        assert heatmap.row == row
        assert 0 <= row - heatmap.scroll_offset.y < heatmap.page_lines


async def test_a_click_moves_the_cursor_and_a_second_one_opens(workspace: Make) -> None:
    study = workspace(share=0.5)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.click("#items", offset=(10, 6))
        assert monitor.query_one(Heatmap).row == 3
        await pilot.click("#items", offset=(10, 6))
        await until(pilot, lambda: isinstance(app.screen, ItemScreen))


async def test_help_lists_the_keys_of_the_screen_and_what_the_letters_mean(workspace: Make) -> None:
    study = workspace(share=0.1)
    app = owning(study)
    async with app.run_test(size=(100, 90)) as pilot:
        monitor = await monitor_of(app, pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Help))
        await pilot.pause()
        text = screen_text(app)
        for word in ("Sort the items", "parse failure", "End the study early", "Everywhere", "flip"):
            assert word in text
        await pilot.press("question_mark")
        assert app.screen is monitor


async def test_escape_leads_to_the_studies(workspace: Make) -> None:
    study = workspace(share=0.1)
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Ledger))


async def test_q_leaves_a_running_study_alone_and_says_so(workspace: Make) -> None:
    study = workspace(share=0.1)
    app = owning(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("q")
    assert study.writer.commands() == []
    assert app.farewell() == [
        f"prompt v2 against v1 ({study.study_id}) goes on without the screen; "
        f"evaltui watch {study.study_id} comes back to it"
    ]


async def test_nothing_is_said_of_a_study_that_is_over(workspace: Make) -> None:
    study = workspace(share=1.0, state=StudyState.FINISHED)
    study.writer.close()
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("q")
    assert app.farewell() == []


async def test_a_study_that_cannot_be_read_is_a_sentence_on_the_screen(tmp_path: Path) -> None:
    app = EvaltuiApp(tmp_path / "none.db", study_id="latest")
    async with app.run_test(size=(200, 24)) as pilot:
        await until(pilot, lambda: "no such database" in screen_text(app))
        await pilot.press("1", "s", "space", "enter", "c", "space", "q")


async def test_the_file_is_not_written_by_watching(workspace: Make) -> None:
    study = workspace(share=1.0, state=StudyState.FINISHED)
    study.writer.close()
    before = study.path.read_bytes()
    app = watching(study)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("enter", "escape", "s", "escape")
        await until(pilot, lambda: isinstance(app.screen, Ledger) and bool(app.screen.headlines))
    assert study.path.read_bytes() == before


async def test_a_cursor_that_nobody_placed_stays_on_the_first_row(workspace: Make) -> None:
    study = workspace(share=0.3)
    app = watching(study)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        heatmap = monitor.query_one(Heatmap)
        before = heatmap.position
        study.run_to(1.0)
        await until(pilot, lambda: monitor.snapshot is not None and monitor.snapshot.number > 1)
        assert heatmap.row == 0
        assert heatmap.position != before
        await pilot.press("end", "home", "s")
        assert heatmap.row == 0
