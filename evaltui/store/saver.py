"""The writer's thread: gathers records, saves them, and goes on trying while they cannot be saved."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from evaltui.core.records import AttemptRecord, CellRecord, Event
from evaltui.core.status import Command, StudyState
from evaltui.store import connect
from evaltui.store.batch import Batch, StudyKeys
from evaltui.store.file_identity import file_at, insist_there, path_of
from evaltui.store.lease import HeldLease, beat, insist_mine, release_lease

WINDOW_S: Final = 0.05
WINDOW_RECORDS: Final = 500
LOOK_S: Final = 0.2
HEARTBEAT_S: Final = 2.0
FIRST_DELAY_S: Final = 0.2
LONGEST_DELAY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class StateChange:
    """A new state of the study."""

    state: StudyState
    reason: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Whatever was queued before it is committed once ``done`` is set. The ``last`` one gives the lease up."""

    last: bool = False
    done: threading.Event = field(default_factory=threading.Event)


Entry = AttemptRecord | CellRecord | Event | StateChange | Flush


class Saver:
    """Owns a connection and the records that are not saved yet; :meth:`run` is the body of its thread.

    ``saved`` counts committed records. ``reason`` says why the last commit failed; None once one succeeds. ``fatal`` is
    what ended the thread: the lease is lost, or a defect. Other threads put entries into ``entries``, take from
    ``commands`` and may set ``give_up``.
    """

    def __init__(self, connection: sqlite3.Connection, keys: StudyKeys, lease: HeldLease, study_id: str) -> None:
        self.entries: queue.SimpleQueue[Entry] = queue.SimpleQueue()
        self.commands: deque[Command] = deque()
        self.give_up = threading.Event()
        self.saved = 0
        self.reason: str | None = None
        self.fatal: Exception | None = None
        self._connection = connection
        self._path = path_of(connection)
        self._file = file_at(self._path)
        self._lease = lease
        self._study_id = study_id
        self._batch = Batch(keys)
        self._flushes: list[Flush] = []
        self._delay = 0.0
        self._next_beat = time.monotonic() + HEARTBEAT_S
        self._data_version = -1
        ((self._last_control,),) = connection.execute(
            "SELECT coalesce(max(key), 0) FROM controls WHERE study = ?", (keys.study,)
        ).fetchall()

    def run(self) -> None:
        try:
            while not self.give_up.is_set():
                self._gather()
                if self._save():
                    return
        except Exception as error:
            self.fatal = error

    def _gather(self) -> None:
        """Collect entries until a commit is due: the window is over or full, or something asks for one now."""
        deadline = time.monotonic() + (self._delay or LOOK_S)
        while (left := deadline - time.monotonic()) > 0:
            try:
                entry = self.entries.get(timeout=left)
            except queue.Empty:
                return
            first = not self._batch.records
            self._add(entry)
            if isinstance(entry, Flush):
                return
            if self._delay:
                continue
            if isinstance(entry, Event | StateChange) or self._batch.records >= WINDOW_RECORDS:
                return
            if first:
                deadline = time.monotonic() + WINDOW_S

    def _add(self, entry: Entry) -> None:
        match entry:
            case AttemptRecord():
                self._batch.add_attempt(entry)
            case CellRecord():
                self._batch.add_cell(entry)
            case Event():
                self._batch.add_event(entry)
            case StateChange():
                self._batch.set_state(entry.state, entry.reason)
            case Flush():
                self._flushes.append(entry)

    def _save(self) -> bool:
        """Commit what there is, and look for commands. Returns whether that was the last commit."""
        last = any(flush.last for flush in self._flushes)
        try:
            if self._batch.records or last or time.monotonic() >= self._next_beat:
                self._commit(last)
            self._look_for_commands()
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
            raise
        except sqlite3.Error as error:
            self._postpone(error)
            return False
        self.reason = None
        self._delay = 0.0
        for flush in self._flushes:
            flush.done.set()
        self._flushes.clear()
        return last

    def _commit(self, last: bool) -> None:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            insist_mine(connection, self._lease, self._study_id)
            self._batch.write(connection)
            if last:
                release_lease(connection, self._lease)
            elif time.monotonic() >= self._next_beat:
                # An open file outlives its name: what is saved into it then is saved for nobody.
                insist_there(self._path, self._file)
                beat(connection, self._lease)
            connection.execute("COMMIT")
        finally:
            # SQLite may have ended the transaction itself, when the disk is full for one.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        self.saved += self._batch.records
        self._batch.clear()
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + HEARTBEAT_S

    def _postpone(self, error: sqlite3.Error) -> None:
        self._delay = min(max(2 * self._delay, FIRST_DELAY_S), LONGEST_DELAY_S)
        self.reason = connect.sentence(error)

    def _look_for_commands(self) -> None:
        ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
        if version == self._data_version:
            return
        rows = self._connection.execute(
            "SELECT key, command FROM controls WHERE study = ? AND key > ? ORDER BY key",
            (self._lease.study, self._last_control),
        ).fetchall()
        for key, command in rows:
            self._last_control = key
            self.commands.append(Command(command))
        self._data_version = version
