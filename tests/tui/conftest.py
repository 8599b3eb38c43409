"""Fixtures of the screens: a study in a file, a committed picture, a fixed time zone."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from screen_world import NOON, Workspace, plan_of
from textual.app import App

from evaltui import store
from evaltui.core.records import Event
from evaltui.core.status import StudyState
from evaltui.core.study import StudyPlan

PICTURES = Path(__file__).parent / "pictures"
UPDATE = "EVALTUI_UPDATE_PICTURES"


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """One time zone, no user themes, colours as on a modern terminal."""
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Workspace]]:
    """Makes a study in ``t.db`` of the working folder; its lease is held until the test ends."""
    monkeypatch.chdir(tmp_path)
    numbers = count(1)
    with ExitStack() as stack:

        def make(
            plan: StudyPlan | None = None, *, share: float = 0.0, state: StudyState = StudyState.RUNNING, **words: str
        ) -> Workspace:
            plan = plan or plan_of()
            path = Path("t.db")
            opened = store.open_study(path, plan, new=True, study_id=f"study{next(numbers):05}")
            writer = stack.enter_context(store.Writer(path, opened.study_id))
            writer.event(Event(NOON, "started", "the study started with 8 calls in flight"))
            writer.state(state)
            made = Workspace(path, opened.study_id, plan, writer, **words)
            made.run_to(share)
            return made

        yield make


@pytest.fixture
def looks_like(request: pytest.FixtureRequest) -> Callable[[App[Any]], None]:
    """Compares the screen with the committed picture of this test; with EVALTUI_UPDATE_PICTURES=1 it is taken anew."""

    def compare(app: App[Any]) -> None:
        svg = _normalised(app.export_screenshot(simplify=True))
        path = PICTURES / (re.sub(r"\W+", "_", request.node.name).strip("_") + ".svg")
        if os.environ.get(UPDATE):
            PICTURES.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")
        assert path.exists(), f"no picture {path.name} yet: run once with {UPDATE}=1 and look at it"
        if svg != path.read_text(encoding="utf-8"):
            new = path.with_suffix(".new.svg")
            new.write_text(svg, encoding="utf-8")
            pytest.fail(f"{path.name} differs from what is on screen now: look at {new}")

    return compare


def _normalised(svg: str) -> str:
    """Without what differs from run to run: element ids, ages below ten seconds."""
    svg = re.sub(r"terminal-\d+", "terminal-0", svg)
    svg = re.sub(r">\d&#160;s<", ">0&#160;s<", svg)
    return re.sub(r"[ \t]+\n", "\n", svg)
