"""Hostile texts in every place where foreign text is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from screen_world import NOON, Bench, Workspace, items_named, monitor_of, plan_of, screen_text, until, write_study_file
from textual.app import App
from textual.widgets import Input

from evaltui.core.records import Event
from evaltui.core.status import StudyState
from evaltui.core.text import clean
from evaltui.tui.app import EvaltuiApp
from evaltui.tui.heatmap import Heatmap
from evaltui.tui.screens.item import ItemScreen
from evaltui.tui.screens.launch import Launch
from evaltui.tui.screens.ledger import Ledger
from evaltui.tui.table import Table

Make = Callable[..., Workspace]
FILES = ["G_markup_items", "G_escape_items", "G_wide_items"]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def texts_of(cases: Path, name: str) -> list[str]:
    """Every distinct text of a file of reported bugs; a text that is an item's id must be unique and not empty."""
    lines = (cases / "repro" / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return list(dict.fromkeys(value for line in lines if line for value in json.loads(line).values() if value))


def insist_clean(app: App[Any]) -> None:
    """Nothing to obey on the screen, no link or action in its styles, and every line as wide as the screen."""
    for strip in app.screen._compositor.render_strips():
        assert not CONTROL.search(strip.text)
        assert strip.cell_length == cell_len(strip.text) == app.size.width
        for segment in strip:
            assert segment.style is None or not segment.style.link
            assert segment.style is None or "@click" not in segment.style.meta


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", FILES)
async def test_the_monitor_shows_hostile_texts_and_obeys_none(
    workspace: Make, cases: Path, name: str, size: tuple[int, int]
) -> None:
    texts = texts_of(cases, name)
    arms = (texts[0], texts[1])
    plan = plan_of(items_named(texts, texts=texts), name=texts[0], arms=arms, repeats=2)
    study = workspace(plan, share=0.9, answer=texts[1] + "{}", message=texts[1])
    for text in texts:
        study.writer.event(Event(NOON, "hostile", text, level="error", arm=arms[0], repeat=1))
    study.writer.state(StudyState.PAUSED, texts[-1])
    study.writer.flush()
    app = EvaltuiApp(study.path, study_id=study.study_id, launcher=Bench(study.path))
    async with app.run_test(size=size, notifications=True) as pilot:
        monitor = await monitor_of(app, pilot)
        for key in "1234":
            await pilot.press(key)
            await pilot.pause()
            insist_clean(app)
        await pilot.press("2", "x")
        await pilot.pause()
        insist_clean(app)
        await pilot.press("n", "r", "question_mark")
        await pilot.pause()
        insist_clean(app)
        await pilot.press("escape")
        assert app.screen is monitor


@pytest.mark.parametrize("name", FILES)
async def test_every_item_is_told_from_the_others_letter_for_letter(workspace: Make, cases: Path, name: str) -> None:
    texts = [text for text in texts_of(cases, name) if cell_len(clean(text)) <= 60]
    plan = plan_of(items_named(texts), repeats=2)
    study = workspace(plan, share=1.0)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(300, 60)) as pilot:
        monitor = await monitor_of(app, pilot)
        heatmap = monitor.query_one(Heatmap)
        drawn = [heatmap.draw_row(row, 150, cursor=False).text for row in range(len(texts))]
        for text in texts:
            assert any(clean(text) in line for line in drawn)


@pytest.mark.parametrize("name", FILES)
async def test_an_item_shows_its_hostile_answers(workspace: Make, cases: Path, name: str) -> None:
    texts = texts_of(cases, name)
    plan = plan_of(items_named(texts, texts=texts), arms=(texts[0],), repeats=2)
    study = workspace(plan, share=1.0, answer="{} " + texts[2], message=texts[2])
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(120, 40)) as pilot:
        await monitor_of(app, pilot)
        for _ in texts[:4]:
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ItemScreen) and app.screen.answers is not None)
            await pilot.pause()
            insist_clean(app)
            await pilot.press("escape", "down")


@pytest.mark.parametrize("name", FILES)
async def test_the_ledger_shows_hostile_names(workspace: Make, cases: Path, name: str) -> None:
    texts = texts_of(cases, name)[:6]
    for text in texts:
        study = workspace(plan_of(5, name=text, arms=(text,), repeats=2), share=1.0, state=StudyState.FINISHED)
        study.writer.close()
    app = EvaltuiApp(study.path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger) and len(app.screen.headlines) == len(texts))
        await pilot.pause()
        insist_clean(app)
        table = app.screen.query_one(Table)
        ends = {table.draw_row(row, 117, cursor=False).text.rstrip()[-10:] for row in range(len(texts))}
        assert ends == {row.key for row in table.rows}


async def test_hostile_file_names_and_faults_are_shown_in_place(tmp_path: Path, cases: Path) -> None:
    app = EvaltuiApp(tmp_path / "[red]t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Launch))
        screen = app.screen
        for text in texts_of(cases, "G_markup_items") + texts_of(cases, "G_escape_items"):
            screen.query_one("#path", Input).value = text.replace("\x00", "")
            await pilot.press("enter")
            await until(pilot, lambda: "nothing was started" in screen_text(app))
            insist_clean(app)


async def test_a_hostile_study_file_is_previewed(tmp_path: Path) -> None:
    path = write_study_file(tmp_path)
    text = path.read_text(encoding="utf-8")
    text = text.replace('name = "sums"', r'name = "[/bold] \u001b[2J [@click=app.quit]x"')
    text = text.replace("arms.candidate]", 'arms."[red]\\u202Earm"]').replace(
        'model = "m"', r'model = "[/\u001b]52;c;x"'
    )
    path.write_text(text, encoding="utf-8")
    app = EvaltuiApp(tmp_path / "t.db", launcher=Bench(tmp_path / "t.db"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Ledger))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, Launch))
        screen = app.screen
        assert isinstance(screen, Launch)
        screen.query_one("#path", Input).value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: screen.preview is not None or "nothing was started" in screen_text(app))
        await pilot.pause()
        insist_clean(app)
        assert screen.preview is None or "[/bold] ␛[2J [@click=app.quit]x" in screen_text(app)


async def test_an_answer_of_five_megabytes_is_cut_on_the_screen_only(workspace: Make) -> None:
    plan = plan_of(2, arms=("baseline",), repeats=1)
    huge = "x\x1b[2J" * 1_000_000
    plan = replace(plan, items=tuple(replace(item, fields={"question": huge}) for item in plan.items))
    study = workspace(plan, share=1.0, answer=huge)
    app = EvaltuiApp(study.path, study_id=study.study_id)
    async with app.run_test(size=(80, 24)) as pilot:
        await monitor_of(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ItemScreen) and bool(app.screen.answers))
        screen = app.screen
        assert isinstance(screen, ItemScreen)
        assert screen.answers is not None
        record = screen.answers[0].record
        assert record is not None
        assert record.text == huge
        insist_clean(app)
