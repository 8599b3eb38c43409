"""More repeats for a study: the runs they take, and a word in its feed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from evaltui.core.errors import StoreError
from evaltui.core.records import Event
from evaltui.core.status import StudyState
from evaltui.core.study import Design
from evaltui.store import connect
from evaltui.store.feed import insert_events
from evaltui.store.ledger import study_key
from evaltui.store.plans import dump_design, dump_json, load_config, load_design

MOST_REPEATS: Final = 1000


def extend(path: Path, study_id: str, more: int) -> int:
    """Plan ``more`` repeats of every arm, whether or not an engine runs the study; how many there are then.

    An engine that runs it takes them up once it has done what it began with.

    Raises:
        StoreError: there is no such study, too many repeats, or the file cannot be written.
    """
    with closing(connect.writable(path)) as connection, connect.told(path), connect.transaction(connection):
        study = study_key(connection, study_id)
        ((state, stored, config),) = connection.execute(
            "SELECT state, design, config FROM studies WHERE key = ?", (study,)
        ).fetchall()
        design = load_design(stored)
        repeats = design.repeats + more
        if not design.repeats < repeats <= MOST_REPEATS:
            raise StoreError(
                f"study {study_id} has {design.repeats} repeats, and {more} more make {repeats}; at most "
                f"{MOST_REPEATS} are possible"
            )
        settings = dict(load_config(config))
        section = settings.get("study")
        settings["study"] = {**(section if isinstance(section, dict) else {}), "repeats": repeats}
        connection.execute(
            "UPDATE studies SET design = ?, config = ? WHERE key = ?",
            (dump_design(replace(design, repeats=repeats)), dump_json(settings), study),
        )
        plan_repeats(connection, study, design, repeats, StudyState(state))
        return repeats


def plan_repeats(connection: sqlite3.Connection, study: int, design: Design, after: int, state: StudyState) -> None:
    """Add the runs after those of ``design`` up to ``after``, with an event; a finished study is one to resume."""
    before = design.repeats
    add_runs(connection, study, design, range(before + 1, after + 1))
    if state is StudyState.FINISHED:
        connection.execute(
            "UPDATE studies SET state = ?, reason = ? WHERE key = ?",
            (StudyState.STOPPED.value, extended_to(after), study),
        )
    insert_events(connection, study, [Event(time.time(), "extended", f"{before} repeats before, {after} now")])


def add_runs(connection: sqlite3.Connection, study: int, design: Design, repeats: range) -> None:
    """A run of every arm for each repeat; one whose answers are replayed is ``frozen-import``."""
    kinds = ["frozen-import" if arm.pins.get("endpoint_kind") == "replay" else "end-to-end" for arm in design.arms]
    connection.executemany(
        "INSERT INTO runs (study, arm, repeat, kind) "
        "SELECT study, key, ?, ? FROM arms WHERE study = ? AND position = ?",
        [(repeat, kind, study, position) for repeat in repeats for position, kind in enumerate(kinds)],
    )


def add_warmups(connection: sqlite3.Connection, study: int, design: Design) -> None:
    """The runs that come before the first repeat of every arm and are in no number."""
    connection.executemany(
        "INSERT INTO runs (study, arm, repeat, kind) SELECT study, key, ?, 'warmup' FROM arms WHERE study = ?",
        [(repeat, study) for repeat in design.warmups],
    )


def extended_to(repeats: int) -> str:
    """Why a study whose cells are all done is not finished."""
    return f"extended to {repeats} repeats"
