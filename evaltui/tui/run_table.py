"""The run table: what each run scored and what went wrong in it, a heading line for each arm."""

from __future__ import annotations

from typing import Final

from evaltui.core.format import NOTHING, points, seconds
from evaltui.core.status import Status, StudyState
from evaltui.core.text import clean
from evaltui.report.summary import ArmSummary, RunSummary, Summary
from evaltui.tui.table import Cell, Column, Row

COUNTERS: Final[dict[str, tuple[Status, ...]]] = {
    "time": (Status.TIMEOUT,),
    "parse": (Status.PARSE_FAILURE, Status.JUDGE_PARSE_FAILURE),
    "rate": (Status.RATE_LIMITED,),
    "trunc": (Status.TRUNCATED,),
}
"""Counter columns by heading; every other way to end without a score is in ``other``."""

_COUNTED: Final = {status for group in COUNTERS.values() for status in group}
OTHER: Final = tuple(status for status in Status if status is not Status.OK and status not in _COUNTED)


def run_columns(n_items: int) -> tuple[Column, ...]:
    """The table's columns; the third is how many of the items are done."""
    return (
        Column("run", 3, right=True),
        Column("score", 5, right=True),
        Column(f"of {n_items:,}", len(f"of {n_items:,}"), right=True),
        *(Column(heading, max(4, len(heading)), right=True, rank=1) for heading in COUNTERS),
        Column("other", 5, right=True, rank=1),
        Column("retry", 5, right=True, rank=2),
        Column("p50", 6, right=True, rank=3),
        Column("p95", 6, right=True, rank=3),
        Column("state", 8, rank=4, grow=True),
    )


def run_rows(summary: Summary) -> list[Row]:
    """One heading and one row a run, arm by arm."""
    rows = []
    for arm in summary.arms:
        rows.append(Row(f"arm {arm.name}", _heading(arm, baseline=arm.name == summary.info.design.baseline), True))
        rows += [Row(f"{arm.name}#{run.repeat}", _run(run, summary), False) for run in arm.runs]
    return rows


def _heading(arm: ArmSummary, *, baseline: bool) -> tuple[Cell, ...]:
    name = Cell(clean(arm.name, limit=40), "heading")
    if arm.mean is None:
        return name, Cell("baseline" if baseline else "", "muted"), Cell("no complete run yet", "muted")
    said = [Cell("mean", "muted"), Cell(points(arm.mean), "strong")]
    said += [Cell("range", "muted"), Cell(points(arm.range), "strong")]
    if arm.band.measured:
        said += [Cell("band", "muted"), Cell(f"±{points(arm.band.band)}", "strong")]
    elif arm.band.k > 1:
        said += [Cell("band not measured", "warn")]
    changes = arm.flips.expected_changes
    if changes is not None:
        said += [Cell(f" rerun: about {changes:.0f} of {arm.flips.items:,} change", "muted")]
    return name, *said


def _run(run: RunSummary, summary: Summary) -> tuple[Cell, ...]:
    return (
        Cell(f"#{run.repeat}", "muted"),
        Cell(points(run.score), "strong" if run.complete else "plain"),
        Cell(f"{run.done:,}", "plain" if run.done else "muted"),
        *(_count(run, group) for group in COUNTERS.values()),
        _count(run, OTHER),
        Cell(f"{run.retries:,}", "plain") if run.retries else Cell("0", "muted"),
        Cell(seconds(run.latency.p50), "plain" if run.latency.p50 is not None else "muted"),
        Cell(seconds(run.latency.p95), "plain" if run.latency.p95 is not None else "muted"),
        _state(run, summary),
    )


def _count(run: RunSummary, group: tuple[Status, ...]) -> Cell:
    total = sum(run.counts.get(status.value, 0) for status in group)
    return Cell(f"{total:,}", "warn") if total else Cell("0", "muted")


def _state(run: RunSummary, summary: Summary) -> Cell:
    if run.done and not run.comparable:
        return Cell("gaps", "bad")
    if run.complete:
        return Cell("complete", "good")
    if not run.done:
        return Cell("waiting" if summary.info.live else NOTHING, "muted")
    if summary.info.live:
        return Cell("paused" if summary.info.state is StudyState.PAUSED else "running", "plain")
    return Cell("unfinished", "warn")
