"""The engine as a process: run a stored study here, or start a process of its own that does."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaltui import config as configs
from evaltui import store
from evaltui.core.errors import StudyStoppedError
from evaltui.core.status import StudyState
from evaltui.core.study import StudyPlan
from evaltui.engine import wiring
from evaltui.engine.progress import Progress
from evaltui.engine.run import Outcome, run_study
from evaltui.engine.stopper import Stopper

START_WAIT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, and whether a signal ended it."""

    outcome: Outcome
    interrupted: bool


class InterruptedStudyError(StudyStoppedError):
    """A signal ended the session before the last cell."""

    exit_code = 130


def run_here(db: Path, study_id: str, *, progress: Callable[[Progress], None] | None = None) -> Ending:
    """Run a stored study in this process until it ends, pauses by itself or is stopped.

    Raises:
        LeaseHeldError: another engine runs this study.
        StoreError: results could not be saved.
    """
    plan = store.load_plan(db, study_id)
    config = configs.from_mapping(plan.config, Path(), source=plan.config_path or plan.design.name)
    with store.Writer(db, study_id) as writer:
        return asyncio.run(_run(plan, config, writer, progress))


async def _run(
    plan: StudyPlan,
    config: configs.StudyConfig,
    writer: store.Writer,
    progress: Callable[[Progress], None] | None,
) -> Ending:
    stopper = Stopper()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(name, stopper.request)
    providers = wiring.providers(config, plan, os.environ)
    try:
        outcome = await run_study(
            plan,
            config,
            writer,
            providers=providers,
            scorers=wiring.scorers(config),
            terminal=writer.terminal(),
            earlier=writer.earlier(),
            progress=progress,
            stopper=stopper,
        )
        return Ending(outcome, interrupted=stopper.requested)
    finally:
        for provider in providers.values():
            await provider.close()


def insist_finished(ending: Ending, study_id: str) -> None:
    """Raise for a study that ended before its last cell, so that a script sees exit code 4, or 130."""
    state, reason = ending.outcome.state, ending.outcome.reason
    if state is StudyState.FINISHED:
        return
    kind = InterruptedStudyError if ending.interrupted else StudyStoppedError
    raise kind(f"the study is {state}: {reason}; evaltui resume {study_id} goes on with it")


def spawn(db: Path, study_id: str) -> None:
    """Start an engine in a session of its own and wait until it holds the study.

    Raises:
        StudyStoppedError: the engine ended before it could start; the message is what it said.
    """
    log = _log_path(study_id)
    command = [sys.executable, "-m", "evaltui", "resume", study_id, "--headless", "--db", str(db.absolute())]
    with log.open("wb") as stream:
        engine = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True
        )
    give_up = time.monotonic() + START_WAIT_S
    while time.monotonic() < give_up:
        info = store.resolve(db, study_id)
        if info.live or info.state is StudyState.FINISHED:
            return
        if engine.poll() is not None:
            said = log.read_text("utf-8", "replace").strip()
            raise StudyStoppedError(said.removeprefix("evaltui: ") or f"the engine ended at once (log: {log})")
        time.sleep(0.05)


def _log_path(study_id: str) -> Path:
    from platformdirs import user_log_path

    folder = user_log_path("evaltui", appauthor=False, ensure_exists=True)
    with contextlib.suppress(OSError):
        for old in sorted(folder.glob("engine-*.log"))[:-50]:
            old.unlink()
    return folder / f"engine-{study_id}.log"
