"""Follows a study in a workspace file: what is new since the last look."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from evaltui.core.delta import Delta
from evaltui.core.errors import StoreError
from evaltui.core.status import StudyState
from evaltui.core.study import Design, StudyInfo
from evaltui.store import connect
from evaltui.store.columns import ATTEMPT_COLUMNS, CELL_COLUMNS, Rows, RunTable, in_flight_column
from evaltui.store.feed import EVENT_COLUMNS, event_of
from evaltui.store.lease import HeldLease, LeaseWatch, read_lease
from evaltui.store.ledger import study_key
from evaltui.store.plans import load_design
from evaltui.store.stored_text import restored

ROWS_AT_ONCE: Final = 200_000

CELLS: Final = f"SELECT {CELL_COLUMNS} FROM verdicts WHERE study = ? AND key > ? AND is_primary"
ATTEMPTS: Final = f"SELECT {ATTEMPT_COLUMNS}, {{in_flight}} FROM attempts WHERE study = ? AND key > ?"
EVENTS: Final = f"SELECT key, {EVENT_COLUMNS} FROM events WHERE study = ? AND key > ?"


class Follower:
    """A read-only look at one study that remembers what it has seen. One thread uses it at a time.

    The first poll returns everything, in steps of at most ``rows_at_once`` rows of a kind; later ones what was
    committed since. A poll that finds nothing committed costs one PRAGMA and a look at the engine's process.

    Raises StoreError on making it when there is no such study or the file cannot be read.
    """

    def __init__(
        self, path: Path, study_id: str, *, watch: LeaseWatch | None = None, rows_at_once: int = ROWS_AT_ONCE
    ) -> None:
        self._path = path
        self._study_id = study_id
        self._watch = watch or LeaseWatch()
        self._rows_at_once = rows_at_once
        self._cursors = dict.fromkeys((CELLS, ATTEMPTS, EVENTS), 0)
        self._version: int | None = None
        self._more = False
        self._held: HeldLease | None = None
        self._told: StudyInfo | None = None
        self._design: tuple[str | bytes, Design] | None = None
        self._connection = connect.readable(path)
        try:
            with connect.told(path):
                self._immutable = connect.closed_and_read_only(path)
                self._study = study_key(self._connection, study_id)
        except StoreError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Closing twice does nothing."""
        self._connection.close()

    def poll(self) -> Delta | None:
        """What is new, or None. A study whose engine has ended has been read whole once a poll returns None.

        Raises:
            StoreError: the file cannot be read, or the study was deleted.
        """
        self._reopen_if_written()
        with connect.told(self._path):
            ((version,),) = self._connection.execute("PRAGMA data_version").fetchall()
            if self._told is not None and version == self._version and not self._more:
                return self._news(replace(self._told, lease=self._watch.judge(self._held)), [], [], [])
            # The state is read before the rows: whoever reads "finished" has every row that was stored before it.
            info = self._read_info()
            cells, attempts, events = self._new_rows(CELLS), self._new_rows(ATTEMPTS), self._new_rows(EVENTS)
            self._version = version
            self._more = any(len(rows) == self._rows_at_once for rows in (cells, attempts, events))
            return self._news(info, cells, attempts, events)

    def _news(self, info: StudyInfo, cells: Rows, attempts: Rows, events: Rows) -> Delta | None:
        told, self._told = self._told, info
        if (
            not (cells or attempts or events)
            and told is not None
            and _without_heartbeat(info) == _without_heartbeat(told)
        ):
            return None
        runs = RunTable.read(self._connection, self._study)
        return Delta(
            info,
            runs.cells(cells),
            runs.attempts(attempts),
            tuple(event_of(row[1:]) for row in events),
            runs.warmup(cells, attempts),
        )

    def _new_rows(self, select: str) -> Rows:
        # Asked each time: an engine that takes the study up brings an older file up to date.
        sql = f"{select} ORDER BY key LIMIT ?".format(in_flight=in_flight_column(self._connection))
        rows = self._connection.execute(sql, (self._study, self._cursors[select], self._rows_at_once)).fetchall()
        if rows:
            self._cursors[select] = rows[-1][0]
        return rows

    def _read_info(self) -> StudyInfo:
        row = self._connection.execute(
            "SELECT state, reason, created, design FROM studies WHERE key = ?", (self._study,)
        ).fetchone()
        if row is None:
            raise StoreError(f"study {self._study_id} was deleted")
        state, reason, created, design = row
        if self._design is None or self._design[0] != design:
            self._design = (design, load_design(design))
        self._held = read_lease(self._connection, self._study)
        return StudyInfo(
            id=self._study_id,
            design=self._design[1],
            state=StudyState(state),
            reason=restored(reason),
            created=created,
            lease=self._watch.judge(self._held),
        )

    def _reopen_if_written(self) -> None:
        """An immutable connection sees no change: leave it once somebody has opened the file for writing."""
        if self._immutable and connect.wal(self._path).exists():
            self._connection.close()
            self._connection = connect.readable(self._path)
            self._immutable = False
            self._version = None


def _without_heartbeat(info: StudyInfo) -> StudyInfo:
    return info if info.lease is None else replace(info, lease=replace(info.lease, heartbeat=0))
