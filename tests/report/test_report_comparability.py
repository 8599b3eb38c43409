"""A comparison inside a study asks first whether it may be made, and carries what has to be said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.core.study import Design, PinValue
from evaltui.report.document import to_document
from evaltui.report.live import Live
from evaltui.report.summary import Summary

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
    live = Live(info, [Item(f"q{place}", {}, None, None, None, b"", place) for place in range(N_ITEMS)])
    live.apply(Delta(info, cells, calls))
    return live.summary(START)


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


def test_arms_that_did_not_run_at_overlapping_times_are_marked():
    (text,) = told(summary_of(pinned(), later=14 * DAY), "different_weeks")
    assert text.startswith('candidate against baseline: "different weeks": the candidate ran 14 days after')


def test_arms_that_ran_side_by_side_are_not():
    assert told(summary_of(pinned(), later=50), "different_weeks") == []
