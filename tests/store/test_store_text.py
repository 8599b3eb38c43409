"""Any text comes back as it was given, and is stored once."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from study_making import attempt_of, cells_of, first_cell, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.records import Cell, Event

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=2000)
SURROGATE_PAIR_IN_TWO = "\ud83d\ude00"


@settings(max_examples=25, deadline=None)
@given(ANY_TEXT)
@example("")
@example("a\0b")
@example("\ud83d")
@example(SURROGATE_PAIR_IN_TWO)
@example("x" * 5000 + "\udfff")
def test_answers_labels_messages_and_events_survive_unchanged(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        study = make_study(path)
        attempt = attempt_of(first_cell(), message=text, model=text, fingerprint=text)
        outcome = outcome_of(first_cell(), text=text, label=text, reasoning=text)
        with store.Writer(path, study) as writer:
            writer.attempt(attempt)
            writer.cell(outcome)
            writer.event(Event(1.0, "note", text))
        assert store.cell_detail(path, study, "baseline", 1, 0) == store.CellDetail(outcome, (attempt,))
        assert [event.text for event in store.events(path, study)] == [text]
        with store.Follower(path, study) as follower:
            delta = follower.poll()
            assert delta is not None
            assert delta.cells.label == [text]
            assert store.texts(path, delta.cells.text.tolist()) == {delta.cells.text[0]: text}


def test_an_answer_of_ten_megabytes_survives(path: Path) -> None:
    study = make_study(path)
    outcome = outcome_of(first_cell(), text="long line " * 1_000_000)
    with store.Writer(path, study) as writer:
        writer.cell(outcome)
    assert store.cell_detail(path, study, "baseline", 1, 0).record == outcome
    assert path.stat().st_size < 1_000_000


def test_no_answer_is_not_an_empty_answer(path: Path) -> None:
    study = make_study(path)
    other = Cell("candidate", 1, 0, "item-0")
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell(), text=None))
        writer.cell(outcome_of(other, text=""))
    none = store.cell_detail(path, study, "baseline", 1, 0).record
    empty = store.cell_detail(path, study, "candidate", 1, 0).record
    assert none is not None
    assert empty is not None
    assert (none.text, empty.text) == (None, "")


def test_identical_answers_of_all_runs_cost_one_row(path: Path) -> None:
    plan = make_plan(repeats=5)
    study = make_study(path, repeats=5)
    before = count_texts(path)
    with store.Writer(path, study) as writer:
        for cell in cells_of(plan):
            writer.cell(outcome_of(cell, text="the same"))
            writer.flush()
    assert count_texts(path) == before + 1


def test_a_database_reader_without_our_code_reads_labels_as_text(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell(), label="größer ☃"))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT label FROM v_cells WHERE is_primary").fetchall() == [("größer ☃",)]
    connection.close()


def count_texts(path: Path) -> int:
    connection = sqlite3.connect(path)
    ((count,),) = connection.execute("SELECT count(*) FROM texts").fetchall()
    connection.close()
    return int(count)
