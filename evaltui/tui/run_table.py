"""The run table: what each run scored and what went wrong in it, a heading line for each arm."""

from __future__ import annotations

from typing import Final

from evaltui.core.format import NOTHING, points, seconds
from evaltui.core.status import StudyState
from evaltui.core.text import clean
from evaltui.report.counters import COUNTERS, counted
from evaltui.report.summary import ArmSummary, RunSummary, Summary
from evaltui.tui.table import Cell, Column, Row

HEADINGS: Final = {"timeout": "time"}
"""Counters whose name is too long for a column."""


def run_columns(n_items: int) -> tuple[Column, ...]:
    """The table's columns; the third is how many of the items are done."""
    return (
        Column("run", 3, right=True),
        Column("score", 5, right=True),
        Column(f"of {n_items:,}", len(f"of {n_items:,}"), right=True),
        *(Column(heading, len(heading), right=True, rank=1) for heading in map(_heading_of, COUNTERS)),
        Column("retry", 5, right=True, rank=3),
        Column("p50", 6, right=True, rank=5),
        Column("p95", 6, right=True, rank=4),
        Column("state", 8, rank=2, grow=True),
    )


def run_rows(summary: Summary) -> list[Row]:
    """One heading and one row a run, arm by arm."""
    rows = []
    for arm in summary.arms:
        rows.append(Row(f"arm {arm.name}", _heading(arm, baseline=arm.name == summary.info.design.baseline), True))
        rows += [Row(f"{arm.name}#{run.repeat}", _run(run, summary), False) for run in arm.runs]
    return rows


def _heading(arm: ArmSummary, *, baseline: bool) -> tuple[Cell, ...]:
    named = [Cell(clean(arm.name, limit=40), "heading")]
    if baseline and arm.name != "baseline":
        named.append(Cell("baseline", "muted"))
    if arm.mean is None:
        return *named, Cell("no complete run yet", "muted")
    said = [Cell("mean", "muted"), Cell(points(arm.mean), "strong")]
    said += [Cell("range", "muted"), Cell(points(arm.range), "strong")]
    if arm.band.measured:
        said += [Cell("band", "muted"), Cell(f"±{points(arm.band.band)}", "strong")]
    elif arm.band.k > 1:
        said += [Cell("band not measured", "warn")]
    changes = arm.flips.expected_changes
    if changes is not None:
        said += [Cell(f" rerun: about {changes:,.0f} of {arm.flips.items:,} change", "muted")]
    return *named, *said


def _run(run: RunSummary, summary: Summary) -> tuple[Cell, ...]:
    return (
        Cell(f"#{run.repeat}", "muted"),
        Cell(points(run.score), "strong" if run.complete else "plain"),
        Cell(f"{run.done:,}", "plain" if run.done else "muted"),
        *(_count(run, kind) for kind in COUNTERS),
        Cell(f"{run.retries:,}", "plain") if run.retries else Cell("0", "muted"),
        Cell(seconds(run.latency.p50), "plain" if run.latency.p50 is not None else "muted"),
        Cell(seconds(run.latency.p95), "plain" if run.latency.p95 is not None else "muted"),
        _state(run, summary),
    )


def _count(run: RunSummary, kind: str) -> Cell:
    total = counted(run, kind)
    return Cell(f"{total:,}", "warn") if total else Cell("0", "muted")


def _heading_of(kind: str) -> str:
    return HEADINGS.get(kind, kind)


def _state(run: RunSummary, summary: Summary) -> Cell:
    if run.done and not run.comparable:
        return Cell("gaps", "bad")
    if run.in_flight_of_others is not None:
        return Cell("batching", "warn")
    if run.complete:
        return Cell("complete", "good")
    if not run.done:
        return Cell("waiting" if summary.info.live else NOTHING, "muted")
    if summary.info.live:
        return Cell("paused" if summary.info.state is StudyState.PAUSED else "running", "plain")
    return Cell("part", "warn")
