"""The lease: one engine per study, and how another process judges whether that engine still lives."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evaltui.core.errors import StoreError
from evaltui.core.study import Lease
from evaltui.store.process_identity import ProcessIdentity, runs, this_process

PATIENCE_S: Final = 15.0
SILENT_S: Final = 10.0
"""For how long a heartbeat stands still before its engine is said to save nothing; it rises every two seconds."""

LOOK_AGAIN_S: Final = 0.25


class LeaseHeldError(StoreError):
    """Another engine runs the study."""

    def __init__(self, study_id: str, pid: int, host: str) -> None:
        self.pid = pid
        self.host = host
        super().__init__(f"study {study_id} is run by process {pid} on {host}; `evaltui watch {study_id}` follows it")


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A row of ``leases``. ``token`` is new with every engine, ``heartbeat`` rises while that engine lives."""

    study: int
    token: str
    process: ProcessIdentity
    heartbeat: int


class LeaseWatch:
    """An observer's memory of heartbeats.

    A process of this host is looked up. Of any other, only the heartbeat tells: it is taken for dead once the counter
    has stood still for ``patience`` seconds of the observer's own monotonic clock, so a first look finds it alive.
    """

    def __init__(self, patience: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._clock = clock
        self._seen: dict[int, tuple[str, int, float]] = {}

    def alive(self, held: HeldLease) -> bool:
        still = self._still_s(held)
        found = runs(held.process)
        return (not still or still < self._patience) if found is None else found

    def _still_s(self, held: HeldLease) -> float:
        """For how many seconds this observer has seen the heartbeat stand still; 0 at the first look."""
        token, heartbeat, since = self._seen.get(held.study, ("", 0, 0.0))
        if (token, heartbeat) != (held.token, held.heartbeat):
            self._seen[held.study] = (held.token, held.heartbeat, self._clock())
            return 0.0
        return self._clock() - since

    def judge(self, held: HeldLease | None) -> Lease | None:
        """The lease as readers see it."""
        if held is None:
            return None
        alive, saving = self.alive(held), self._still_s(held) < SILENT_S
        return Lease(held.process.pid, held.process.host, held.heartbeat, alive, saving)


def read_lease(connection: sqlite3.Connection, study: int) -> HeldLease | None:
    """The lease on a study (its integer key), if there is one."""
    row = connection.execute(
        "SELECT token, pid, started, host, namespace, heartbeat FROM leases WHERE study = ?", (study,)
    ).fetchone()
    if row is None:
        return None
    token, pid, started, host, namespace, heartbeat = row
    return HeldLease(study, token, ProcessIdentity(pid, started, host, namespace), heartbeat)


def insist_free(
    connection: sqlite3.Connection, study: int, study_id: str, patience: float = PATIENCE_S
) -> HeldLease | None:
    """Return once no engine runs the study: None, or the lease that a dead engine left.

    An engine on another host is watched for ``patience`` seconds before it is taken for dead.

    Raises:
        LeaseHeldError: an engine runs it.
    """
    watch = LeaseWatch(patience)
    first = held = read_lease(connection, study)
    while held is not None and watch.alive(held):
        if runs(held.process) or held != first:
            raise LeaseHeldError(study_id, held.process.pid, held.process.host)
        time.sleep(min(LOOK_AGAIN_S, patience))
        held = read_lease(connection, study)
    return held


def take_lease(connection: sqlite3.Connection, study: int, study_id: str, patience: float = PATIENCE_S) -> HeldLease:
    """Become the engine of a study; waits as :func:`insist_free` does.

    Raises:
        LeaseHeldError: another engine runs it, or was faster.
    """
    left = insist_free(connection, study, study_id, patience)
    mine = HeldLease(study, secrets.token_hex(8), this_process(), 0)
    who = mine.process
    connection.execute("BEGIN IMMEDIATE")
    try:
        insist_untaken(connection, study, study_id, left)
        connection.execute(
            "INSERT OR REPLACE INTO leases (study, token, pid, started, host, namespace, heartbeat) "
            "VALUES (?, ?, ?, ?, ?, ?, 0)",
            (study, mine.token, who.pid, who.started, who.host, who.namespace),
        )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return mine


def insist_untaken(connection: sqlite3.Connection, study: int, study_id: str, left: HeldLease | None) -> None:
    """Check inside a write transaction that the lease is still as :func:`insist_free` found it.

    Raises:
        LeaseHeldError: an engine has taken the study since.
    """
    found = read_lease(connection, study)
    if found is not None and found != left:
        raise LeaseHeldError(study_id, found.process.pid, found.process.host)


def insist_mine(connection: sqlite3.Connection, mine: HeldLease, study_id: str) -> None:
    """Check inside a write transaction that nobody has taken the study over.

    Raises:
        LeaseHeldError: somebody has.
        StoreError: the lease, and perhaps the study, was deleted.
    """
    found = read_lease(connection, mine.study)
    if found is None:
        raise StoreError(f"study {study_id} was taken away from this engine: its lease is gone")
    if found.token != mine.token:
        raise LeaseHeldError(study_id, found.process.pid, found.process.host)


def beat(connection: sqlite3.Connection, mine: HeldLease) -> None:
    """Raise the heartbeat."""
    connection.execute("UPDATE leases SET heartbeat = heartbeat + 1 WHERE token = ?", (mine.token,))


def release_lease(connection: sqlite3.Connection, mine: HeldLease) -> None:
    """Give the study up."""
    connection.execute("DELETE FROM leases WHERE token = ?", (mine.token,))
