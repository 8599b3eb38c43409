"""The live report: at each moment the document that the definition gives for the same cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info
from definition import in_flight_of_others, requests_differ, summarise
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.core.delta import Delta
from evaltui.core.errors import StoreError
from evaltui.core.grid import Grid
from evaltui.core.records import Item
from evaltui.core.status import Status, StudyState
from evaltui.core.study import Lease, MissingPolicy
from evaltui.core.tally import Tally
from evaltui.report.document import to_document
from evaltui.report.live import Live

NOW = 1_700_000_900.0
SCORES = {
    "0/1": lambda rng: float(rng.integers(0, 2)),
    "letters": lambda rng: float(rng.choice([0.0, 0.3, 0.7, 1.0])),
    "real": lambda rng: float(rng.random()),
}


def items_of(n: int, *, clustered: bool = False) -> list[Item]:
    names = ["even", "odd", None]
    return [
        Item(f"item-{place}", {}, None, names[place % 3], f"c{place // 3}" if clustered else None, b"", place)
        for place in range(n)
    ]


def random_row(rng: np.random.Generator, kind: str, cell: tuple[int, int, int], revision: int) -> Row:
    arm, place, column = cell
    failed = rng.random() < 0.08
    score = None if failed else SCORES[kind](rng)
    return Row(
        arm,
        column + 1,
        place,
        score,
        Status.TIMEOUT if failed else Status.OK,
        label=None if score is None or rng.random() < 0.2 else f"{score:g}",
        text=int(rng.integers(0, 4)) if not failed else -1,
        revision=revision,
        attempts=int(rng.integers(1, 4)),
        latency=float(rng.random()),
        finished=1_700_000_000.0 + float(rng.integers(0, 800)),
    )


def random_call(rng: np.random.Generator, row: Row) -> Call:
    """A call whose run sets how many are in flight and cached; in one of 200 another request."""
    return Call(
        row.arm,
        row.repeat,
        cost=0.001,
        prompt_tokens=7,
        cached_tokens=int(rng.integers(0, 1 + row.repeat % 3)),
        position=row.position,
        request=int(rng.choice([0, 5, 5, 5])) if rng.random() < 0.995 else -3,
        in_flight=int(rng.integers(0, 3 + 2 * (row.repeat % 3))),
    )


def by_definition(info, rows, calls, items):
    grid, tally = Grid(info.design), Tally(info.design)
    grid.apply(cell_batch(rows))
    tally.apply(attempt_batch(calls))
    return summarise(
        info,
        grid,
        tally,
        categories=[item.category for item in items],
        clusters=[item.cluster for item in items],
        item_ids=[item.id for item in items],
        now=NOW,
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 8, 30, 70]),
    k=st.integers(1, 9),
    kind=st.sampled_from(sorted(SCORES)),
    arms=st.sampled_from([("a", "b"), ("a", "b", "c")]),
    schedule=st.sampled_from(["interleaved", "sequential"]),
    clustered=st.booleans(),
    fail=st.booleans(),
    revised=st.sampled_from([0.0, 0.3]),
    batches=st.integers(1, 6),
)
def test_at_each_step_the_document_is_that_of_the_definition(
    seed, n, k, kind, arms, schedule, clustered, fail, revised, batches
):
    rng = np.random.default_rng(seed)
    missing = MissingPolicy(by_status={Status.TIMEOUT: "fail"}) if fail else MissingPolicy()
    design = make_design(n, k, arms=arms, schedule=schedule, missing=missing)
    info = replace(make_info(design, StudyState.RUNNING), lease=Lease(1, "here", 1, True))
    items = items_of(n, clustered=clustered)
    cells = [tuple(cell) for cell in np.argwhere(np.ones((len(arms), n, k))).tolist()]
    cells.sort(key=lambda cell: cell[2] * n + cell[1] + rng.random() * n)
    rows = [random_row(rng, kind, cell, 0) for cell in cells]
    rows += [random_row(rng, kind, cell, 1) for cell in cells if rng.random() < revised]
    if rng.random() < 0.5:
        rows = [rows[place] for place in rng.permutation(len(rows))]
    live, told, calls = Live(info, items), [], []
    for part in np.array_split(np.arange(len(rows)), batches):
        news = [rows[place] for place in part]
        made = [random_call(rng, row) for row in news]
        live.apply(Delta(info, cell_batch(news), attempt_batch(made)))
        told, calls = told + news, calls + made
        expected = by_definition(info, told, calls, items)
        found = live.summary(NOW)
        assert to_document(found) == to_document(expected)
        assert found == expected
        for index, arm in enumerate(found.arms):
            assert [run.in_flight_of_others for run in arm.runs] == in_flight_of_others(calls, index, k)
        told_differing = [notice.text for notice in found.warnings if notice.code == "requests_differ"]
        differing = {name: requests_differ(calls, index) for index, name in enumerate(arms)}
        assert len(told_differing) == sum(count > 0 for count in differing.values())
        for text in told_differing:
            assert int(text.split()[1]) == differing[text.split(":")[0]]


def test_repeats_that_are_added_and_another_policy_are_taken_up() -> None:
    rng = np.random.default_rng(3)
    items = items_of(60)
    cells = [tuple(cell) for cell in np.argwhere(np.ones((2, 60, 3))).tolist()]
    rows = [random_row(rng, "real", cell, 0) for cell in cells]
    before = make_info(make_design(60, 3))
    live = Live(before, items)
    live.apply(Delta(before, cell_batch(rows), attempt_batch([])))
    after = make_info(make_design(60, 9, missing=MissingPolicy(by_status={Status.TIMEOUT: "fail"})))
    more = [
        random_row(rng, "real", (arm, place, column), 0) for arm in (0, 1) for place in range(60) for column in (3, 4)
    ]
    live.apply(Delta(after, cell_batch(more), attempt_batch([])))
    assert to_document(live.summary(NOW)) == to_document(by_definition(after, rows + more, [], items))


def test_a_cell_that_the_design_does_not_have_is_refused() -> None:
    info = make_info(make_design(3, 2))
    live = Live(info, items_of(3))
    with pytest.raises(StoreError):
        live.apply(Delta(info, cell_batch([Row(0, 1, 7, 1.0)]), attempt_batch([])))
