"""Runs that only warm up: first in the order, priced, paid for, and in no number."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from engine_world import Memory, Told, run_virtually, study

from evaltui.core.errors import InputError
from evaltui.core.records import Cell, Completion, Request
from evaltui.core.status import StudyState
from evaltui.engine import schedule
from evaltui.engine.plan import preview
from evaltui.engine.progress import Progress
from evaltui.engine.requests import seed_for
from evaltui.engine.run import run_study
from evaltui.engine.wiring import scorers

PRICED = {"price": {"input": 1.0, "output": 1.0}}


async def right(_: Request) -> Completion:
    await asyncio.sleep(0.1)
    return Completion("yes")


def order(name: str, warmup: int = 2) -> list[str]:
    plan, _ = study(2, schedule=name, repeats=1, warmup=warmup)
    return [f"{cell.arm[0]}{cell.repeat}.{cell.position}" for cell in schedule.cells(plan.design, plan.items, {})]


def test_warm_up_runs_come_first_side_by_side() -> None:
    assert order("interleaved") == [
        f"{arm}{repeat}.{place}" for repeat in (-1, 0, 1) for place in (0, 1) for arm in "bc"
    ]


def test_in_sequence_each_arm_warms_up_before_its_own_repeats() -> None:
    assert order("sequential") == [
        f"{arm}{repeat}.{place}" for arm in "bc" for repeat in (-1, 0, 1) for place in (0, 1)
    ]


@pytest.mark.parametrize("warmup", [-1, 101])
def test_a_warm_up_of_less_than_nothing_or_of_more_than_a_hundred_is_refused(warmup: int) -> None:
    with pytest.raises(InputError, match=r"study\.warmup"):
        study(warmup=warmup)


def test_a_warm_up_is_priced() -> None:
    cold, warm = (preview(config, plan) for plan, config in (study(4, endpoint=PRICED, warmup=n) for n in (0, 2)))
    assert (cold.requests, warm.requests) == (2 * 2 * 4, 2 * 4 * 4)
    assert cold.cost is not None
    assert warm.cost == pytest.approx(2 * cold.cost)
    assert cold.ten_repeats_cost is not None
    assert warm.ten_repeats_cost == pytest.approx(cold.ten_repeats_cost * 12 / 10)
    assert "2 warm-up runs of each arm first: priced here, and in no number" in warm.notices


def test_a_warm_up_is_made_and_kept_and_does_not_count_as_progress() -> None:
    plan, config = study(2, arms=("baseline",), repeats=1, warmup=1)
    sink, endpoint, told = Memory(), Told(right), list[Progress]()

    async def session(terminal: schedule.Terminal) -> StudyState:
        outcome = await run_study(
            plan,
            config,
            sink,
            providers={"main": endpoint},
            scorers=scorers(config),
            terminal=terminal,
            progress=told.append,
        )
        return outcome.state

    assert run_virtually(session({})) is StudyState.FINISHED
    assert [(record.cell.repeat, record.cell.position) for record in sink.cells] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (told[0].done, told[-1].done, told[-1].total) == (0, 2, 2)
    assert all(0 <= each.done <= each.total for each in told)
    assert "1 warm-up run of each arm first" in sink.events[0].text

    again = sink.terminal(2)
    again["baseline", 1] = np.array([True, False])
    assert run_virtually(session(again)) is StudyState.FINISHED
    assert [record.cell.repeat for record in sink.cells[4:]] == [1]


def test_the_seed_of_a_warm_up_run_is_never_negative() -> None:
    assert [seed_for("per-repeat", Cell("a", repeat, 0, "i"), 0) for repeat in (-1, 0, 1)] == [2**31 - 1, 0, 1]
