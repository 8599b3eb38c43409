"""The order in which cells are started."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from engine_world import study

from evaltui.core.records import Cell
from evaltui.core.study import StudyPlan
from evaltui.engine import schedule


def planned(schedule_name: str, **options: object) -> StudyPlan:
    plan, _ = study(2, schedule=schedule_name, **options)  # type: ignore[arg-type]
    return plan


def brief(cells: list[Cell]) -> list[str]:
    return [f"{cell.arm[0]}{cell.repeat}.{cell.position}" for cell in cells]


def test_interleaved_puts_the_arms_side_by_side_and_repeats_after_one_another() -> None:
    plan = planned("interleaved")
    order = brief(list(schedule.cells(plan.design, plan.items, {})))
    assert order == ["b1.0", "c1.0", "b1.1", "c1.1", "b2.0", "c2.0", "b2.1", "c2.1"]


def test_sequential_finishes_an_arm_before_the_next() -> None:
    plan = planned("sequential")
    order = brief(list(schedule.cells(plan.design, plan.items, {})))
    assert order == ["b1.0", "b1.1", "b2.0", "b2.1", "c1.0", "c1.1", "c2.0", "c2.1"]


def test_terminal_cells_are_skipped_and_the_rest_keeps_its_order() -> None:
    plan = planned("interleaved")
    terminal = {("baseline", 1): np.array([True, False]), ("candidate", 2): np.array([True, True])}
    order = brief(list(schedule.cells(plan.design, plan.items, terminal)))
    assert order == ["c1.0", "b1.1", "c1.1", "b2.0", "b2.1"]
    assert schedule.count(plan.design, terminal) == 5


def test_a_cell_names_the_item_at_its_position() -> None:
    plan = planned("interleaved")
    for cell in schedule.cells(plan.design, plan.items, {}):
        assert plan.items[cell.position].id == cell.item_id


def test_a_study_of_a_thousand_repeats_is_not_laid_out_in_advance() -> None:
    plan = planned("interleaved", repeats=1000)
    assert brief(list(islice(schedule.cells(plan.design, plan.items, {}), 2))) == ["b1.0", "c1.0"]


@pytest.mark.parametrize("name", ["interleaved", "sequential"])
def test_a_finished_study_has_no_cells_left(name: str) -> None:
    plan = planned(name)
    terminal = {(arm, repeat): np.ones(2, dtype=np.bool_) for arm in plan.design.arm_names for repeat in (1, 2)}
    assert list(schedule.cells(plan.design, plan.items, terminal)) == []
    assert schedule.count(plan.design, terminal) == 0
