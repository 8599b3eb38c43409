"""A comparison inside a study asks first whether it may be made, and carries what has to be said."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info
from rich.console import Console

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.core.status import Status
from evaltui.core.study import Design, PinValue
from evaltui.report.document import to_document
from evaltui.report.live import Live
from evaltui.report.summary import Summary
from evaltui.report.text import render

START = 1_700_000_000.0
DAY = 86_400.0
N_ITEMS = 12


def pinned(**candidate: PinValue) -> Design:
    """Three arms; the pins of the second are changed by ``candidate``."""
    design = make_design(N_ITEMS, 1, arms=("baseline", "candidate", "third"))
    pins: dict[str, PinValue] = {"model": "m", "scorer": "exact", "scorer.exact": "1", "pins.gpu": "H100"}
    arms = [replace(arm, pins={**pins, **(candidate if arm.name == "candidate" else {})}) for arm in design.arms]
    return replace(design, arms=tuple(arms))


def summary_of(design: Design, *, later: float = 0.0) -> Summary:
    """Every arm ran for 100 s, the second ``later`` seconds after the others."""
    begun = [START, START + later, START]
    info = make_info(design)
    cells = cell_batch(
        Row(arm, 1, place, float(place % (2 + arm) > 0), text=place, finished=begun[arm] + 100)
        for arm in range(3)
        for place in range(N_ITEMS)
    )
    calls = attempt_batch(Call(arm, 1, started=begun[arm]) for arm in range(3))
    live = Live(info, items_of())
    live.apply(Delta(info, cells, calls))
    return live.summary(START)


def items_of() -> list[Item]:
    return [Item(f"q{place}", {}, None, None, None, b"", place) for place in range(N_ITEMS)]


def shown(summary: Summary) -> str:
    """The text report with every run of blanks and line ends as one blank."""
    stream = io.StringIO()
    Console(file=stream, width=120, color_system=None).print(render(summary))
    return " ".join(stream.getvalue().split())


def told(summary: Summary, code: str) -> list[str]:
    return [notice.text for notice in summary.warnings if notice.code == code]


def test_arms_that_differ_in_what_is_under_test_are_compared_without_a_mark():
    summary = summary_of(pinned(model="another"))
    assert [comparison.candidate for comparison in summary.comparisons] == ["candidate", "third"]
    assert all(comparison.marks == () for comparison in summary.comparisons)


@pytest.mark.parametrize("pin", ["scorer.exact", "judge.model", "rubric_sha256"])
def test_an_arm_with_another_measure_is_not_compared_and_the_others_are(pin):
    summary = summary_of(pinned(**{pin: "2"}))
    assert [comparison.candidate for comparison in summary.comparisons] == ["third"]
    (text,) = told(summary, "other_measure")
    assert text.startswith(f"candidate against baseline: not compared: {pin} is ")
    assert "2 in the candidate" in text


def test_another_condition_is_a_warning_and_a_mark_of_the_comparison():
    summary = summary_of(pinned(**{"pins.gpu": "A100"}))
    (text,) = told(summary, "other_conditions")
    assert "pins.gpu is H100 in the baseline and A100 in the candidate" in text
    marked, plain = to_document(summary)["comparisons"]
    assert [mark["code"] for mark in marked["marks"]] == ["other_conditions"]
    assert plain["marks"] == []


def test_the_sentence_ends_with_the_marks_so_that_a_copy_carries_them():
    marked, plain = summary_of(pinned(**{"pins.gpu": "A100", "concurrency": 64}), later=14 * DAY).comparisons
    assert marked.sentence.endswith(" [marked: concurrency differs; pins.gpu differs; different weeks]")
    assert plain.sentence.endswith(" (95 % interval, t over items, 12 items x 1 repeat).")


def test_marks_beyond_four_are_counted_in_the_sentence_and_listed_with_the_comparison():
    comparison, _ = summary_of(pinned(**{f"pins.{letter}": "new" for letter in "abcdef"})).comparisons
    assert comparison.sentence.endswith("pins.c differs; pins.d differs; and 2 more]")
    assert len(comparison.marks) == 6


def test_runs_that_miss_too_much_mark_their_comparisons_and_no_other():
    design = pinned()
    lost = [Row(1, 1, place, None, Status.TIMEOUT) for place in range(3)]
    kept = [Row(arm, 1, place, float(place % 2)) for arm in range(3) for place in range(N_ITEMS)]
    live = Live(make_info(design), items_of())
    live.apply(Delta(live.info, cell_batch(lost + kept[:N_ITEMS] + kept[N_ITEMS + 3 :]), attempt_batch([])))
    marked, plain = live.summary(START).comparisons
    assert [mark.code for mark in marked.marks] == ["not_comparable"]
    assert "candidate: more than 2 % of the verdicts are missing in #1 (3 of 12)" in marked.marks[0].text
    assert marked.sentence.endswith("[marked: candidate misses too many verdicts]")
    assert plain.marks == ()


def test_what_is_not_compared_is_told_with_each_reason():
    document = to_document(summary_of(pinned(**{"scorer.exact": "2", "judge.model": "j"})))
    (pair,) = document["not_compared"]
    assert (pair["baseline"], pair["candidate"]) == ("baseline", "candidate")
    assert [(stop["code"], stop["short"]) for stop in pair["stops"]] == [
        ("other_measure", "judge.model differs"),
        ("other_measure", "scorer.exact differs"),
    ]
    assert "scorer.exact is 1 in the baseline and 2 in the candidate" in pair["stops"][1]["text"]
    assert to_document(summary_of(pinned()))["not_compared"] == []


def test_the_text_report_has_marks_under_the_sentence_and_stops_where_the_comparison_would_stand():
    gpu = "pins.gpu is H100 in the baseline and A100 in the candidate"
    text = shown(summary_of(pinned(**{"pins.gpu": "A100"})))
    assert text.index("[marked: pins.gpu differs]") < text.index(f"! {gpu}") < text.index("12 items compared")
    assert text.count(gpu) == 1
    text = shown(summary_of(pinned(**{"scorer.exact": "2"})))
    assert "candidate against baseline ! not compared: scorer.exact is 1 in the baseline" in text
    assert text.count("scorer.exact is 1") == 1


def test_arms_that_did_not_run_at_overlapping_times_are_marked():
    (text,) = told(summary_of(pinned(), later=14 * DAY), "different_weeks")
    assert text.startswith('candidate against baseline: "different weeks": the candidate ran 14 days after')


def test_arms_that_ran_side_by_side_are_not():
    assert told(summary_of(pinned(), later=50), "different_weeks") == []
