"""Flip rates, worked by hand, by brute force over pairs of runs, and on real logs."""

from __future__ import annotations

import gzip
import json
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.stats.flips import changes, flips, item_flips, reading, text_changes
from evaltui.stats.live_flips import LiveFlips


def test_one_item_by_hand():
    # a a b b b: 1 - (2 * 1 + 3 * 2) / (5 * 4) = 0.6; the largest share is 3 of 5.
    each = item_flips([[7, 7, 2, 2, 2]])
    assert each.pairwise.tolist() == [pytest.approx(0.6)]
    assert each.minority.tolist() == [pytest.approx(0.4)]


def test_pairwise_disagreement_is_the_share_of_differing_pairs():
    labels = np.random.default_rng(40).integers(-1, 3, (60, 6))
    each = item_flips(labels)
    for row, rate in zip(labels, each.pairwise, strict=True):
        pairs = list(combinations(row[row >= 0], 2))
        expected = np.mean([a != b for a, b in pairs]) if pairs else np.nan
        assert rate == pytest.approx(expected, nan_ok=True)


def test_between_runs_is_the_mean_over_pairs_of_runs():
    labels = np.random.default_rng(41).integers(-1, 2, (60, 5))
    shares = []
    for a, b in combinations(range(5), 2):
        both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
        shares.append((labels[both, a] != labels[both, b]).mean())
    assert flips(labels).between_runs == pytest.approx(np.mean(shares))


def test_without_missing_cells_the_two_rates_agree():
    result = flips(np.random.default_rng(42).integers(0, 3, (50, 7)))
    assert result.pairwise == pytest.approx(result.between_runs)


@pytest.mark.parametrize(("k", "minority"), [(2, 0.25), (5, 0.31), (20, 0.41)])
def test_pairwise_is_comparable_over_k_and_the_minority_share_is_not(k, minority):
    result = flips(np.random.default_rng(43).integers(0, 2, (40_000, k)))
    assert result.pairwise == pytest.approx(0.5, abs=0.01)
    assert result.minority == pytest.approx(minority, abs=0.01)


def test_a_missing_cell_never_flips():
    result = flips([[1, -1, 1], [0, 0, -1], [2, -1, -1]])
    assert (result.pairwise, result.items_that_flip, result.items) == (0, 0, 2)


def test_expected_changes_come_with_an_interval():
    labels = np.zeros((307, 2), dtype=int)
    labels[:14, 1] = 1
    result = flips(labels)
    assert (result.expected_changes, result.items) == (pytest.approx(14), 307)
    # Wilson for 14 of 307 is 2.74 % to 7.51 %.
    assert (result.changes.low, result.changes.high) == pytest.approx((8.4, 23.1), abs=0.1)


def test_no_change_seen_is_not_no_change_ever():
    changes_to_come = flips(np.ones((307, 4), dtype=int)).changes
    assert (changes_to_come.low, changes_to_come.estimate) == (0, 0)
    assert changes_to_come.high > 3


@pytest.mark.parametrize("labels", [np.empty((0, 5), int), np.empty((5, 0), int), np.full((5, 3), -1), [[1], [0]]])
def test_without_two_verdicts_nothing_is_known(labels):
    result = flips(labels)
    assert (result.pairwise, result.between_runs, result.expected_changes, result.items) == (None, None, None, 0)
    assert not result.changes.known


@pytest.mark.parametrize("labels", [[1, 0, 1], [[0.5, 1.0]]])
def test_anything_but_a_table_of_codes_is_refused(labels):
    with pytest.raises(ValueError, match="labels must"):
        flips(labels)


def test_gained_lost_and_net_between_two_runs():
    result = changes([1, 0, 0, 0.5, np.nan, 1], [0, 1, 1, 1, 1, 1])
    assert (result.compared, result.gained, result.lost, result.changed, result.net) == (5, 3, 1, 4, 2)


def test_two_runs_hold_the_same_items():
    with pytest.raises(ValueError, match="same items"):
        changes([1, 0], [1])


def test_text_changes_are_counted_apart():
    assert text_changes([[10, 10, 11], [12, 12, 12], [13, -1, 14]]) == 2


@pytest.mark.parametrize(
    ("rate", "name"), [(0.0, "no flips"), (0.1, "steady"), (0.101, "moving"), (0.3, "moving"), (0.31, "unstable")]
)
def test_reading_bands(rate, name):
    assert reading(rate).name == name
    assert reading(rate).action


def test_reading_bands_are_adjustable():
    assert reading(0.15, low=0.2).name == "steady"


def test_a_rate_above_one_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        reading(1.2)


def document(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def table(rows):
    """Label codes (items, runs) from {item: {run: label}}."""
    names = sorted({label for runs in rows.values() for label in runs.values()})
    width = max(run for runs in rows.values() for run in runs)
    codes = np.full((len(rows), width), -1)
    for place, runs in enumerate(rows.values()):
        for run, label in runs.items():
            codes[place, run - 1] = names.index(label)
    return codes


def inspect_labels(path):
    rows = {}
    for cell in document(path)["samples"]:
        (score,) = (cell.get("scores") or {"": {"value": None}}).values()
        runs = rows.setdefault(cell["id"], {})
        if isinstance(score["value"], str):
            runs[cell["epoch"]] = score["value"]
    return table(rows)


def promptfoo_labels(path):
    rows, seen = {}, {}
    for cell in document(path)["results"]["results"]:
        item = cell["testCase"]["description"]
        seen[item] = seen.get(item, 0) + 1
        runs = rows.setdefault(item, {})
        if cell["failureReason"] != 2:
            runs[seen[item]] = str(cell["success"])
    return table(rows)


@pytest.mark.parametrize(
    ("name", "pattern", "read"),
    [
        ("inspect_baseline_json", "inspect/generated/flip60x5_baseline_json/*.json.gz", inspect_labels),
        ("inspect_judged", "inspect/generated/judged20x3_json/*.json", inspect_labels),
        ("promptfoo_clean", "promptfoo/clean_repeat3.json", promptfoo_labels),
        ("promptfoo_nasty", "promptfoo/nasty_repeat3.json", promptfoo_labels),
    ],
)
def test_real_logs_of_other_tools(cases, name, pattern, read):
    expected = json.loads((cases / "expected.json").read_text())[name]
    (path,) = cases.glob(pattern)
    result = flips(read(path))
    assert result.between_runs == pytest.approx(expected["mean_pairwise_disagreement"], abs=1e-6)
    assert result.minority == pytest.approx(expected["mean_item_flip_rate"], abs=1e-6)
    assert result.items_that_flip == expected["items_that_flip"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), k=st.integers(1, 9), batches=st.integers(1, 5))
def test_live_flips_are_those_of_the_codes_as_they_stand(seed, n, k, batches):
    rng = np.random.default_rng(seed)
    live, codes = LiveFlips(n, k), np.full((n, k), -1, dtype=np.int64)
    for _ in range(batches):
        rows = np.flatnonzero(rng.random(n) < 0.6)
        codes[rows] = rng.integers(-1, 3, size=(len(rows), k))
        live.update(rows, codes[rows])
        assert live.flips() == flips(codes)
        assert live.items_that_flip == text_changes(codes)


@pytest.mark.parametrize("shape", [(3, 1), (3, 2), ()])
def test_a_run_has_one_dimension(shape):
    with pytest.raises(ValueError, match=rf"shape {re.escape(str(shape))}"):
        changes(np.ones(shape), np.zeros(shape))


def test_large_live_sets_have_the_flips_of_their_codes():
    rng = np.random.default_rng(44)
    codes = rng.integers(-1, 3, (50_000, 12))
    live = LiveFlips(*codes.shape)
    live.update(np.arange(50_000), codes)
    again = rng.permutation(50_000)[:10_000]
    codes[again] = rng.integers(-1, 3, (10_000, 12))
    live.update(again, codes[again])
    both = (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    assert live.flips() == flips(codes)
    assert flips(codes[:, :2]).between_runs == (codes[both, 0] != codes[both, 1]).mean()
