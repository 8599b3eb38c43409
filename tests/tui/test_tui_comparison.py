"""The comparison pane and the line above every pane: what marks a comparison and what stops it is said there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from screen_world import Workspace, monitor_of, plan_of, screen_text
from textual.app import App
from textual.pilot import Pilot

from evaltui.core.study import PinValue, StudyPlan
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.drawn import Drawn

Make = Callable[..., Workspace]
BRACKET = "[marked: pins.gpu differs]"
GPU = "pins.gpu is H100 in the baseline and A100 in the candidate"
JUDGE = "judge.model is j-1 in the baseline and j-2 in the candidate"


def pinned(arms: tuple[str, ...] = ("baseline", "candidate"), /, **pins: tuple[PinValue, PinValue]) -> StudyPlan:
    """A plan whose second arm has the second value of each pin, and every other arm the first."""
    plan = plan_of(60, arms=arms)
    designs = [
        replace(arm, pins={**arm.pins, **{pin: both[place == 1] for pin, both in pins.items()}})
        for place, arm in enumerate(plan.design.arms)
    ]
    return replace(plan, design=replace(plan.design, arms=tuple(designs)))


def pane_text(app: App[None]) -> str:
    """The comparison pane, of a screen that shows nothing else, without its frame."""
    lines = screen_text(app).splitlines()[4:]
    return " ".join("\n".join(lines).replace("│", " ").split())


async def compare_pane(app: EvaltuiApp, pilot: Pilot[None]) -> str:
    await monitor_of(app, pilot)
    await pilot.press("3")
    await pilot.pause()
    return pane_text(app)


async def test_the_marks_stand_above_the_intervals_and_end_the_sentence(workspace: Make) -> None:
    study = workspace(pinned(**{"pins.gpu": ("H100", "A100")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 60)) as pilot:
        text = await compare_pane(app, pilot)
        assert text.index(f"! {GPU}") < text.index("these items")
        assert text.index("candidate against baseline: ") < text.index(BRACKET)


@pytest.mark.parametrize(("width", "said"), [(160, BRACKET), (80, "[marked]"), (60, "[marked]")])
async def test_the_line_above_every_pane_says_that_the_comparison_is_marked(
    workspace: Make, width: int, said: str
) -> None:
    study = workspace(pinned(**{"pins.gpu": ("H100", "A100")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(width, 24)) as pilot:
        await monitor_of(app, pilot)
        assert screen_text(app).splitlines()[2].rstrip().endswith(said)


async def test_a_mark_is_not_told_again_among_the_warnings(workspace: Make) -> None:
    study = workspace(pinned(**{"pins.gpu": ("H100", "A100")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 100)) as pilot:
        assert (await compare_pane(app, pilot)).count(GPU) == 1


async def test_where_nothing_is_compared_the_reason_leads_the_pane_and_the_line_above(workspace: Make) -> None:
    study = workspace(pinned(**{"judge.model": ("j-1", "j-2")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 24)) as pilot:
        text = await compare_pane(app, pilot)
        assert f"! candidate against baseline: not compared: {JUDGE}" in text[:200]
        assert "band" in text
        third = screen_text(app).splitlines()[2]
        assert third.strip().startswith("! candidate not compared: judge.model differs")
        assert third.rstrip().endswith("baseline 76.0 ±9.7")


async def test_an_arm_that_is_not_compared_is_named_beside_those_that_are(workspace: Make) -> None:
    study = workspace(pinned(("baseline", "v2", "v3"), **{"judge.model": ("j-1", "j-2")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 60)) as pilot:
        text = await compare_pane(app, pilot)
        assert "v3 against baseline: " in text
        assert f"! v2 against baseline: not compared: {JUDGE}" in text
        assert text.count(JUDGE) == 1


async def test_the_pane_says_where_one_more_run_will_land(workspace: Make) -> None:
    study = workspace(plan_of(60), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 60)) as pilot:
        monitor = await monitor_of(app, pilot)
        text = await compare_pane(app, pilot)
        assert monitor.snapshot is not None
        for arm in monitor.snapshot.summary.arms:
            assert arm.band.next_run is not None
            low, high = (f"{100 * end:.1f}" for end in arm.band.next_run)
            assert f"one more run will probably land at {low} to {high} (95 %)" in text
        assert f"One more run of candidate will probably land at {low} to {high}." in text


@pytest.mark.parametrize(
    "pin", ["pins.[/b]\x1b[2J", "pins.\u202egpu", "pins.[@click=app.quit]x"], ids=["esc", "bidi", "click"]
)
async def test_hostile_pins_are_shown_and_not_obeyed(workspace: Make, pin: str) -> None:
    study = workspace(pinned(**{pin: ("[red]a", "\x9b31m")}), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(160, 60)) as pilot:
        await compare_pane(app, pilot)
        text = screen_text(app)
        assert not set(text) & {"\x1b", "\x9b", "\u202e"}
        assert "[red]a" in text
        assert app.is_running


def clustered(share: int) -> StudyPlan:
    """A plan of 60 items, the first ``share`` of them in one passage and the others in passages of three."""
    plan = plan_of(60)
    items = [
        replace(item, cluster="the corpus" if place < share else f"passage {place // 3}")
        for place, item in enumerate(plan.items)
    ]
    return replace(plan, items=tuple(items))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 48)], ids=["80", "120", "160"])
async def test_the_row_of_the_interval_says_to_check_clusters_that_cannot_be_meant(
    workspace: Make, size: tuple[int, int]
) -> None:
    study = workspace(clustered(45), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=size) as pilot:
        await compare_pane(app, pilot)
        said = app.screen.query_one("#intervals", Drawn).render().plain
        assert "check the clustering: one cluster holds 45 of 60 items, so the interval depends on" in said
        assert "cross-check" in said


async def test_honest_clusters_have_nothing_to_check_on_the_screen(workspace: Make) -> None:
    study = workspace(clustered(0), share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 80)) as pilot:
        text = await compare_pane(app, pilot)
        assert "cluster SEM (z), 20 clusters" in text
        assert "check the clustering" not in text
        assert re.search(r"not known +at every look +items come in clusters", text)
