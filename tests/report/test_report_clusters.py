"""Studies whose items come in clusters, stored and read: the standard error beside the interval, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from batches import make_design
from rich.console import Console

from evaltui import store
from evaltui.core.records import Cell, CellRecord, Item, Verdict
from evaltui.core.status import Status, StudyState
from evaltui.core.study import StudyPlan
from evaltui.report.document import to_document
from evaltui.report.read import read
from evaltui.report.summary import Summary
from evaltui.report.text import render

N_ITEMS, REPEATS = 240, 3
STARTED = 1_700_000_000.0
HONEST = [f"passage {place // 4}" for place in range(N_ITEMS)]
GIANT = ["the corpus" if place < 170 else f"passage {place}" for place in range(N_ITEMS)]
SINGLE = [f"row {place}" for place in range(N_ITEMS)]


def scores() -> np.ndarray:
    """Scores (arms, items, repeats) of two arms that do not differ; items of a passage are alike."""
    rng = np.random.default_rng(5)
    ease = np.repeat(rng.beta(4, 1.2, N_ITEMS // 4), 4)
    return (rng.random((2, N_ITEMS, REPEATS)) < ease[None, :, None]).astype(float)


def study(folder: Path, clusters: Sequence[str | None]) -> Summary:
    items = tuple(
        Item(f"q{place}", {}, None, None, cluster, place.to_bytes(16), place) for place, cluster in enumerate(clusters)
    )
    path = folder / "work.db"
    opened = store.open_study(path, StudyPlan(make_design(N_ITEMS, REPEATS), items, {}))
    with store.Writer(path, opened.study_id) as writer:
        writer.state(StudyState.RUNNING)
        for (arm, place, column), score in np.ndenumerate(scores()):
            cell = Cell(("baseline", "candidate")[arm], column + 1, place, f"q{place}")
            verdict = Verdict("exact", Status.OK, f"{score:g}", float(score))
            writer.cell(CellRecord(cell, (verdict,), f"{arm} {place} {column}", "", 1, 0.5, STARTED))
        writer.state(StudyState.FINISHED)
    return read(path, "latest")


def warned(summary: Summary) -> list[str]:
    return [notice.text for notice in summary.warnings if notice.code == "check_clustering"]


def test_honest_clusters_have_their_standard_error_beside_the_interval_and_nothing_to_check(tmp_path: Path) -> None:
    summary = study(tmp_path, HONEST)
    comparison = summary.comparisons[0]
    assert comparison.cross_check is not None
    d = scores()[1].mean(axis=1) - scores()[0].mean(axis=1)
    sums = (d - d.mean()).reshape(60, 4).sum(axis=1)
    error = np.sqrt(60 / 59 * np.sum(sums**2)) / N_ITEMS
    sem = comparison.cross_check.sem
    assert (sem.low, sem.high) == pytest.approx((d.mean() - 1.959964 * error, d.mean() + 1.959964 * error))
    assert comparison.cross_check.agrees is True
    assert warned(summary) == []
    assert "check the clustering" not in comparison.intervals[0].note


@pytest.mark.parametrize(
    ("clusters", "said"),
    [(GIANT, "one cluster holds 170 of 240 items"), (SINGLE, "240 of 240 clusters hold a single item")],
    ids=["giant", "single"],
)
def test_clusters_that_cannot_be_meant_are_a_warning_and_stand_at_the_interval(
    tmp_path: Path, clusters: list[str], said: str
) -> None:
    summary = study(tmp_path, clusters)
    (text,) = warned(summary)
    assert text.startswith(f"candidate against baseline: check the clustering: {said}")
    comparison = summary.comparisons[0]
    assert comparison.intervals[0].note.startswith(f"check the clustering: {said}")
    assert not any("check the clustering" in each.note for each in comparison.intervals[1:])


def test_items_without_clusters_are_not_checked(tmp_path: Path) -> None:
    summary = study(tmp_path, [None] * N_ITEMS)
    assert summary.comparisons[0].cross_check is None
    assert warned(summary) == []
    assert to_document(summary)["comparison"]["cross_check"] is None


def test_the_document_and_the_text_report_hold_the_check(tmp_path: Path) -> None:
    summary = study(tmp_path, GIANT)
    check = to_document(summary)["comparison"]["cross_check"]
    assert check.keys() == {"sem", "ratio", "agrees", "note"}
    assert check["sem"].keys() >= {"method", "low", "high", "unit", "n"}
    console = Console(width=160, record=True, color_system=None)
    with console.capture() as captured:
        console.print(render(summary))
    row = next(line for line in captured.get().splitlines() if "cross-check" in line)
    assert row.split()[:3] == ["cluster", "SEM", "(z)"]
    assert "[marked: check the clustering]" in captured.get()
    # In the sentence, at the interval, among the warnings.
    assert captured.get().count("check the clustering") == 3


def test_one_cluster_that_holds_most_is_not_said_to_change_next_to_nothing(tmp_path: Path) -> None:
    clusters = ["one"] * 170 + [f"alone {place}" for place in range(70)]
    (text,) = warned(study(tmp_path, clusters))
    assert "one cluster holds 170 of 240 items, so the interval depends on what that one happens to be" in text
    assert "change next to nothing" not in text
