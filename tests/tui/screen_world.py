"""Studies for the screens, in real workspace files written through the real writer, and ways to wait for a screen."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from evaltui import config as configs
from evaltui import datasets, store
from evaltui.core.order import shuffled
from evaltui.core.pins import short_hash
from evaltui.core.preview import Preview
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Item, Usage, Verdict
from evaltui.core.status import Command, Status
from evaltui.core.study import ArmDesign, Design, ScorerDesign, StudyPlan
from evaltui.engine.plan import build_plan, preview
from evaltui.tui.screens.monitor import Monitor

NOON = 1_780_000_000.0
TOPICS = ("algebra", "geometry", "logic", "units")
FAULTS = (Status.TIMEOUT, Status.PARSE_FAILURE, Status.RATE_LIMITED, Status.TRUNCATED, Status.EMPTY)
EASE = (0.02, 0.3, 0.7, 0.95, 0.99, 0.99, 0.99, 1.0, 1.0)
PATIENCE = 2000


def numbered(count: int) -> list[str]:
    return [f"q{number:04}" for number in range(count)]


def items_named(names: Sequence[str], *, texts: Sequence[str] | None = None) -> tuple[Item, ...]:
    """Items with these ids (and these questions, golds and categories), in their random order."""
    rows = []
    for place, name in enumerate(names):
        text = texts[place] if texts else f"What is asked in {name}?"
        rows.append(
            Item(
                id=name,
                fields={"id": name, "question": text},
                gold=text if texts else "42",
                category=text if texts else TOPICS[place % len(TOPICS)],
                cluster=None,
                hash=short_hash(f"{name} {text}".encode("utf-8", "surrogatepass")),
            )
        )
    return shuffled(rows, 7)


def plan_of(
    items: tuple[Item, ...] | int = 120,
    *,
    name: str = "prompt v2 against v1",
    arms: tuple[str, ...] = ("baseline", "candidate"),
    repeats: int = 4,
) -> StudyPlan:
    """A plan over these items, or over so many; nothing in it is ever called."""
    if isinstance(items, int):
        items = items_named(numbered(items))
    pins = {"model": "m-1", "temperature": 0.7}
    design = Design(
        name=name,
        arms=tuple(ArmDesign(arm, pins, f"{place:08x}") for place, arm in enumerate(arms)),
        scorers=(ScorerDesign("right", "exact", "1", True),),
        repeats=repeats,
        n_items=len(items),
        order_seed=7,
        schedule="interleaved",
        concurrency=8,
        baseline=arms[0],
        pin_hash="3f9a2c1d77",
    )
    return StudyPlan(design, items, {"study": {"name": name}})


@dataclass
class Workspace:
    """A workspace file with one study, and the writer that holds its lease until it is closed."""

    path: Path
    study_id: str
    plan: StudyPlan
    writer: store.Writer
    answer: str = "It is {}."
    message: str = "no answer in 60 s"
    written: int = 0

    def run_to(self, share: float) -> None:
        """Write cells until this share of the plan is done: repeat by repeat, item by item, arms in turn."""
        cells = [
            Cell(arm, repeat, item.position, item.id)
            for repeat in range(1, self.plan.design.repeats + 1)
            for item in self.plan.items
            for arm in self.plan.design.arm_names
        ]
        until = round(share * len(cells))
        for place in range(self.written, until):
            self._write(cells[place], NOON + 0.2 * place)
        self.written = max(self.written, until)
        self.writer.flush()

    def _write(self, cell: Cell, at: float) -> None:
        dice = random.Random(f"{cell.position}/{cell.arm}/{cell.repeat}")
        passed = dice.random() < random.Random(cell.position).choice(EASE)
        status = dice.choice(FAULTS) if dice.random() < 0.015 else Status.OK
        latency = 0.2 + dice.random()
        text = self.answer.replace("{}", str(42 if passed else dice.randint(0, 3))) if status is Status.OK else None
        label = None if text is None else "right" if passed else "wrong"
        verdict = Verdict("right", status, label, None if text is None else float(passed))
        said = "" if text else self.message
        self.writer.attempt(AttemptRecord(cell, 1, status, at, latency, message=said, usage=Usage(90, 20), cost=0.0002))
        self.writer.cell(CellRecord(cell, (verdict,), text, "", 1, latency, at + latency))


@dataclass(frozen=True)
class Bench:
    """A launcher without an engine: files are really checked, studies really stored, commands really sent."""

    path: Path

    def inspect(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> Preview:
        return preview(*self._checked(path, repeats, arms))

    def start(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> str:
        return store.open_study(self.path, self._checked(path, repeats, arms)[1]).study_id

    def control(self, study_id: str, command: Command) -> str:
        store.send(self.path, study_id, command)
        return f"asked the study to {command}"

    def _checked(
        self, path: Path, repeats: int | None, arms: tuple[str, ...] | None
    ) -> tuple[configs.StudyConfig, StudyPlan]:
        config = configs.narrowed(configs.load(path), repeats=repeats, arms=arms)
        dataset = datasets.read(config.dataset.path, id=config.dataset.id, gold=config.dataset.gold)
        return config, build_plan(config, dataset, config_path=path)


STUDY_FILE = """
[study]
name = "sums"
repeats = 3
[dataset]
path = "items.jsonl"
gold = "answer"
[endpoints.main]
kind = "simulator"
price = { input = 1.0, output = 2.0 }
[endpoints.main.simulator]
seed = 1
[arms.baseline]
endpoint = "main"
model = "m"
prompt_text = "{{question}}"
max_tokens = 50
[arms.candidate]
extends = "baseline"
temperature = 1.0
[scorers.right]
kind = "numeric"
"""


def write_study_file(folder: Path, text: str = STUDY_FILE) -> Path:
    """A study file with three items beside it."""
    lines = [f'{{"id": "s{n}", "question": "{n} + 1?", "answer": "{n + 1}"}}\n' for n in range(3)]
    (folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    path = folder / "sums.toml"
    path.write_text(text, encoding="utf-8")
    return path


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    """Let the app work until the condition holds; fail when it never does."""
    for _ in range(PATIENCE):
        await pilot.pause(0.005)
        if condition():
            return
    raise AssertionError("the screen never came to show it")


async def monitor_of(app: App[Any], pilot: Pilot[Any]) -> Monitor:
    """The monitor on top, once it shows its first snapshot."""
    await until(pilot, lambda: isinstance(app.screen, Monitor) and app.screen.snapshot is not None)
    assert isinstance(app.screen, Monitor)
    await pilot.pause()
    return app.screen


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, line by line."""
    width, _ = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in lines)
