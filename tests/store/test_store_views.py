"""The stable views hold what their documentation says."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from study_making import attempt_of, cells_of, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.records import CellRecord, Usage, Verdict
from evaltui.core.status import STATUS_CODES, Status
from evaltui.store.schema import VIEWS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "store.md"


@pytest.fixture
def filled(path: Path) -> sqlite3.Connection:
    """2 arms x 2 repeats x 2 items, all done but one, with one timeout, one retry and one revision."""
    study = make_study(path, n=2)
    cells = list(cells_of(make_plan(n=2)))
    with store.Writer(path, study) as writer:
        for cell in cells[:-1]:
            writer.attempt(attempt_of(cell, usage=Usage(10, 5), cost=0.5, started=100.0 + cell.position))
            writer.cell(outcome_of(cell, text=f"run {cell.repeat}", label=f"label {cell.repeat}"))
        retried = cells[0]
        writer.attempt(attempt_of(retried, 2, usage=Usage(10, 5), cost=0.5))
        verdicts = (Verdict("exact", Status.TIMEOUT), Verdict("short", Status.TIMEOUT))
        writer.cell(CellRecord(retried, verdicts, None, "", attempts=2, latency_s=0.5, finished=2000.0, revision=1))
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    return connection


def test_v_runs_counts_terminal_cells_scores_and_calls(filled: sqlite3.Connection) -> None:
    rows = filled.execute(
        "SELECT arm, repeat, kind, items, done, ok, score_sum, attempts, prompt_tokens, cost, started, finished"
        " FROM v_runs ORDER BY arm, repeat"
    ).fetchall()
    assert [tuple(row) for row in rows] == [
        ("baseline", 1, "end-to-end", 2, 2, 1, 1.0, 3, 30, 1.5, 100.0, 2000.0),
        ("baseline", 2, "end-to-end", 2, 2, 2, 2.0, 2, 20, 1.0, 100.0, 1001.0),
        ("candidate", 1, "end-to-end", 2, 2, 2, 2.0, 2, 20, 1.0, 100.0, 1001.0),
        ("candidate", 2, "end-to-end", 2, 1, 1, 1.0, 1, 10, 0.5, 100.0, 1001.0),
    ]
    filled.close()


def test_v_items_counts_runs_and_distinct_outcomes(filled: sqlite3.Connection) -> None:
    rows = filled.execute(
        "SELECT arm, item, category, done, ok, score_sum, labels, texts FROM v_items ORDER BY arm, position"
    ).fetchall()
    assert [tuple(row) for row in rows] == [
        ("baseline", "item-0", "sums", 2, 1, 1.0, 1, 1),
        ("baseline", "item-1", "sums", 2, 2, 2.0, 2, 2),
        ("candidate", "item-0", "sums", 2, 2, 2.0, 2, 2),
        ("candidate", "item-1", "sums", 1, 1, 1.0, 1, 1),
    ]
    filled.close()


def test_v_cells_holds_the_current_revision_of_every_scorer(filled: sqlite3.Connection) -> None:
    rows = filled.execute(
        "SELECT scorer, is_primary, revision, status, label, score FROM v_cells"
        " WHERE arm = 'baseline' AND repeat = 1 ORDER BY position, scorer"
    ).fetchall()
    assert [tuple(row) for row in rows] == [
        ("exact", 1, 1, "timeout", None, None),
        ("short", 0, 1, "timeout", None, None),
        ("exact", 1, 0, "ok", "label 1", 1.0),
        ("short", 0, 0, "ok", "yes", 0.5),
    ]
    filled.close()


def test_v_attempts_holds_every_call(filled: sqlite3.Connection) -> None:
    rows = filled.execute(
        "SELECT item, number, status, latency_s FROM v_attempts WHERE arm = 'baseline' AND repeat = 1"
    ).fetchall()
    assert [tuple(row) for row in rows] == [
        ("item-0", 1, "ok", 0.5),
        ("item-1", 1, "ok", 0.5),
        ("item-0", 2, "ok", 0.5),
    ]
    filled.close()


def test_every_view_and_column_is_documented(filled: sqlite3.Connection) -> None:
    document = DOCUMENT.read_text("utf-8")
    for view in VIEWS:
        _, _, section = document.partition(f"### `{view}`")
        section, _, _ = section.partition("\n#")
        columns = [row["name"] for row in filled.execute(f"PRAGMA table_info({view})")]
        assert [column for column in columns if f"`{column}`" not in section] == []
    filled.close()


def test_every_table_is_documented(filled: sqlite3.Connection) -> None:
    document = DOCUMENT.read_text("utf-8")
    tables = [row["name"] for row in filled.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert [table for table in tables if not table.startswith("sqlite_") and f"`{table}`" not in document] == []
    filled.close()


def test_the_example_queries_of_the_documentation_run(filled: sqlite3.Connection) -> None:
    queries = [part.partition("```")[0] for part in DOCUMENT.read_text("utf-8").split("```sql\n")[1:]]
    assert len(queries) >= len(VIEWS)
    for query in queries:
        assert filled.execute(query).fetchall()
    filled.close()


def test_stored_status_codes_never_change() -> None:
    """Files of every age hold these codes: a new status goes to the end, with a migration that adds its row."""
    assert {str(status): code for status, code in STATUS_CODES.items()} == {
        "ok": 1,
        "timeout": 2,
        "rate_limited": 3,
        "server_error": 4,
        "network_error": 5,
        "request_error": 6,
        "quota": 7,
        "truncated": 8,
        "limit": 9,
        "refused": 10,
        "empty": 11,
        "parse_failure": 12,
        "judge_error": 13,
        "judge_parse_failure": 14,
        "scorer_error": 15,
        "cancelled": 16,
    }
