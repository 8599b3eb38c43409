"""The engine as a process: run a stored study here, or start a process of its own that does."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from evaltui import config as configs
from evaltui import store
from evaltui.cli.output import talk
from evaltui.cli.patience import once_unlocked
from evaltui.core.errors import EvaltuiError, StudyStoppedError
from evaltui.core.protocols import Provider
from evaltui.core.status import StudyState
from evaltui.core.study import StudyPlan
from evaltui.engine import wiring
from evaltui.engine.environment import environment
from evaltui.engine.progress import Progress
from evaltui.engine.run import Outcome, run_study
from evaltui.engine.stopper import Stopper

START_WAIT_S: Final = 10.0
COMPLAINT: Final = "evaltui: "
"""How the lines of an error begin on stderr."""

_engines: Final[list[subprocess.Popen[bytes]]] = []
"""Engines started here, kept so that a finished one is reaped and a running one may outlive this process."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, and whether a signal ended it."""

    outcome: Outcome
    interrupted: bool


class InterruptedStudyError(StudyStoppedError):
    """A signal ended the session before the last cell."""

    exit_code = 130


class EngineEndedError(EvaltuiError):
    """An engine that was started ended before it held its study; ``exit_code`` is its own."""

    def __init__(self, said: str, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(said)


def run_here(db: Path, study_id: str, *, progress: Callable[[Progress], None] | None = None) -> Ending:
    """Run a stored study in this process until it ends, pauses by itself or is stopped.

    While the database is locked or its disk is full, that is said on stderr and waited for. Repeats added while it runs
    are done as well.

    Raises:
        InputError: a key's environment variable is not set; the study was not taken up.
        LeaseHeldError: another engine runs this study.
        StoreError: results could not be saved.
    """
    _wired(db, study_id)
    while True:
        with closing(once_unlocked(partial(_taken_up, db, study_id))) as writer:
            # Read again: until the study was taken up, another process could extend it.
            plan, config, providers = _wired(db, study_id)
            # What code of the user prints must not get into the report.
            with redirect_stdout(sys.stderr):
                ending = asyncio.run(_run(plan, config, providers, writer, progress))
            # The loop's handlers are gone: while the last records wait for a disk, a signal gives them up with a word.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        planned = store.resolve(db, study_id).design.repeats
        # Extended while it ran: the repeats that were added are another session's.
        if ending.outcome.state is not StudyState.FINISHED or planned <= plan.design.repeats:
            return ending


def _wired(db: Path, study_id: str) -> tuple[StudyPlan, configs.StudyConfig, Mapping[str, Provider]]:
    """What is stored of a study, and its endpoints with their keys."""
    plan = store.load_plan(db, study_id)
    stored = configs.from_mapping(plan.config, Path(), source=plan.config_path or plan.design.name)
    config = configs.with_headers(stored, plan.config_path)
    return plan, config, wiring.providers(config, plan, os.environ)


def _taken_up(db: Path, study_id: str) -> store.Writer:
    """A writer that holds the study; what keeps it from saving at the end is said on stderr."""
    writer = store.Writer(db, study_id, waiting=_say_waiting, environment=environment())
    return writer.__enter__()


def _say_waiting(failure: EvaltuiError) -> None:
    talk(f"{failure}; Ctrl-C, or SIGTERM, gives them up")


async def _run(
    plan: StudyPlan,
    config: configs.StudyConfig,
    providers: Mapping[str, Provider],
    writer: store.Writer,
    progress: Callable[[Progress], None] | None,
) -> Ending:
    stopper = Stopper()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # `nohup evaltui run --headless` is to outlive its terminal.
        if name is not signal.SIGHUP or signal.getsignal(name) is not signal.SIG_IGN:
            loop.add_signal_handler(name, stopper.request)
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
    advice = f"; evaltui resume {study_id} goes on with it" if ending.outcome.resumable else ""
    raise kind(f"the study is {state}: {reason}{advice}")


def spawn(db: Path, study_id: str) -> None:
    """Start an engine in a session of its own and wait until it holds the study.

    Raises:
        EngineEndedError: it ended before that; the message is what it said.
        EvaltuiError: it has not taken the study up in time.
    """
    log = _log_path(study_id)
    command = [sys.executable, "-m", "evaltui", "resume", study_id, "--headless", "--db", str(db.absolute())]
    with log.open("wb") as stream:
        engine = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True
        )
    _engines.append(engine)
    give_up = time.monotonic() + START_WAIT_S
    while time.monotonic() < give_up:
        info = store.resolve(db, study_id)
        if info.live or info.state is StudyState.FINISHED:
            return
        if (code := engine.poll()) is not None:
            if code == 0:
                return
            lines = log.read_text("utf-8", "replace").splitlines()
            said = "\n".join(line.removeprefix(COMPLAINT) for line in lines if line.startswith(COMPLAINT))
            raise EngineEndedError(said or f"the engine ended at once (log: {log})", code)
        time.sleep(0.05)
    raise EvaltuiError(f"the engine has not taken study {study_id} up within {START_WAIT_S:g} s (log: {log})")


def _log_path(study_id: str) -> Path:
    from platformdirs import user_log_path

    folder = user_log_path("evaltui", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder.glob("engine-*.log"))[:-50]:
            old.unlink(missing_ok=True)
    except OSError:
        # A container may have no home that can be written to.
        folder = Path(tempfile.mkdtemp(prefix="evaltui-"))
    return folder / f"engine-{study_id}.log"
