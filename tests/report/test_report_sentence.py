from __future__ import annotations

import pytest

from evaltui.report.sentence import comparison_sentence


def sentence(
    means: tuple[float, float] | None,
    interval: tuple[float, float] | None,
    n_items: int = 2000,
    why: str = "",
    next_run: tuple[float, float] | None = None,
    complete: int = 5,
    finished: bool = False,
) -> str:
    return comparison_sentence(
        baseline="v1",
        candidate="v2",
        means=means,
        interval=interval,
        level=0.95,
        method="percentile bootstrap over items",
        why=why,
        n_items=n_items,
        repeats=5,
        complete=complete,
        next_run=next_run,
        finished=finished,
    )


def test_an_interval_below_zero_says_worse_and_by_how_much() -> None:
    assert sentence((0.81, 0.74), (-0.081, -0.059)) == (
        "v2 against v1: worse on these examples by 5.9 to 8.1 points "
        "(95 % interval, percentile bootstrap over items, 2,000 items x 5 repeats)."
    )


def test_an_interval_above_zero_says_better() -> None:
    assert "better on these examples by 1.0 to 3.0 points" in sentence((0.8, 0.82), (0.01, 0.03))


@pytest.mark.parametrize("interval", [(-0.01, 0.02), (0.0, 0.02), (-0.02, 0.0)])
def test_an_interval_that_holds_zero_is_no_evidence_and_has_no_direction(interval: tuple[float, float]) -> None:
    text = sentence((0.8, 0.812), interval)
    assert "No evidence of a difference, 81.2 against 80.0" in text
    assert not any(word in text for word in ("better", "worse", "up ", "down "))


def test_few_items_are_told_as_too_few_whatever_the_interval() -> None:
    text = sentence((0.2, 0.9), (0.5, 0.9), n_items=9)
    assert "needs more" in text
    assert "better" not in text


def test_without_an_interval_the_reason_is_given() -> None:
    assert "no differing items" in sentence((0.5, 0.5), None, why="no differing items")


def test_nothing_paired_is_nothing_to_compare() -> None:
    assert sentence(None, None, n_items=0) == (
        "v2 against v1: nothing to compare yet, no item has a scored verdict in both."
    )


def test_a_finished_study_with_nothing_to_compare_does_not_promise_it() -> None:
    assert "nothing to compare, no item" in sentence(None, None, n_items=0, finished=True)


def test_repeats_that_are_not_whole_are_told_apart() -> None:
    assert "2,000 items x 5 repeats, 3 complete)" in sentence((0.81, 0.74), (-0.081, -0.059), complete=3)


@pytest.mark.parametrize("interval", [(-0.081, -0.059), (-0.01, 0.02), None], ids=["worse", "none", "unknown"])
def test_it_ends_with_where_one_more_run_will_land(interval: tuple[float, float] | None) -> None:
    text = sentence((0.82, 0.812), interval, why="no differing items", next_run=(0.801, 0.823))
    assert text == (
        f"{sentence((0.82, 0.812), interval, why='no differing items')} "
        "One more run of v2 will probably land at 80.1 to 82.3."
    )


def test_the_run_to_come_gives_no_direction_to_a_difference_that_could_be_none() -> None:
    text = sentence((0.8, 0.812), (-0.01, 0.02), next_run=(0.801, 0.823))
    assert not any(word in text for word in ("better", "worse", "up ", "down ", "above", "below"))


def test_nothing_is_foretold_of_few_items() -> None:
    assert "One more run" not in sentence((0.2, 0.9), (0.5, 0.9), n_items=9, next_run=(0.8, 1.0))
