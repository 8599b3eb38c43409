"""Any size of terminal, also while verdicts come in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from screen_world import Bench, Workspace, monitor_of, plan_of, screen_text, until

from evaltui.tui.app import EvaltuiApp
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger
from evaltui.tui.screens.view import layout_class

Make = Callable[..., Workspace]
SIZES = [(1, 1), (10, 3), (20, 5), (40, 10), (39, 50), (300, 9), (80, 24), (120, 40), (160, 45), (300, 80)]


@pytest.mark.parametrize("size", SIZES)
async def test_the_monitor_opens_at_any_size(workspace: Make, size: tuple[int, int]) -> None:
    study = workspace(plan_of(200), share=0.5)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=size) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("1", "2", "3", "4", "s", "down", "enter", "escape", "question_mark", "escape", "t", "escape")
        await pilot.pause()


async def test_sizes_change_while_verdicts_come_in_and_the_screen_is_whole_again(workspace: Make) -> None:
    study = workspace(plan_of(2000, repeats=2), share=0.1)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor = await monitor_of(app, pilot)
        for step, (width, height) in enumerate(SIZES):
            study.run_to(0.1 + 0.02 * step)
            await pilot.resize_terminal(width, height)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "1 Runs" in screen_text(app) and "4 Events" in screen_text(app))
        number = study.written
        await until(pilot, lambda: f"{number:,} of 8,000" in screen_text(app))
        assert monitor.query_one(Heatmap).n_rows == 2000


@pytest.mark.parametrize(
    ("size", "notice"),
    [
        ((39, 24), "evaltui needs 40 x 10, this is 39 x 24"),
        ((80, 9), "evaltui needs 40 x 10, this is 80 x 9"),
        ((30, 8), "needs 40 x 10, is 30 x 8"),
        ((13, 3), "needs 40 x 10"),
        ((12, 3), "too small"),
        ((1, 1), "t"),
    ],
)
async def test_below_the_minimum_one_line_says_so(workspace: Make, size: tuple[int, int], notice: str) -> None:
    study = workspace(plan_of(20), share=0.5)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=size) as pilot:
        await monitor_of(app, pilot)
        lines = screen_text(app).splitlines()
        assert lines[0].strip() == notice
        assert not any(line.strip() for line in lines[1:])


@pytest.mark.parametrize("size", SIZES)
async def test_the_ledger_and_the_launch_screen_open_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Launch))
        await pilot.press("escape", "question_mark", "escape")
        await pilot.pause()


@pytest.mark.parametrize(
    ("size", "kind"),
    [((39, 40), "tiny"), ((40, 10), "narrow"), ((99, 50), "narrow"), ((120, 27), "narrow"), ((100, 28), "medium"),
     ((159, 40), "medium"), ((160, 28), "wide"), ((300, 80), "wide")],
)  # fmt: skip
def test_arrangements_by_size(size: tuple[int, int], kind: str) -> None:
    assert layout_class(*size) == kind
