"""Small studies and records for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaltui import store
from evaltui.core.fields import item_hash
from evaltui.core.pins import digest, study_pin_hash
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Item, Verdict
from evaltui.core.status import Status, StudyState
from evaltui.core.study import ArmDesign, Design, PinValue, ScorerDesign, StudyPlan

ARMS = ("baseline", "candidate")


def make_items(n: int) -> tuple[Item, ...]:
    return tuple(make_item(j, f"{j} + {j}?") for j in range(n))


def make_item(position: int, question: str) -> Item:
    id, fields = f"item-{position}", {"question": question}
    return Item(id, fields, str(2 * position), "sums", None, item_hash(id, fields), position)


def make_arm(name: str, temperature: float) -> ArmDesign:
    pins: dict[str, PinValue] = {"model": "m", "temperature": temperature, "prompt": name}
    return ArmDesign(name, pins, digest(pins))


def make_plan(
    *, name: str = "study", n: int = 4, repeats: int = 2, temperature: float = 0.0, concurrency: int = 8
) -> StudyPlan:
    arms = tuple(make_arm(arm, temperature) for arm in ARMS)
    scorers = (ScorerDesign("exact", "exact", "1", primary=True), ScorerDesign("short", "regex", "1", primary=False))
    design = Design(
        name=name,
        arms=arms,
        scorers=scorers,
        repeats=repeats,
        n_items=n,
        order_seed=7,
        schedule="interleaved",
        concurrency=concurrency,
        baseline="baseline",
        pin_hash=study_pin_hash({arm.name: arm.pin_hash for arm in arms}),
    )
    return StudyPlan(design, make_items(n), {"study": {"name": name}}, "/studies/study.toml")


def make_study(path: Path, **settings: Any) -> str:
    return store.open_study(path, make_plan(**settings), new=True).study_id


def cells_of(plan: StudyPlan) -> Iterator[Cell]:
    for repeat in range(1, plan.design.repeats + 1):
        for item in plan.items:
            for arm in plan.design.arm_names:
                yield Cell(arm, repeat, item.position, item.id)


def attempt_of(cell: Cell, number: int = 1, **fields: Any) -> AttemptRecord:
    return replace(AttemptRecord(cell, number, Status.OK, started=1000.0, latency_s=0.5), **fields)


def outcome_of(cell: Cell, *, text: str | None = "4", label: str | None = "4", **fields: Any) -> CellRecord:
    verdicts = (Verdict("exact", Status.OK, label, 1.0), Verdict("short", Status.OK, "yes", 0.5))
    record = CellRecord(cell, verdicts, text, reasoning="", attempts=1, latency_s=0.5, finished=1001.0)
    return replace(record, **fields)


def write_study(path: Path, **settings: Any) -> str:
    """A finished study, every cell with its call."""
    study = make_study(path, **settings)
    with store.Writer(path, study) as writer:
        for cell in cells_of(store.load_plan(path, study)):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell, text=f"answer {cell.position} of {cell.arm}", reasoning="because"))
        writer.state(StudyState.FINISHED)
    return study


def first_cell() -> Cell:
    return Cell("baseline", 1, 0, "item-0")
