"""A study from its configuration to the verdicts in the workspace file, with nothing but real parts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engine_world import run_virtually

from evaltui import config as configs
from evaltui import datasets, store
from evaltui.core.status import STATUS_BY_CODE, Command, Status, StudyState
from evaltui.datasets.demo import arithmetic_items
from evaltui.engine import wiring
from evaltui.engine.plan import build_plan
from evaltui.engine.progress import Progress
from evaltui.engine.run import Outcome, run_study
from evaltui.engine.stopper import Stopper

N_ITEMS, REPEATS = 25, 3
FAULTS = {
    "timeout": 0.05,
    "rate_limit": 0.05,
    "server_error": 0.05,
    "truncated": 0.03,
    "empty": 0.03,
    "refused": 0.02,
    "unparsable": 0.03,
}
Verdicts = Counter[tuple[str, int, int, Status, str | None]]


def open_study(path: Path, **simulator: Any) -> str:
    config = configs.from_mapping(
        {
            "study": {"name": "whole", "repeats": REPEATS, "concurrency": 6, "max_errors": 1.0},
            "dataset": {"path": "generated", "gold": "answer"},
            "endpoints": {
                "main": {
                    "kind": "simulator",
                    "retries": 1,
                    "price": {"input": 1.0, "output": 2.0},
                    "simulator": {"faults": FAULTS, **simulator},
                }
            },
            "arms": {
                "baseline": {"endpoint": "main", "model": "m", "prompt_text": "{{question}}"},
                "candidate": {"extends": "baseline", "prompt_text": "Think. {{question}}"},
            },
            "scorers": {"number": {"kind": "numeric"}},
        },
        Path(),
        source="test",
    )
    plan = build_plan(config, datasets.from_items(arithmetic_items(N_ITEMS, seed=2)))
    return store.open_study(path, plan).study_id


async def session(
    path: Path, study_id: str, stopper: Stopper | None = None, progress: Callable[[Progress], None] | None = None
) -> Outcome:
    """One engine's life on a stored study, from the database alone."""
    plan = store.load_plan(path, study_id)
    config = configs.from_mapping(plan.config, Path(), source=study_id)
    with store.Writer(path, study_id) as writer:
        return await run_study(
            plan,
            config,
            writer,
            providers=wiring.providers(config, plan, {}),
            scorers=wiring.scorers(config),
            terminal=writer.terminal(),
            earlier=writer.earlier(),
            stopper=stopper,
            progress=progress,
        )


def look(path: Path, study_id: str) -> tuple[Verdicts, StudyState, str]:
    with closing(store.Follower(path, study_id)) as follower:
        delta = follower.poll()
    assert delta is not None
    arms = delta.info.design.arm_names
    cells = delta.cells
    rows = zip(cells.arm, cells.repeat, cells.position, cells.status, cells.label, strict=True)
    verdicts = Counter((arms[a], int(r), int(p), STATUS_BY_CODE[int(s)], label) for a, r, p, s, label in rows)
    return verdicts, delta.info.state, delta.info.reason


def places(verdicts: Verdicts) -> list[tuple[str, int, int]]:
    return sorted((arm, repeat, position) for arm, repeat, position, _, _ in verdicts.elements())


EVERY_CELL = [
    (arm, repeat, position)
    for arm in ("baseline", "candidate")
    for repeat in range(1, REPEATS + 1)
    for position in range(N_ITEMS)
]


def test_a_study_with_every_fault_ends_with_one_verdict_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    study = open_study(path)
    assert run_virtually(session(path, study)).state is StudyState.FINISHED
    verdicts, state, _ = look(path, study)
    assert state is StudyState.FINISHED
    assert places(verdicts) == EVERY_CELL
    assert len({status for _, _, _, status, _ in verdicts}) > 4


def test_a_study_that_was_cut_off_three_times_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    whole, pieces = tmp_path / "whole.db", tmp_path / "pieces.db"
    undisturbed = open_study(whole)
    run_virtually(session(whole, undisturbed))

    study = open_study(pieces)
    for share in (0.2, 0.5, 0.8):
        stopper = Stopper()

        def cut(progress: Progress, stopper: Stopper = stopper, share: float = share) -> None:
            if progress.done > share * progress.total and not stopper.requested:
                stopper.request()
                stopper.request()

        assert run_virtually(session(pieces, study, stopper, cut)) == Outcome(StudyState.STOPPED, "interrupted")
        assert len(places(look(pieces, study)[0])) < len(EVERY_CELL)
    assert run_virtually(session(pieces, study)).state is StudyState.FINISHED

    assert look(pieces, study)[0] == look(whole, undisturbed)[0]


def test_what_was_spent_survives_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    study = open_study(path)
    heard: list[Progress] = []
    stopper = Stopper()

    def stop_half_way(progress: Progress) -> None:
        if progress.done > 70 and not stopper.requested:
            stopper.request()

    run_virtually(session(path, study, stopper, stop_half_way))
    run_virtually(session(path, study, progress=heard.append))
    with closing(sqlite3.connect(path)) as connection:
        ((spent,),) = connection.execute("SELECT sum(cost) FROM attempts").fetchall()
    assert heard[0].cost > 0
    assert abs(heard[-1].cost - spent) < 1e-12


async def test_pause_and_resume_reach_a_running_engine_through_the_file(tmp_path: Path) -> None:
    path = tmp_path / "e.db"
    study = open_study(path, faults={}, latency_s=0.2, speed=3.0)
    running = asyncio.create_task(session(path, study))

    async def until(state: StudyState) -> None:
        while store.resolve(path, study).state is not state:
            assert not running.done()
            await asyncio.sleep(0.01)

    async with asyncio.timeout(30):
        await until(StudyState.RUNNING)
        store.send(path, study, Command.PAUSE)
        await until(StudyState.PAUSED)
        store.send(path, study, Command.RESUME)
        assert (await running).state is StudyState.FINISHED
    verdicts, state, reason = look(path, study)
    assert (state, reason) == (StudyState.FINISHED, "")
    assert places(verdicts) == EVERY_CELL
