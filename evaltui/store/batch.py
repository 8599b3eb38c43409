"""What waits to be written: records as rows, saved in one transaction however often that has to be tried."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, field
from typing import Any, Final

from evaltui.core.errors import StoreError
from evaltui.core.pins import short_hash
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Event
from evaltui.core.status import STATUS_CODES, StudyState
from evaltui.store.extension import extended_to
from evaltui.store.feed import insert_events
from evaltui.store.stored_text import encode, pack, restored, storable, store_bodies

Row = tuple[Any, ...]
LARGEST: Final = 2**63 - 1
KNOWN_TEXTS: Final = 20_000
"""Hashes of stored texts that are remembered; about 200 bytes each."""

INSERT_ATTEMPT: Final = (
    "INSERT INTO attempts (study, run, item, number, status, started, latency, wait, queue_wait, http_status, message, "
    "prompt_tokens, completion_tokens, cached_tokens, cost, model, fingerprint, seed, request_hash, in_flight) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_VERDICT: Final = (
    "INSERT INTO verdicts (study, run, item, revision, scorer, is_primary, status, label, score, note, attempts, "
    "latency, finished, text, reasoning) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class StudyKeys:
    """The integer keys under which a study's rows are stored. ``scorers`` also tells which one is primary."""

    study: int
    runs: dict[tuple[str, int], int]
    scorers: dict[str, tuple[int, bool]]
    n_items: int

    @classmethod
    def read(cls, connection: sqlite3.Connection, study: int) -> StudyKeys:
        runs = connection.execute(
            "SELECT arms.name, runs.repeat, runs.key FROM runs JOIN arms ON arms.key = runs.arm WHERE runs.study = ?",
            (study,),
        ).fetchall()
        scorers = connection.execute("SELECT name, key, is_primary FROM scorers WHERE study = ?", (study,)).fetchall()
        ((n_items,),) = connection.execute("SELECT count(*) FROM items WHERE study = ?", (study,)).fetchall()
        return cls(
            study,
            {(restored(arm), repeat): key for arm, repeat, key in runs},
            {restored(name): (key, bool(primary)) for name, key, primary in scorers},
            n_items,
        )

    @property
    def primary_scorer(self) -> int:
        """The key of the scorer whose verdicts are compared."""
        return next(key for key, primary in self.scorers.values() if primary)

    def run(self, cell: Cell) -> int:
        """The key of the run a cell belongs to.

        Raises:
            StoreError: the cell is not part of the study.
        """
        run = self.runs.get((cell.arm, cell.repeat))
        if run is None or not 0 <= cell.position < self.n_items:
            raise StoreError(f"item {cell.position} of {cell.arm}#{cell.repeat} is not part of this study")
        return run

    def scorer(self, name: str) -> tuple[int, bool]:
        """The key of a scorer, and whether it is the primary one.

        Raises:
            StoreError: the study has no such scorer.
        """
        found = self.scorers.get(name)
        if found is None:
            raise StoreError(f"{name!r} is not a scorer of this study")
        return found


@dataclass(slots=True)
class Batch:
    """Records on their way to the database. Nothing leaves it before :meth:`clear`."""

    keys: StudyKeys
    attempts: list[Row] = field(default_factory=list)
    verdicts: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    state: tuple[StudyState, str] | None = None
    records: int = 0
    _bodies: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)
    _fresh: dict[bytes, int] = field(default_factory=dict)
    _known: dict[bytes, int] = field(default_factory=dict)

    def add_attempt(self, record: AttemptRecord) -> None:
        usage = record.usage
        self.records += 1
        self.attempts.append(
            (
                self.keys.study,
                self.keys.run(record.cell),
                record.cell.position,
                record.number,
                STATUS_CODES[record.status],
                record.started,
                record.latency_s,
                record.wait_s,
                record.queue_wait_s,
                _bounded(record.http_status),
                storable(record.message),
                _bounded(usage.prompt_tokens),
                _bounded(usage.completion_tokens),
                _bounded(usage.cached_tokens),
                record.cost,
                None if record.model is None else storable(record.model),
                None if record.fingerprint is None else storable(record.fingerprint),
                _bounded(record.seed),
                record.request_hash,
                record.in_flight,
            )
        )

    def add_cell(self, record: CellRecord) -> None:
        self.records += 1
        text = None if record.text is None else self._body(record.text)
        reasoning = self._body(record.reasoning) if record.reasoning else None
        for verdict in record.verdicts:
            scorer, primary = self.keys.scorer(verdict.scorer)
            self.verdicts.append(
                (
                    self.keys.study,
                    self.keys.run(record.cell),
                    record.cell.position,
                    record.revision,
                    scorer,
                    primary,
                    STATUS_CODES[verdict.status],
                    None if verdict.label is None else storable(verdict.label),
                    verdict.score,
                    storable(verdict.note),
                    record.attempts,
                    record.latency_s,
                    record.finished,
                    text,
                    reasoning,
                )
            )

    def add_event(self, event: Event) -> None:
        self.records += 1
        self.events.append(event)

    def set_state(self, state: StudyState, reason: str) -> None:
        self.records += 1
        self.state = (state, reason)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write everything inside the caller's transaction. A row that is there already is refused, with an event.

        Raises:
            sqlite3.Error: nothing can be written now; the batch is as it was.
        """
        self._fresh = store_bodies(connection, self._bodies.items())
        verdicts = [(*row[:-2], self._text_key(row[-2]), self._text_key(row[-1])) for row in self.verdicts]
        refused = _insert(connection, INSERT_ATTEMPT, self.attempts) + _insert(connection, INSERT_VERDICT, verdicts)
        insert_events(connection, self.keys.study, [*self.events, *(self._refusal(*pair) for pair in refused)])
        if self.state is not None:
            state, reason = self._state_to_store(connection, *self.state)
            connection.execute(
                "UPDATE studies SET state = ?, reason = ? WHERE key = ?",
                (state.value, storable(reason), self.keys.study),
            )

    def _state_to_store(self, connection: sqlite3.Connection, state: StudyState, reason: str) -> tuple[StudyState, str]:
        """A study that was extended while its last cells were done is not finished."""
        sql = "SELECT count(*), max(repeat) FROM runs WHERE study = ?"
        ((runs, repeats),) = connection.execute(sql, (self.keys.study,)).fetchall()
        if state is StudyState.FINISHED and runs > len(self.keys.runs):
            return StudyState.STOPPED, extended_to(repeats)
        return state, reason

    def clear(self) -> None:
        """Forget what was committed."""
        if len(self._known) > KNOWN_TEXTS:
            self._known.clear()
        self._known.update(self._fresh)
        for rows in (self.attempts, self.verdicts, self.events, self._bodies, self._fresh):
            rows.clear()
        self.state = None
        self.records = 0

    def _body(self, text: str) -> bytes:
        data = encode(text)
        digest = short_hash(data)
        if digest not in self._known and digest not in self._bodies:
            self._bodies[digest] = pack(data)
        return digest

    def _text_key(self, digest: bytes | None) -> int | None:
        if digest is None:
            return None
        key = self._fresh.get(digest)
        return self._known[digest] if key is None else key

    def _refusal(self, row: Row, error: sqlite3.IntegrityError) -> Event:
        _, run, item, *_ = row
        arm, repeat = next(name for name, key in self.keys.runs.items() if key == run)
        if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            text = f"a second verdict on item {item} of {arm}#{repeat} was not stored; the first one stands"
            return Event(time.time(), "duplicate", text, "error", arm, repeat)
        text = f"a record of item {item} of {arm}#{repeat} was not stored: {error}"
        return Event(time.time(), "refused", text, "error", arm, repeat)


def _insert(connection: sqlite3.Connection, sql: str, rows: list[Row]) -> list[tuple[Row, sqlite3.IntegrityError]]:
    """Insert rows at once; where the database refuses one, one by one, and return those that it refused."""
    connection.execute("SAVEPOINT rows")
    refused: list[tuple[Row, sqlite3.IntegrityError]] = []
    try:
        connection.executemany(sql, rows)
    except sqlite3.IntegrityError:
        connection.execute("ROLLBACK TO rows")
        for row in rows:
            try:
                connection.execute(sql, row)
            except sqlite3.IntegrityError as error:
                refused.append((row, error))
    connection.execute("RELEASE rows")
    return refused


def _bounded(number: int | None) -> int | None:
    """A number from a server, held inside what SQLite can store."""
    return None if number is None else max(-LARGEST, min(number, LARGEST))
