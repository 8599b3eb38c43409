"""Whether a workspace file holds what was written into it: each cell once, whatever a row refers to, and every hash.

Nothing is written. Each study is read in one read transaction, so that an engine that runs it meanwhile makes no fault.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaltui.core.errors import StoreError
from evaltui.core.fields import item_hash
from evaltui.core.format import count
from evaltui.core.pins import digest, identifying, short_hash, study_pin_hash
from evaltui.core.status import OK_CODE, StudyState
from evaltui.core.study import Design
from evaltui.store import connect
from evaltui.store.ledger import named, reading
from evaltui.store.plans import load_config, load_design, load_json
from evaltui.store.stored_text import encode, restored, unpack

MOST_NAMED: Final = 3
MOST_PAGES: Final = 20

REFERENCES: Final = (
    ("runs", "arm", "arms"),
    ("items", "fields", "texts"),
    ("items", "gold", "texts"),
    *(
        (table, column, parent)
        for table in ("attempts", "verdicts", "judge_passes")
        for column, parent in (
            ("run", "runs"),
            ("item", "items"),
            ("status", "statuses"),
        )
    ),
    *((table, "scorer", "scorers") for table in ("verdicts", "judge_passes")),
    ("verdicts", "text", "texts"),
    ("verdicts", "reasoning", "texts"),
    ("judge_passes", "text", "texts"),
)
"""(table, column, table that the column leads to). What belongs to a study must be of the same one."""

KEYS: Final = {"items": "position", "statuses": "code"}
"""The columns that others refer to, where they are not ``key``."""

OF_A_STUDY: Final = ("arms", "scorers", "items", "runs")

CELLS: Final = """
SELECT run, item, count(*) FROM verdicts
WHERE study = ? AND is_primary AND revision = (
    SELECT max(later.revision) FROM verdicts AS later
    WHERE later.run = verdicts.run AND later.item = verdicts.item AND later.scorer = verdicts.scorer
)
GROUP BY run, item
"""
UNCALLED: Final = """
SELECT verdicts.run, verdicts.item FROM verdicts JOIN runs ON runs.key = verdicts.run
WHERE verdicts.study = ? AND verdicts.is_primary AND runs.parent_run IS NULL AND verdicts.attempts > (
    SELECT count(*) FROM attempts WHERE attempts.run = verdicts.run AND attempts.item = verdicts.item
)
ORDER BY verdicts.key
"""


@dataclass(frozen=True, slots=True)
class CheckedStudy:
    """A study and what is wrong with it. ``done`` of ``planned`` cells have a verdict; ``faults`` are sentences."""

    id: str
    name: str
    state: str
    done: int
    planned: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """``faults`` are those of the file that belong to no study; ``unused_texts`` are no fault."""

    faults: tuple[str, ...]
    studies: tuple[CheckedStudy, ...]
    unused_texts: int

    @property
    def n_faults(self) -> int:
        return len(self.faults) + sum(len(study.faults) for study in self.studies)


def verify(path: Path, ref: str | None = None) -> Verification:
    """Read a file through, for all its studies (newest first) or the one that ``ref`` names.

    Raises:
        StoreError: there is no such study, or the file cannot be used at all.
    """
    with reading(path) as connection:
        faults = list(_damaged_pages(connection))
        try:
            ids = _ids(connection, ref, path)
            damaged = _damaged_texts(connection)
            studies = tuple(_study(connection, study_id, damaged) for study_id in ids)
            unused, strays = _unused_texts(connection, damaged)
            faults += [*_homeless(connection), *strays]
        except (sqlite3.Error, zlib.error, ValueError, TypeError, AttributeError):
            if not faults:
                raise
            # That pages are damaged is told already, and what is read from them may be anything.
            studies, unused = (), 0
        return Verification(tuple(faults), studies, unused)


def _ids(connection: sqlite3.Connection, ref: str | None, path: Path) -> list[str]:
    if ref is not None:
        return [named(connection, ref, path)]
    return [str(study_id) for (study_id,) in connection.execute("SELECT id FROM studies ORDER BY key DESC").fetchall()]


def _damaged_pages(connection: sqlite3.Connection) -> Iterator[str]:
    try:
        found = [str(said) for (said,) in connection.execute(f"PRAGMA quick_check({MOST_PAGES})").fetchall()]
    except sqlite3.DatabaseError as error:
        if connect.primary_code(error) != sqlite3.SQLITE_CORRUPT:
            raise
        found = [str(error)]
    if found != ["ok"]:
        yield f"{connect.DAMAGED} (SQLite: {'; '.join(found)})"


def _damaged_texts(connection: sqlite3.Connection) -> set[int]:
    """The keys of texts that are not what their hash says."""
    damaged = set()
    for key, stored, coding, body in connection.execute("SELECT key, hash, coding, body FROM texts"):
        try:
            intact = short_hash(encode(unpack(coding, body))) == stored
        except (zlib.error, UnicodeDecodeError, TypeError, AttributeError):
            intact = False
        if not intact:
            damaged.add(key)
    return damaged


def _unused_texts(connection: sqlite3.Connection, damaged: Collection[int]) -> tuple[int, list[str]]:
    """How many texts nothing refers to, and a sentence about those of them that are damaged."""
    used = " UNION ".join(
        f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL" for table, column in _text_columns()
    )
    keys = [key for (key,) in connection.execute(f"SELECT key FROM texts WHERE key NOT IN ({used})").fetchall()]
    spoilt = [str(key) for key in keys if key in damaged]
    told = f"{count(len(spoilt), 'text')} that nothing refers to, with another hash than stored: {_some(spoilt)}"
    return len(keys), [told] if spoilt else []


def _homeless(connection: sqlite3.Connection) -> Iterator[str]:
    """Rows of studies that do not exist."""
    # Here and not at the top: importing sqlite-utils with the schema takes 0.2 s, which no other reader should cost.
    from evaltui.store.schema import STUDY_TABLES

    for table in STUDY_TABLES:
        sql = f"SELECT count(*), min(study) FROM {table} WHERE study NOT IN (SELECT key FROM studies)"
        ((number, first),) = connection.execute(sql).fetchall()
        if number:
            yield f"{count(number, 'row')} of {table} whose study does not exist (first: key {first})"


def _text_columns() -> list[tuple[str, str]]:
    return [(table, column) for table, column, parent in REFERENCES if parent == "texts"]


def _study(connection: sqlite3.Connection, study_id: str, damaged: Collection[int]) -> CheckedStudy:
    """Check a study as it stands at one moment."""
    connection.execute("BEGIN")
    try:
        row = connection.execute(
            "SELECT key, name, state, pin_hash, design, config FROM studies WHERE id = ?", (study_id,)
        ).fetchone()
        if row is None:
            raise StoreError(f"study {study_id} was deleted")
        key, name, state, pin_hash, stored, config = row
        try:
            design = load_design(stored)
            id_field = _id_field(load_config(config))
        except StoreError as error:
            return CheckedStudy(study_id, restored(name), state, 0, 0, (str(error),))
        cells = _Cells.read(connection, key, design)
        faults = (
            *cells.faults(finished=state == StudyState.FINISHED),
            *_orphans(connection, key),
            *_changed_pins(connection, key, design, pin_hash),
            *_changed_texts(connection, key, damaged),
            *_changed_items(connection, key, damaged, id_field),
            *_misplaced_scores(connection, key),
            *_uncalled(connection, key, cells),
        )
        return CheckedStudy(study_id, restored(name), state, cells.done, design.n_cells, faults)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _id_field(config: Mapping[str, object]) -> str:
    dataset = config.get("dataset")
    name = dataset.get("id") if isinstance(dataset, dict) else None
    return name if isinstance(name, str) else "id"


@dataclass(frozen=True, slots=True)
class _Cells:
    """How many current primary verdicts each planned cell has: by run, one byte for each item."""

    design: Design
    counts: dict[tuple[str, int], bytearray]
    names: dict[int, tuple[str, int]]
    items: dict[int, str]
    unplanned: list[str]

    @classmethod
    def read(cls, connection: sqlite3.Connection, study: int, design: Design) -> _Cells:
        rows = connection.execute(
            "SELECT runs.key, arms.name, runs.repeat FROM runs JOIN arms ON arms.key = runs.arm WHERE runs.study = ?",
            (study,),
        ).fetchall()
        names = {key: (restored(arm), repeat) for key, arm, repeat in rows}
        items = connection.execute("SELECT position, item_id FROM items WHERE study = ?", (study,)).fetchall()
        planned = [(arm, repeat) for arm in design.arm_names for repeat in design.all_repeats]
        cells = cls(design, {run: bytearray(design.n_items) for run in planned}, names, {}, [])
        cells.items.update((position, restored(item_id)) for position, item_id in items)
        for run, item, number in connection.execute(CELLS, (study,)):
            counts = cells.counts.get(names.get(run, ("", 0)))
            if counts is not None and 0 <= item < design.n_items:
                counts[item] = min(number, 255)
            elif run in names:
                cells.unplanned.append(cells.name(names[run], item))
        return cells

    @property
    def done(self) -> int:
        return sum(len(counts) - counts.count(0) for (_, repeat), counts in self.counts.items() if repeat > 0)

    def name(self, run: tuple[str, int], item: int) -> str:
        arm, repeat = run
        return f"{arm}#{repeat} {self.items.get(item, f'item {item}')}"

    def faults(self, *, finished: bool) -> Iterator[str]:
        design = self.design
        lost = [f"{arm}#{repeat}" for arm, repeat in self.counts.keys() - self.names.values()]
        if lost:
            yield f"{count(len(lost), 'planned run')} not there: {_some(sorted(lost))}"
        if gaps := [str(position) for position in range(design.n_items) if position not in self.items]:
            yield f"{count(len(gaps), 'item')} not there, by position: {_some(gaps)}"
        if doubled := self._where(lambda n: n > 1):
            yield f"{count(len(doubled), 'cell')} with more than one current primary verdict: {_some(doubled)}"
        if self.unplanned:
            yield f"{count(len(self.unplanned), 'cell')} with a verdict but not planned: {_some(self.unplanned)}"
        if finished and (missing := self._where(lambda n: n == 0)):
            yield f"{count(len(missing), 'cell')} without a verdict, though the study is finished: {_some(missing)}"

    def _where(self, holds: Callable[[int], bool]) -> list[str]:
        return [
            self.name(run, item) for run, counts in self.counts.items() for item, n in enumerate(counts) if holds(n)
        ]


def _orphans(connection: sqlite3.Connection, study: int) -> Iterator[str]:
    for table, column, parent in REFERENCES:
        same = f" AND {parent}.study = {table}.study" if parent in OF_A_STUDY else ""
        sql = (
            f"SELECT {KEYS.get(table, 'key')} FROM {table} WHERE study = ? AND {column} IS NOT NULL AND NOT EXISTS "
            f"(SELECT 1 FROM {parent} WHERE {parent}.{KEYS.get(parent, 'key')} = {table}.{column}{same})"
        )
        if found := _keys(connection, sql, study):
            yield f"{count(len(found), 'row')} of {table} whose {column} does not exist in {parent}: {_some(found)}"


def _changed_pins(connection: sqlite3.Connection, study: int, design: Design, pin_hash: str) -> Iterator[str]:
    rows = connection.execute("SELECT name, pin_hash FROM arms WHERE study = ?", (study,)).fetchall()
    stored = {restored(name): value for name, value in rows}
    for arm in design.arms:
        if not digest(identifying(arm.pins)) == arm.pin_hash == stored.get(arm.name):
            yield f"the pins of arm {arm.name} are not what its pin hash says"
    if not study_pin_hash({arm.name: arm.pin_hash for arm in design.arms}) == design.pin_hash == pin_hash:
        yield "the pin hash of the study is not that of its arms"


def _changed_texts(connection: sqlite3.Connection, study: int, damaged: Collection[int]) -> Iterator[str]:
    if not damaged:
        return
    for table, column in _text_columns():
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE study = ?"
        if found := [str(key) for (key,) in connection.execute(sql, (study,)).fetchall() if key in damaged]:
            yield f"{count(len(found), 'text')} ({column} of {table}) with another hash than stored: {_some(found)}"


def _changed_items(
    connection: sqlite3.Connection, study: int, damaged: Collection[int], id_field: str
) -> Iterator[str]:
    sql = (
        "SELECT item_id, items.hash, texts.key, coding, body FROM items JOIN texts ON texts.key = items.fields "
        "WHERE study = ? ORDER BY position"
    )
    changed = []
    for item_id, stored, key, coding, body in connection.execute(sql, (study,)):
        if key not in damaged and _item_hash(restored(item_id), unpack(coding, body), id_field) != stored:
            changed.append(restored(item_id))
    if changed:
        yield f"{count(len(changed), 'item')} with another hash than stored: {_some(changed)}"


def _item_hash(item_id: str, document: str, id_field: str) -> bytes | None:
    try:
        fields = load_json(document)
    except ValueError:
        return None
    return item_hash(item_id, fields, id_field) if isinstance(fields, dict) else None


def _misplaced_scores(connection: sqlite3.Connection, study: int) -> Iterator[str]:
    for table in ("verdicts", "judge_passes"):
        sql = f"SELECT key FROM {table} WHERE study = ? AND score IS NOT NULL AND status != {OK_CODE}"
        if found := _keys(connection, sql, study):
            yield f"{count(len(found), 'row')} of {table} with a score, though the status is not ok: {_some(found)}"


def _uncalled(connection: sqlite3.Connection, study: int, cells: _Cells) -> Iterator[str]:
    rows: list[tuple[Any, ...]] = connection.execute(UNCALLED, (study,)).fetchall()
    found = [cells.name(cells.names[run], item) for run, item in rows if run in cells.names]
    if found:
        yield f"{count(len(found), 'cell')} with more calls counted than stored: {_some(found)}"


def _keys(connection: sqlite3.Connection, sql: str, study: int) -> list[str]:
    return [str(key) for (key,) in connection.execute(sql, (study,)).fetchall()]


def _some(names: list[str]) -> str:
    """The first few, and how many more there are."""
    rest = len(names) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {rest} more" if rest > 0 else shown
