from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from batches import Row, attempt_batch, cell_batch, make_design, make_info
from rich.console import Console

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.core.status import Status
from evaltui.report.live import Live
from evaltui.report.summary import Summary
from evaltui.report.text import render


def shown(summary: Summary, width: int = 100) -> str:
    """What a terminal gets, with every default of rich left on."""
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=True, color_system=None).print(render(summary))
    return stream.getvalue()


def summary_of(
    *, arms: tuple[str, str] = ("baseline", "candidate"), name: str = "q", n_items: int = 60, lost: int = 0
) -> Summary:
    items = [Item(f"{name}{place}", {}, None, f"{name} topic", None, b"", place) for place in range(n_items)]
    live = Live(make_info(make_design(n_items, 3, arms=arms)), items)
    rows = [
        Row(arm, repeat, place, None, Status.TIMEOUT)
        if place in (7, 59)
        else Row(arm, repeat, place, float((place * 7 + arm * 3 + place // (9 + repeat)) % 10 < 8), text=repeat)
        for arm in range(2)
        for repeat in (1, 2, 3)
        for place in range(n_items - (lost if repeat == 3 else 0))
    ]
    live.apply(Delta(live.info, cell_batch(rows), attempt_batch([])))
    return live.summary(now=0.0)


def test_scores_are_shown_in_points_and_errors_beside_them() -> None:
    summary = summary_of()
    run = summary.arms[0].runs[0]
    assert run.score is not None
    line = next(line for line in shown(summary).splitlines() if line.strip().startswith("#1"))
    assert line.split()[:4] == ["#1", f"{100 * run.score:.1f}", "60/60", "2"]


def test_the_report_says_everything_a_comparison_knows() -> None:
    summary = summary_of()
    text = " ".join(shown(summary).split())
    comparison = summary.comparisons[0]
    for word in (
        comparison.sentence,
        "paired t over runs",
        "exactly these items",
        "2 items left out",
        "more than 2 % of the verdicts are missing",
    ):
        assert word in text
    assert comparison.headline is not None
    assert f"> {comparison.headline.method}" in text


def test_where_one_more_run_will_land_is_said_of_each_arm_and_in_the_sentence() -> None:
    summary = summary_of()
    text = " ".join(shown(summary).split())
    for arm in summary.arms:
        assert arm.band.next_run is not None
        low, high = (f"{100 * end:.1f}" for end in arm.band.next_run)
        assert f"one more run will probably land at {low} to {high} (95 %)" in text
    assert f"One more run of candidate will probably land at {low} to {high}." in text


def test_nothing_in_an_unbroken_line_is_wider_than_eighty_columns() -> None:
    assert max(map(len, shown(summary_of(), width=80).splitlines())) <= 80


@pytest.mark.parametrize("file", ["G_markup_items.jsonl", "G_escape_items.jsonl"])
def test_hostile_names_are_shown_and_not_obeyed(cases: Path, file: str) -> None:
    for line in (cases / "repro" / file).read_text(encoding="utf-8").splitlines():
        hostile = next(value for key, value in json.loads(line).items() if key != "id" and isinstance(value, str))
        summary = summary_of(arms=("baseline", hostile), name=hostile, n_items=5, lost=1)
        text = shown(summary, width=400)
        assert not set(text) & ({chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n"})
        if file.startswith("G_markup"):
            assert hostile[:60].splitlines()[0].rstrip() in text


def test_a_study_without_verdicts_can_be_shown() -> None:
    live = Live(make_info(make_design(2, 2)), [Item(str(place), {}, None, None, None, b"", place) for place in (0, 1)])
    assert "nothing to compare, no item has a scored verdict in both" in shown(live.summary(now=0.0))
