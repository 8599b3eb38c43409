"""A file that is as it was written has no faults, and one that somebody or something changed has them named."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rights import without_rights
from study_making import attempt_of, cells_of, make_plan, make_study, outcome_of, write_study

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.status import Status, StudyState

N_CELLS = 2 * 2 * 4


def damage(path: Path, *statements: str) -> None:
    """Change rows as another program may: without foreign keys."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def only_fault(path: Path, ref: str | None = None) -> str:
    found = store.verify(path, ref)
    (study,) = found.studies
    (fault,) = (*study.faults, *found.faults)
    return fault


def test_a_study_that_is_as_it_was_written_has_no_fault(path: Path) -> None:
    study_id = write_study(path)
    found = store.verify(path)
    assert (found.n_faults, found.unused_texts) == (0, 0)
    (study,) = found.studies
    assert (study.id, study.name, study.state, study.done, study.planned) == (
        study_id,
        "study",
        "finished",
        N_CELLS,
        N_CELLS,
    )


def test_the_current_revision_is_the_one_that_counts(path: Path) -> None:
    study = write_study(path)
    with store.Writer(path, study) as writer:
        for cell in cells_of(make_plan()):
            writer.cell(outcome_of(cell, revision=1))
        writer.state(StudyState.FINISHED)
    assert store.verify(path).n_faults == 0


def test_hostile_texts_and_failed_cells_are_no_fault(path: Path) -> None:
    study = make_study(path, name="\ud800 \x1b[2J")
    cells = list(cells_of(make_plan()))
    failed = outcome_of(cells[0], text=None)
    timeouts = tuple(replace(verdict, status=Status.TIMEOUT, score=None) for verdict in failed.verdicts)
    with store.Writer(path, study) as writer:
        for cell in cells:
            writer.attempt(attempt_of(cell, message="\udfff"))
        writer.cell(replace(failed, verdicts=timeouts))
        for cell in cells[1:]:
            writer.cell(outcome_of(cell, text="\ud800" * 600))
        writer.state(StudyState.FINISHED)
    assert store.verify(path).n_faults == 0


def test_a_study_that_is_not_finished_may_lack_cells(path: Path) -> None:
    study = make_study(path)
    cell = next(cells_of(make_plan()))
    with store.Writer(path, study) as writer:
        writer.state(StudyState.RUNNING)
        writer.attempt(attempt_of(cell))
        writer.cell(outcome_of(cell))
        writer.flush()
        found = store.verify(path, study)
    assert found.n_faults == 0
    assert [(checked.state, checked.done) for checked in found.studies] == [("running", 1)]


PASS = "INSERT INTO judge_passes (study, run, item, revision, scorer, number, status, score) VALUES (1, {}, 1, {})"
SWAPPED = "UPDATE texts SET body = CAST('other' AS BLOB) WHERE key = (SELECT {} FROM {} LIMIT 1)"

FAULTS = {
    "a cell is gone": (
        ["DELETE FROM verdicts WHERE run = 1 AND item = 2"],
        "1 cell without a verdict, though the study is finished: baseline#1 item-2",
    ),
    "many cells are gone": (
        ["DELETE FROM verdicts WHERE run IN (1, 2) AND item > 0"],
        "6 cells without a verdict, though the study is finished: "
        "baseline#1 item-1, baseline#1 item-2, baseline#1 item-3 and 3 more",
    ),
    "a cell counts twice": (
        [
            "UPDATE scorers SET is_primary = 1",
            "UPDATE verdicts SET is_primary = 1 WHERE run = 1 AND item = 2",
        ],
        "1 cell with more than one current primary verdict: baseline#1 item-2",
    ),
    "a run is not of the design": (
        ["UPDATE runs SET repeat = 9 WHERE key = 4", "UPDATE studies SET state = 'stopped'"],
        "1 planned run not there: candidate#2; "
        "4 cells with a verdict but not planned: candidate#9 item-0, candidate#9 item-1, candidate#9 item-2 "
        "and 1 more",
    ),
    "a verdict of no run": (
        ["UPDATE verdicts SET run = 99 WHERE key = 1", "UPDATE studies SET state = 'stopped'"],
        "1 row of verdicts whose run does not exist in runs: 1",
    ),
    "a verdict of no item": (
        ["UPDATE verdicts SET item = 99 WHERE key = 2"],
        "1 row of verdicts whose item does not exist in items: 2",
    ),
    "a verdict of no scorer": (
        ["UPDATE verdicts SET scorer = 99 WHERE key = 2"],
        "1 row of verdicts whose scorer does not exist in scorers: 2",
    ),
    "a verdict of an unknown status": (
        ["UPDATE verdicts SET status = 99, score = NULL WHERE key = 2"],
        "1 row of verdicts whose status does not exist in statuses: 2",
    ),
    "an answer that is gone": (
        ["UPDATE verdicts SET text = 999 WHERE key = 2"],
        "1 row of verdicts whose text does not exist in texts: 2",
    ),
    "a reasoning that is gone": (
        ["UPDATE verdicts SET reasoning = 999 WHERE key IN (2, 4, 6, 8)"],
        "4 rows of verdicts whose reasoning does not exist in texts: 2, 4, 6 and 1 more",
    ),
    "an attempt of no run": (
        ["INSERT INTO attempts (study, run, item, number, status, message) VALUES (1, 99, 0, 1, 1, '')"],
        "1 row of attempts whose run does not exist in runs: 17",
    ),
    "an attempt of no item": (
        ["INSERT INTO attempts (study, run, item, number, status, message) VALUES (1, 1, 99, 1, 1, '')"],
        "1 row of attempts whose item does not exist in items: 17",
    ),
    "a judge pass of no run": (
        [PASS.format("99, 0, 0, 1", "1, 1.0")],
        "1 row of judge_passes whose run does not exist in runs: 1",
    ),
    "a judge pass of no scorer": (
        [PASS.format("1, 0, 0, 99", "1, 1.0")],
        "1 row of judge_passes whose scorer does not exist in scorers: 1",
    ),
    "an item whose fields are gone": (
        ["UPDATE items SET fields = 999 WHERE position = 3"],
        "1 row of items whose fields does not exist in texts: 3",
    ),
    "an item whose gold is gone": (
        ["UPDATE items SET gold = 999 WHERE position = 3"],
        "1 row of items whose gold does not exist in texts: 3",
    ),
    "a run of no arm": (
        ["INSERT INTO runs (study, arm, repeat, kind) VALUES (1, 99, 1, 'end-to-end')"],
        "1 row of runs whose arm does not exist in arms: 5",
    ),
    "rows of no study": (
        ["INSERT INTO events (study, at, kind, level, text) VALUES (99, 0, '', '', '')"],
        "1 row of events whose study does not exist (first: key 99)",
    ),
    "an answer that was changed": (
        [SWAPPED.format("text", "verdicts")],
        "1 text (text of verdicts) with another hash than stored: ",
    ),
    "a gold that was changed": (
        [SWAPPED.format("gold", "items")],
        "1 text (gold of items) with another hash than stored: ",
    ),
    "an item that does not decode": (
        ["UPDATE texts SET coding = 1 WHERE key = (SELECT fields FROM items LIMIT 1)"],
        "1 text (fields of items) with another hash than stored: ",
    ),
    "a damaged text of nobody": (
        ["INSERT INTO texts (hash, coding, body) VALUES (x'00', 0, x'00')"],
        "1 text that nothing refers to, with another hash than stored: ",
    ),
    "an item with other fields": (
        ["UPDATE items SET fields = (SELECT fields FROM items WHERE position = 0) WHERE position = 1"],
        "1 item with another hash than stored: item-1",
    ),
    "an item with another id": (
        ["UPDATE items SET item_id = 'renamed' WHERE position = 1"],
        "1 item with another hash than stored: renamed",
    ),
    "an arm with another pin": (
        ['UPDATE studies SET design = replace(design, \'"prompt":"candidate"\', \'"prompt":"other"\')'],
        "the pins of arm candidate are not what its pin hash says",
    ),
    "an arm with another pin hash": (
        ["UPDATE arms SET pin_hash = 'x' WHERE name = 'baseline'"],
        "the pins of arm baseline are not what its pin hash says",
    ),
    "a study with another pin hash": (
        ["UPDATE studies SET pin_hash = 'x'"],
        "the pin hash of the study is not that of its arms",
    ),
    "a score of a failure": (
        ["UPDATE verdicts SET status = 2 WHERE key = 2"],
        "1 row of verdicts with a score, though the status is not ok: 2",
    ),
    "a judge's score of a failure": (
        [PASS.format("1, 0, 0, 1", "2, 1.0")],
        "1 row of judge_passes with a score, though the status is not ok: 1",
    ),
    "a call that is gone": (
        ["DELETE FROM attempts WHERE run = 2 AND item = 3"],
        "1 cell with more calls counted than stored: candidate#1 item-3",
    ),
    "a design that is no design": (
        ["UPDATE studies SET design = '{}'"],
        "the design of a study cannot be read ('missing'): the database is damaged",
    ),
    "a config that is no JSON": (
        ["UPDATE studies SET config = '{'"],
        "the config of a study cannot be read",
    ),
}


@pytest.mark.parametrize(("statements", "said"), FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("ref", [None, "study"])
def test_each_fault_is_named(path: Path, statements: Iterable[str], said: str, ref: str | None) -> None:
    write_study(path)
    damage(path, *statements)
    found = store.verify(path, ref)
    (study,) = found.studies
    assert "; ".join((*study.faults, *found.faults)).startswith(said), (study.faults, found.faults)


@pytest.mark.parametrize("name", ["a cell is gone", "a run is not of the design", "an answer that was changed"])
def test_a_fault_of_another_study_is_not_told_of_this_one(path: Path, name: str) -> None:
    write_study(path)
    write_study(path, name="other", n=5)
    damage(path, *FAULTS[name][0])
    assert store.verify(path, "study").n_faults > 0
    if name != "an answer that was changed":  # equal answers are stored once, for both
        assert store.verify(path, "other").n_faults == 0


def test_an_item_that_is_gone_is_told_with_the_cells_that_name_it(path: Path) -> None:
    write_study(path)
    damage(path, "DELETE FROM items WHERE position = 3")
    (study,) = store.verify(path).studies
    assert study.faults == (
        "1 item not there, by position: 3",
        "4 rows of attempts whose item does not exist in items: 7, 8, 15 and 1 more",
        "8 rows of verdicts whose item does not exist in items: 13, 14, 15 and 5 more",
    )


def test_a_verdict_stored_twice_is_told(path: Path) -> None:
    write_study(path)
    # As a merge of two files by hand may leave it: the table again, without what makes a row unique.
    damage(
        path,
        "PRAGMA legacy_alter_table = ON",
        "CREATE TABLE copy AS SELECT * FROM verdicts",
        "DROP TABLE verdicts",
        "ALTER TABLE copy RENAME TO verdicts",
        "INSERT INTO verdicts SELECT * FROM verdicts WHERE run = 1 AND item = 1",
    )
    assert only_fault(path) == "1 cell with more than one current primary verdict: baseline#1 item-1"


def test_texts_of_nobody_are_counted_and_are_no_fault(path: Path) -> None:
    write_study(path)
    damage(path, "UPDATE verdicts SET reasoning = NULL")
    found = store.verify(path)
    assert (found.n_faults, found.unused_texts) == (0, 1)


def test_damaged_pages_are_told(path: Path) -> None:
    write_study(path, n=50)
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'attempts'").fetchall()
    with path.open("r+b") as stream:
        stream.seek((root - 1) * 4096)
        stream.write(b"\xa5" * 4096)
    found = store.verify(path)
    assert found.faults[0].startswith("the database is damaged; keep a copy")


def test_a_damaged_index_is_told(path: Path) -> None:
    write_study(path, n=50)
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'events_study'"
        ((root,),) = connection.execute(sql).fetchall()
    with path.open("r+b") as stream:
        stream.seek((root - 1) * 4096)
        stream.write(b"\xa5" * 4096)
    assert store.verify(path).faults


def test_a_file_cut_in_half_cannot_be_verified(path: Path) -> None:
    write_study(path, n=50)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StoreError, match="damaged"):
        store.verify(path)


def test_a_study_that_is_not_there_is_refused(path: Path) -> None:
    write_study(path)
    with pytest.raises(StoreError, match="holds no study 'studi'; did you mean study"):
        store.verify(path, "studi")


def test_nothing_is_written_to_a_file_or_folder_that_is_read_only(public: Path) -> None:
    path = public / "t.db"
    write_study(path)
    path.chmod(0o444)
    public.chmod(0o555)
    before = path.read_bytes()
    with without_rights():
        assert store.verify(path).n_faults == 0
    assert [file.name for file in public.iterdir()] == ["t.db"]
    assert path.read_bytes() == before


def test_an_engine_that_writes_meanwhile_makes_no_fault(path: Path) -> None:
    study = make_study(path, n=300)

    def write() -> None:
        with store.Writer(path, study) as writer:
            writer.state(StudyState.RUNNING)
            for cell in cells_of(make_plan(n=300)):
                writer.attempt(attempt_of(cell))
                writer.cell(outcome_of(cell, text=f"{cell.position} {cell.arm}"))
            writer.state(StudyState.FINISHED)

    engine = threading.Thread(target=write)
    engine.start()
    looks = []
    while engine.is_alive():
        looks.append(store.verify(path, study))
    engine.join()
    assert [look.n_faults for look in looks] == [0] * len(looks)
    assert store.verify(path).studies[0].done == 2 * 2 * 300
