"""The mean over clusters of very unequal size against resampling whole clusters."""

from __future__ import annotations

import re

import numpy as np
import pytest

from evaltui.stats.bootstrap import mean_interval

RESAMPLES = 200_000

SIZES = {
    "one of 2,000 among single items": [2000] + [1] * 99,
    "two that hold 95 in 100": [1000] * 2 + [1] * 97,
    "three that hold 94 in 100": [500] * 3 + [1] * 97,
    "two of 5,000 among threes": [5000] * 2 + [3] * 60,
    "one of 200,000": [200_000] + [1] * 99,
    "four orders of magnitude": [10_000, 1_000, 100, 10] * 3 + [1] * 60,
    "a heavy tail": (np.random.default_rng(3).random(200) ** -1.5).astype(np.int64).tolist(),
    "a factor of seven": [7] * 30 + [1] * 30,
}


def clustered(sizes: list[int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    centres = rng.normal(0, 0.3, len(sizes))
    return np.clip(np.round(rng.normal(centres[codes], 0.6)), -1, 1), codes


def resampled(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    sums, sizes = np.bincount(codes, values), np.bincount(codes)
    rng, n = np.random.default_rng(9), len(sizes)
    drawn = [rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES // 20) for _ in range(20)]
    return np.concatenate([(counts @ sums) / (counts @ sizes) for counts in drawn])


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
def test_bounds_are_where_resampling_has_them(sizes):
    values, codes = clustered(sizes, seed=1)
    ours = mean_interval(values, clusters=codes)
    ratios = resampled(values, codes)
    error = float(re.search(r"error at most about (\S+)$", ours.note).group(1))
    # Four standard errors of a share of 2.5 % in 200,000; an exact bound may lie as far off as is said, not farther.
    sampling = 4 * np.sqrt(0.025 * 0.975 / RESAMPLES)
    for bound, alpha in ((ours.low, 0.025), (ours.high, 0.975)):
        assert np.mean(ratios <= bound - error) <= alpha + sampling
        assert np.mean(ratios <= bound + error) >= alpha - sampling
        # What is said is a limit. What happens is far less, where the distribution does not jump.
        low, high = np.quantile(ratios, (alpha - 2 * sampling, alpha + 2 * sampling))
        assert low - error / 20 <= bound <= high + error / 20


def test_one_giant_cluster_does_not_hide_the_resamples_without_it():
    # Found by a reader: the giant is drawn in 63 of 100 resamples; the others have a mean near 0.
    sizes = [2000] + [1] * 99
    codes = np.repeat(np.arange(100), sizes)
    place = np.arange(2099)
    values = np.where(codes == 0, np.array([1.0, 0.0])[place % 2], np.array([1.0, 0.0, -1.0, 0.0])[place % 4])
    ours = mean_interval(values, clusters=codes)
    low, high = np.quantile(resampled(values, codes), (0.025, 0.975))
    assert low == pytest.approx(-0.11, abs=0.005)
    assert (ours.low, ours.high) == (pytest.approx(low, abs=0.002), pytest.approx(high, abs=0.002))
