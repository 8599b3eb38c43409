"""Real verdicts: two GSM8K runs of one model that differ in 28 of 1,319 items (report R04)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from batches import Row, attempt_batch, cell_batch, make_design, make_info

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.report.live import Live
from evaltui.report.summary import Summary

N_ITEMS = 1319


@pytest.fixture(scope="module")
def runs(cases: Path) -> list[list[float]]:
    texts = [(cases / "repro" / f"A_gsm8k_run{name}.jsonl").read_text(encoding="utf-8") for name in "AB"]
    return [[float(json.loads(line)["score"]) for line in text.splitlines()] for text in texts]


def reported(runs: list[list[float]], *, as_arms: bool) -> Summary:
    arms, repeats = (("baseline", "candidate"), 1) if as_arms else (("baseline",), 2)
    items = [Item(f"q{place}", {}, None, None, None, b"", place) for place in range(N_ITEMS)]
    live = Live(make_info(make_design(N_ITEMS, repeats, arms=arms)), items)
    rows = [
        Row(number if as_arms else 0, 1 if as_arms else number + 1, place, score, label="right" if score else "wrong")
        for number, run in enumerate(runs)
        for place, score in enumerate(run)
    ]
    live.apply(Delta(live.info, cell_batch(rows), attempt_batch([])))
    return live.summary(now=0.0)


def test_as_two_repeats_28_items_flip_and_the_scores_differ_by_0_30_points(runs: list[list[float]]) -> None:
    (arm,) = reported(runs, as_arms=False).arms
    assert (arm.flips.items_that_flip, arm.flips.items) == (28, N_ITEMS)
    assert arm.flips.between_runs == pytest.approx(28 / N_ITEMS)
    assert arm.range == pytest.approx(4 / N_ITEMS)


def test_as_two_arms_no_difference_is_shown(runs: list[list[float]]) -> None:
    (comparison,) = reported(runs, as_arms=True).comparisons
    assert (comparison.gained, comparison.lost) == (12, 16)
    assert comparison.difference == pytest.approx(-4 / N_ITEMS)
    assert "No evidence of a difference" in comparison.sentence


def test_the_interval_is_that_of_the_paired_differences_not_of_which_items_were_drawn(runs: list[list[float]]) -> None:
    (comparison,) = reported(runs, as_arms=True).comparisons
    item = comparison.intervals[0]
    d = np.subtract(runs[1], runs[0])
    assert item.low is not None
    assert item.high is not None
    assert (item.high - item.low) / 2 == pytest.approx(1.96 * d.std(ddof=1) / np.sqrt(N_ITEMS), rel=0.05)
    assert (item.high - item.low) / 2 < 0.01
