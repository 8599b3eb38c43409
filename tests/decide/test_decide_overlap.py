"""Arms that did not run side by side are told."""

from __future__ import annotations

import math

import pytest

from evaltui.decide.overlap import Span, different_weeks, gap

DAY = 86_400.0


def test_arms_that_overlap_are_not_marked():
    assert different_weeks(Span(0, 100), Span(99, 200)) is None


def test_an_arm_that_is_still_running_overlaps_what_started_since():
    assert different_weeks(Span(0, math.inf), Span(500, 600)) is None


def test_arms_of_unknown_time_are_not_marked():
    assert different_weeks(None, Span(0, 1)) is None


@pytest.mark.parametrize(
    ("apart", "words"),
    [(0.2, "right after"), (40, "40 s after"), (7200, "2 h 00 after"), (14 * DAY, "14 days after")],
)
def test_a_candidate_that_ran_later_is_marked_with_the_time_between_and_the_offer_to_rerun(apart, words):
    mark = different_weeks(Span(0, 100), Span(100 + apart, 200 + apart))
    assert mark.code == "different_weeks"
    assert words in mark.text
    assert "run the baseline again" in mark.text


def test_a_candidate_that_ran_earlier_is_marked_too():
    mark = different_weeks(Span(500, 600), Span(0, 100))
    assert "before the baseline" in mark.text


def test_the_gap_does_not_depend_on_which_came_first():
    assert gap(Span(0, 10), Span(25, 30)) == gap(Span(25, 30), Span(0, 10)) == 15


def test_a_span_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="cannot end"):
        Span(2, 1)


@pytest.mark.parametrize("start", [math.nan, math.inf, -math.inf])
def test_a_span_starts_at_a_time(start):
    with pytest.raises(ValueError, match=f"start must .*{start}"):
        Span(start, math.inf)


@pytest.mark.parametrize("end", [math.nan, -math.inf])
def test_a_span_ends_at_a_time_or_later_than_all(end):
    with pytest.raises(ValueError, match=f"end.*{end}"):
        Span(0, end)
