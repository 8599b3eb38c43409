"""The one writer of a study, as the engine sees it."""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from evaltui.core.errors import StoreError
from evaltui.core.records import AttemptRecord, CellRecord, Event
from evaltui.core.status import Command, StudyState
from evaltui.core.study import EarlierSessions
from evaltui.store import connect
from evaltui.store.batch import StudyKeys
from evaltui.store.earlier import earlier_sessions
from evaltui.store.environment import keep_environment
from evaltui.store.lease import PATIENCE_S, release_lease, take_lease
from evaltui.store.ledger import study_key
from evaltui.store.saver import WINDOW_RECORDS, Entry, Flush, Saver, StateChange

CHECK_S: Final = 0.05
BEHIND: Final = 2 * WINDOW_RECORDS
"""More records than this in memory are more than the thread can take at once."""

Masks = dict[tuple[str, int], NDArray[np.bool_]]


class Writer:
    """The engine's :class:`evaltui.core.protocols.Sink` on a workspace file, while it holds the study's lease.

    ``attempt``, ``cell``, ``event``, ``state`` and ``commands`` return at once and do no I/O; a thread commits at most
    every 50 ms or 500 records, and at every event and change of state. While the disk is full or the database is
    locked, records stay in memory and :attr:`failure` says why; ``grace`` is for how many seconds of failure ``flush``
    and ``close`` go on trying, and ``waiting`` is told once why they do: what is in memory was paid for, so they never
    give up by themselves. ``environment`` is what the session runs on, by name: another one than that of the session
    before is an event. ``patience`` is how long the heartbeat of an engine on another host may stand still.
    ``synchronous="FULL"`` survives a loss of power without losing the last commits, at a cost.
    """

    def __init__(
        self,
        path: Path,
        study_id: str,
        *,
        synchronous: connect.Synchronous = "NORMAL",
        patience: float = PATIENCE_S,
        grace: float = math.inf,
        waiting: Callable[[StoreError], None] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._path = path
        self._study_id = study_id
        self._synchronous = synchronous
        self._patience = patience
        self._grace = grace
        self._waiting = waiting
        self._environment = environment
        self._queued = 0
        self._closed = False

    def __enter__(self) -> Self:
        """Take the lease and start the thread.

        Raises:
            LeaseHeldError: another engine runs the study.
            StoreError: there is no such study, or the file cannot be used.
        """
        self._connection = connect.writable(self._path, synchronous=self._synchronous)
        try:
            with connect.told(self._path):
                self._take_up(self._connection)
        except BaseException:
            self._connection.close()
            raise
        self._thread = threading.Thread(target=self._saver.run, name="evaltui-writer", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def failure(self) -> StoreError | None:
        """Why the records of the last seconds are not saved yet; None while all is well."""
        reason = self._saver.reason
        waits = f"{self.backlog} records wait in memory and are tried again"
        return self._fatal() or (StoreError(f"{self._path}: {reason}; {waits}") if reason else None)

    @property
    def backlog(self) -> int:
        """How many records are not committed yet."""
        return self._queued - self._saver.saved

    @property
    def behind(self) -> bool:
        """Whether the thread is starved: a loop that never waits for anything leaves it no time. A failure is none."""
        return self.backlog > BEHIND and self._saver.reason is None and self._saver.fatal is None

    def terminal(self) -> Masks:
        """Per (arm, repeat), which positions had a verdict when this writer was entered; each of shape (n_items,)."""
        return self._terminal

    def earlier(self) -> EarlierSessions:
        """What sessions before this one spent and who answered them."""
        return self._earlier

    def attempt(self, record: AttemptRecord) -> None:
        """Queue one call.

        Raises:
            StoreError: its cell is not part of the study, or the writer has ended (``failure`` says why).
        """
        self._keys.run(record.cell)
        self._put(record)

    def cell(self, record: CellRecord) -> None:
        """Queue the terminal outcome of a cell. A second one of the same revision is refused, with an error event.

        Raises:
            StoreError: the cell or a scorer is not part of the study, or the writer has ended.
        """
        self._keys.run(record.cell)
        for verdict in record.verdicts:
            self._keys.scorer(verdict.scorer)
        self._put(record)

    def event(self, event: Event) -> None:
        """Queue an event; it is committed without waiting for the window to pass."""
        self._put(event)

    def state(self, state: StudyState, reason: str = "") -> None:
        """Queue a change of state; it is committed, with all before it, without waiting for the window to pass."""
        self._put(StateChange(state, reason))

    def commands(self) -> list[Command]:
        """Commands sent since this writer was entered, or since the last call; oldest first.

        Raises:
            StoreError: the writer has ended, so no command can come any more: whoever waits for one must not go on.
        """
        if (fatal := self._fatal()) is not None:
            raise fatal
        found = []
        while self._saver.commands:
            found.append(self._saver.commands.popleft())
        return found

    def flush(self) -> None:
        """Return once everything queued so far is committed.

        Raises:
            StoreError: it could not be saved; it stays in memory and is tried again.
        """
        self._wait(Flush())

    def close(self) -> None:
        """Save what is queued, give the lease up and end the thread. Closing twice does nothing.

        Ctrl-C while it waits for a disk or a lock gives the records up.

        Raises:
            StoreError: records could not be saved; how many, and why.
        """
        if self._closed:
            return
        self._closed = True
        last = Flush(last=True)
        try:
            self._wait(last)
        except StoreError as error:
            reason = self._saver.reason or error
            self._saver.give_up.set()
            self._thread.join()
            # The attempt that was under way may have been the one that succeeds.
            if not last.done.is_set():
                raise StoreError(f"{self._path}: {self.backlog} records could not be saved: {reason}") from error
        except KeyboardInterrupt as error:
            self._saver.give_up.set()
            self._thread.join()
            if last.done.is_set() or not self.backlog:
                raise
            reason = self._saver.reason or "interrupted"
            raise StoreError(f"{self._path}: given up; {self.backlog} records are not saved: {reason}") from error
        except BaseException:
            self._saver.give_up.set()
            raise
        finally:
            self._thread.join()
            self._connection.close()

    def _take_up(self, connection: sqlite3.Connection) -> None:
        study = study_key(connection, self._study_id)
        lease = take_lease(connection, study, self._study_id, self._patience)
        try:
            self._bring_up_to_date(connection)
            self._keys = StudyKeys.read(connection, study)
            self._terminal = _terminal(connection, self._keys)
            self._earlier = earlier_sessions(connection, study)
            self._saver = Saver(connection, self._keys, lease, self._study_id)
            if self._environment is not None:
                keep_environment(connection, study, self._environment)
            ((state,),) = connection.execute("SELECT state FROM studies WHERE key = ?", (study,)).fetchall()
        except BaseException:
            release_lease(connection, lease)
            raise
        if state != StudyState.CREATED:
            counted = [mask for (_, repeat), mask in self._terminal.items() if repeat > 0]
            done, total = sum(int(mask.sum()) for mask in counted), len(counted) * self._keys.n_items
            text = f"resumed by process {os.getpid()} on {lease.process.host}; {done} of {total} cells were done"
            self._put(Event(time.time(), "resumed", text))

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Migrate an older file, once the study is ours: whoever may not run it changes nothing."""
        if connect.schema_version(connection) < connect.SCHEMA_VERSION:
            # Here and not at the top: sqlite-utils takes 0.2 s to import, and only an older file needs it.
            from evaltui.store.schema import prepare

            prepare(self._path)

    def _put(self, entry: Entry) -> None:
        if (fatal := self._fatal()) is not None:
            raise fatal
        if self._closed:
            raise StoreError(f"{self._path}: the writer of study {self._study_id} is closed")
        self._queued += 1
        self._saver.entries.put(entry)

    def _wait(self, flush: Flush) -> None:
        self._saver.entries.put(flush)
        failing_since: float | None = None
        while not flush.done.wait(CHECK_S):
            if (fatal := self._fatal()) is not None:
                raise fatal
            if (failure := self.failure) is None:
                failing_since = None
            elif failing_since is None:
                failing_since = time.monotonic()
                if self._waiting is not None:
                    self._waiting(failure)
            elif time.monotonic() - failing_since > self._grace:
                raise failure

    def _fatal(self) -> StoreError | None:
        fatal = self._saver.fatal
        if fatal is None or isinstance(fatal, StoreError):
            return fatal
        error = StoreError(f"{self._path}: writing ended by a defect in evaltui: {fatal!r}")
        error.__cause__ = fatal
        return error


def _terminal(connection: sqlite3.Connection, keys: StudyKeys) -> Masks:
    """Whole runs are told by their count, which an index holds; single cells are read of the others alone."""
    masks = {run: np.zeros(keys.n_items, dtype=np.bool_) for run in keys.runs}
    primary = keys.primary_scorer
    for run, key in keys.runs.items():
        counted = "SELECT count(DISTINCT item), min(item), max(item) FROM verdicts WHERE run = ? AND scorer = ?"
        ((done, first, last),) = connection.execute(counted, (key, primary)).fetchall()
        if done and not 0 <= first <= last < keys.n_items:
            raise StoreError("a verdict names no cell of its study; `evaltui studies --verify` says more")
        if done == keys.n_items:
            masks[run][:] = True
        elif done:
            rows = connection.execute(
                "SELECT item FROM verdicts WHERE run = ? AND scorer = ?", (key, primary)
            ).fetchall()
            masks[run][[item for (item,) in rows]] = True
    return masks
