"""The follower sees every row once, in order, and costs nothing while nothing happens."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from study_making import ARMS, attempt_of, cells_of, first_cell, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.delta import Delta
from evaltui.core.errors import StoreError
from evaltui.core.records import Event, Usage, Verdict
from evaltui.core.status import STATUS_CODES, Status, StudyState

Start = Callable[..., subprocess.Popen[str]]


def poll(follower: store.Follower) -> Delta:
    delta = follower.poll()
    assert delta is not None
    return delta


def places(delta: Delta) -> list[tuple[int, int, int]]:
    cells = delta.cells
    return list(zip(cells.arm.tolist(), cells.repeat.tolist(), cells.position.tolist(), strict=True))


def test_it_works_before_the_first_row(path: Path) -> None:
    study = make_study(path)
    with store.Follower(path, study) as follower:
        delta = poll(follower)
        assert (delta.info.state, len(delta.cells), len(delta.attempts), delta.events) == (StudyState.CREATED, 0, 0, ())
        assert delta.info.design == make_plan().design
        assert follower.poll() is None


def test_a_cell_arrives_as_columns_of_the_primary_scorer(path: Path) -> None:
    study = make_study(path)
    cell = list(cells_of(make_plan()))[-1]
    outcome = outcome_of(cell, label="4", attempts=3, latency_s=0.25, finished=77.5, revision=1)
    with store.Writer(path, study) as writer:
        writer.cell(outcome)
    with store.Follower(path, study) as follower:
        cells = poll(follower).cells
    assert len(cells) == 1
    columns = (cells.arm, cells.repeat, cells.position, cells.revision, cells.status, cells.score, cells.attempts)
    assert [column[0] for column in columns] == [1, 2, 3, 1, STATUS_CODES[Status.OK], 1.0, 3]
    assert (cells.label, cells.latency[0], cells.finished[0]) == (["4"], 0.25, 77.5)
    assert store.texts(path, cells.text.tolist()) == {cells.text[0]: "4"}


def test_what_is_missing_is_nan_none_and_minus_one(path: Path) -> None:
    study = make_study(path)
    verdict = Verdict("exact", Status.TIMEOUT)
    with store.Writer(path, study) as writer:
        writer.cell(replace(outcome_of(first_cell(), text=None), verdicts=(verdict,)))
        writer.attempt(attempt_of(first_cell(), status=Status.TIMEOUT))
    with store.Follower(path, study) as follower:
        delta = poll(follower)
    assert math.isnan(delta.cells.score[0])
    assert (delta.cells.label, delta.cells.text[0]) == ([None], -1)
    assert delta.cells.status[0] == delta.attempts.status[0] == STATUS_CODES[Status.TIMEOUT]
    assert delta.attempts.prompt_tokens[0] == 0


def test_attempts_arrive_as_columns(path: Path) -> None:
    study = make_study(path)
    attempt = attempt_of(
        first_cell(), 2, started=5.5, latency_s=0.5, wait_s=1.5, queue_wait_s=0.25, usage=Usage(1, 2, 3), cost=0.125
    )
    with store.Writer(path, study) as writer:
        writer.attempt(attempt)
    with store.Follower(path, study) as follower:
        batch = poll(follower).attempts
    columns = (
        batch.arm,
        batch.repeat,
        batch.number,
        batch.started,
        batch.latency,
        batch.wait,
        batch.queue_wait,
        batch.prompt_tokens,
        batch.completion_tokens,
        batch.cached_tokens,
        batch.cost,
    )
    assert [column[0] for column in columns] == [0, 1, 2, 5.5, 0.5, 1.5, 0.25, 1, 2, 3, 0.125]


def test_each_poll_returns_what_was_committed_since_the_last(path: Path) -> None:
    study = make_study(path)
    cells = list(cells_of(make_plan()))
    with store.Writer(path, study) as writer, store.Follower(path, study) as follower:
        poll(follower)
        writer.cell(outcome_of(cells[0]))
        writer.flush()
        assert places(poll(follower)) == [(0, 1, 0)]
        writer.cell(outcome_of(cells[1]))
        writer.event(Event(1.0, "note", "seen"))
        writer.flush()
        delta = poll(follower)
        assert places(delta) == [(1, 1, 0)]
        assert [event.text for event in delta.events] == ["seen"]
        assert follower.poll() is None


def test_a_long_study_arrives_in_steps_that_leave_nothing_out(path: Path) -> None:
    plan = make_plan(n=25)
    study = make_study(path, n=25)
    with store.Writer(path, study) as writer:
        for cell in cells_of(plan):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell))
    with store.Follower(path, study, rows_at_once=30) as follower:
        deltas = list(iter(follower.poll, None))
    assert [len(delta.cells) for delta in deltas] == [30, 30, 30, 10]
    expected = [(ARMS.index(cell.arm), cell.repeat, cell.position) for cell in cells_of(plan)]
    assert [place for delta in deltas for place in places(delta)] == expected
    assert sum(len(delta.attempts) for delta in deltas) == 100


def test_it_agrees_with_sql_while_the_engine_writes(path: Path) -> None:
    plan = make_plan(n=300)
    study = make_study(path, n=300)

    def write() -> None:
        with store.Writer(path, study) as writer:
            for cell in cells_of(plan):
                writer.attempt(attempt_of(cell))
                writer.cell(outcome_of(cell, text=str(cell.position)))
            writer.state(StudyState.FINISHED)

    engine = threading.Thread(target=write)
    seen: list[tuple[int, int, int]] = []
    texts: list[int] = []
    attempts = 0
    with store.Follower(path, study) as follower:
        engine.start()
        over = False
        while not over:
            if (delta := follower.poll()) is not None:
                seen += places(delta)
                texts += delta.cells.text.tolist()
                attempts += len(delta.attempts)
                over = delta.info.state is StudyState.FINISHED
    engine.join()
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT arms.position, runs.repeat, verdicts.item, verdicts.text FROM verdicts"
        " JOIN runs ON runs.key = verdicts.run JOIN arms ON arms.key = runs.arm WHERE is_primary ORDER BY verdicts.key"
    ).fetchall()
    connection.close()
    assert len(rows) == plan.design.n_cells == attempts
    assert [(*place, text) for place, text in zip(seen, texts, strict=True)] == rows


def test_other_studies_of_the_file_are_not_seen(path: Path) -> None:
    mine, other = make_study(path), make_study(path)
    with store.Follower(path, mine) as follower:
        poll(follower)
        with store.Writer(path, other) as writer:
            writer.cell(outcome_of(first_cell()))
        assert follower.poll() is None


def test_a_killed_engine_is_news_although_nothing_was_committed(path: Path, start: Start) -> None:
    study = make_study(path, n=5000, repeats=5)
    engine = start("writing_process.py", path, study)
    assert engine.stdout is not None
    assert engine.stdout.readline() == "started\n"
    assert engine.stdout.readline() == "safe 25\n"
    with store.Follower(path, study) as follower:
        assert poll(follower).info.live
        engine.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, engine.pid, os.WEXITED | os.WNOWAIT)
        last = list(iter(follower.poll, None))[-1]
        assert last.info.crashed


def test_added_repeats_are_seen(path: Path) -> None:
    study = make_study(path, repeats=2)
    with store.Follower(path, study) as follower:
        poll(follower)
        store.open_study(path, make_plan(repeats=3))
        assert poll(follower).info.design.repeats == 3
        with store.Writer(path, study) as writer:
            writer.cell(outcome_of(replace(first_cell(), repeat=3)))
        assert places(poll(follower)) == [(0, 3, 0)]


def test_columns_have_the_types_they_promise(path: Path) -> None:
    with store.Follower(path, make_study(path)) as follower:
        delta = poll(follower)
    cells = delta.cells
    whole = (cells.arm, cells.repeat, cells.position, cells.revision, cells.status, cells.text, cells.attempts)
    assert [column.dtype for column in whole] == [
        np.dtype(kind) for kind in ("int16", "int16", "int32", "int16", "uint8", "int64", "int16")
    ]
    real = (cells.score, cells.latency, cells.finished)
    assert [column.dtype for column in real] == [np.dtype(kind) for kind in ("float64", "float32", "float64")]


def test_it_cannot_write(path: Path) -> None:
    study = make_study(path)
    before = path.read_bytes()
    with store.Follower(path, study) as follower:
        poll(follower)
    assert path.read_bytes() == before


def test_an_unknown_study_is_refused(path: Path) -> None:
    make_study(path)
    with pytest.raises(StoreError, match="no study 'absent'"):
        store.Follower(path, "absent")


def test_a_study_deleted_meanwhile_is_told(path: Path) -> None:
    study = make_study(path)
    with store.Follower(path, study) as follower:
        poll(follower)
        store.delete(path, study)
        with pytest.raises(StoreError, match=f"{study} was deleted"):
            follower.poll()
