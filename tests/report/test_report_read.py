from __future__ import annotations

from pathlib import Path

import pytest
from batches import make_design

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Item, Usage, Verdict
from evaltui.core.status import Status, StudyState
from evaltui.core.study import StudyPlan
from evaltui.report.document import to_document
from evaltui.report.live import Live
from evaltui.report.read import read

N_ITEMS, REPEATS = 12, 2
STARTED = 1_700_000_000.0


def plan() -> StudyPlan:
    items = tuple(
        Item(f"q{place}", {"q": place}, None, "ab"[place % 2], None, bytes(15) + bytes([place]), place)
        for place in range(N_ITEMS)
    )
    return StudyPlan(make_design(N_ITEMS, REPEATS), items, {})


def write(path: Path, *, repeats: tuple[int, ...], study_id: str | None = None, state: StudyState) -> str:
    """Store some repeats of both arms: the candidate fails every third item, and one call of each run is retried."""
    opened = store.open_study(path, plan(), study_id=study_id)
    with store.Writer(path, opened.study_id) as writer:
        writer.state(StudyState.RUNNING)
        for repeat in repeats:
            for item in plan().items:
                for arm in ("baseline", "candidate"):
                    cell = Cell(arm, repeat, item.position, item.id)
                    for number in range(1, 3 if item.position == 0 else 2):
                        writer.attempt(
                            AttemptRecord(cell, number, Status.OK, STARTED, 0.5, usage=Usage(10, 5), cost=0.01)
                        )
                    score = float(arm == "baseline" or item.position % 3 > 0)
                    writer.cell(
                        CellRecord(
                            cell,
                            (Verdict("exact", Status.OK, "yes" if score else "no", score),),
                            f"answer {arm} {repeat} {item.position}",
                            "",
                            2 if item.position == 0 else 1,
                            0.5,
                            STARTED + repeat,
                        )
                    )
        writer.state(state)
    return opened.study_id


def test_a_stored_study_is_read_into_the_report(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    study_id = write(path, repeats=(1, 2), state=StudyState.FINISHED)
    summary = read(path, "latest")
    baseline, candidate = summary.arms
    assert (summary.info.id, summary.info.state) == (study_id, StudyState.FINISHED)
    assert [run.counts for run in (*baseline.runs, *candidate.runs)] == [{"ok": N_ITEMS}] * 4
    assert (baseline.mean, candidate.mean) == (1.0, pytest.approx(8 / 12))
    assert [run.retries for run in baseline.runs] == [1, 1]
    assert summary.comparisons[0].lost == 4
    assert baseline.flips.text_changes == N_ITEMS
    assert [each.category for each in summary.categories] == ["a", "b"]
    assert summary.progress.requests == 2 * REPEATS * (N_ITEMS + 1)
    assert summary.progress.cost == pytest.approx(0.01 * summary.progress.requests)


def test_a_screen_that_followed_shows_what_a_report_reads_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    study_id = write(path, repeats=(1,), state=StudyState.STOPPED)
    live = Live(store.resolve(path, study_id), store.items(path, study_id))
    with store.Follower(path, study_id) as follower:
        for delta in iter(follower.poll, None):
            live.apply(delta)
        assert live.summary(now=0.0).progress.done == 2 * N_ITEMS
        write(path, repeats=(2,), study_id=study_id, state=StudyState.FINISHED)
        for delta in iter(follower.poll, None):
            live.apply(delta)
    assert to_document(live.summary(now=0.0)) == to_document(read(path, study_id))


def test_missing_verdicts_of_a_stored_study_are_named_by_item(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    write(path, repeats=(1,), state=StudyState.STOPPED)
    told = [notice.text for notice in read(path, "latest").warnings if notice.code == "incomplete"]
    assert told[0] == "baseline#2 has 0 of 12 verdicts; missing: q0, q1, q2, q3, q4 and 7 more"


def test_an_unknown_study_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    write(path, repeats=(1,), state=StudyState.STOPPED)
    with pytest.raises(StoreError, match="nowhere"):
        read(path, "nowhere")
