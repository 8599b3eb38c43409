"""The computed distribution of a sum, against direct convolution."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from evaltui.stats.lattice import find_lattice, smooth_distribution, sum_distribution


def convolved(codes, counts):
    """Distribution function of the sum by convolving one draw after another."""
    n = sum(counts)
    one = np.zeros(max(codes) + 1)
    one[codes] = np.array(counts) / n
    total = np.ones(1)
    for _ in range(n):
        total = np.convolve(total, one)
    return np.cumsum(total)


def enumerated(values, counts):
    """Every possible sum of n draws and its distribution function, through the counts of each value."""
    n = sum(counts)
    states = {(0,) * len(values): 1.0}
    for _ in range(n):
        following = defaultdict(float)
        for state, mass in states.items():
            for place, count in enumerate(counts):
                key = (*state[:place], state[place] + 1, *state[place + 1 :])
                following[key] += mass * count / n
        states = following
    sums = np.array([np.dot(state, values) for state in states])
    order = np.argsort(sums)
    return sums[order], np.cumsum(np.array(list(states.values()))[order])


@pytest.mark.parametrize(
    ("codes", "counts"),
    [
        ([0, 1], [7, 3]),
        ([0, 1, 2], [3, 30, 7]),
        ([0, 3, 5, 10, 20], [1, 9, 20, 5, 5]),
        ([0, 1], [39, 1]),
        ([0, 7], [1, 11]),
        (list(range(21)), [1, 0, 0, 1, 1, 2, 3, 2, 4, 3, 6, 5, 3, 2, 2, 1, 1, 1, 1, 0, 1]),
    ],
)
def test_agrees_with_direct_convolution_to_1e_12(codes, counts):
    present = [place for place, count in enumerate(counts) if count]
    codes, counts = [codes[place] for place in present], [counts[place] for place in present]
    result = sum_distribution(np.array(codes), np.array(counts))
    expected = convolved(codes, counts)
    points = result.first + np.arange(len(result.cdf))
    inside = (points >= 0) & (points < len(expected))
    np.testing.assert_allclose(result.cdf[inside], expected[points[inside]], atol=1e-12, rtol=0)


def test_the_window_leaves_no_mass_behind_when_it_is_narrower_than_the_support():
    codes, counts = np.array([0, 1, 2, 3]), np.array([900, 50, 30, 1020])
    result = sum_distribution(codes, counts)
    assert len(result.pmf) < 3 * 2000
    assert result.cdf[-1] == pytest.approx(1, abs=1e-12)
    points = result.first + np.arange(len(result.pmf))
    mean = (codes * counts).sum() / 2000
    assert (result.pmf * points).sum() / 2000 == pytest.approx(mean, abs=1e-10)
    variance = (counts * (codes - mean) ** 2).sum()
    assert (result.pmf * (points - 2000 * mean) ** 2).sum() == pytest.approx(variance, rel=1e-9)


def test_a_transform_that_would_be_too_long_is_left_to_the_inversion():
    assert sum_distribution(np.array([0, 60_000]), np.array([100_000, 100_000])) is None


@pytest.mark.parametrize(
    ("values", "denominator"),
    [
        ([-1.0, 0.0, 1.0], 1),
        ([0.0, 0.5, 1.0], 2),
        ([-0.3, 0.1, 0.1 + 0.2, 0.7], 10),
        ([1 / 3, 1 / 2, 3 / 5, 1 / 4], 60),
        ([2.0, 5.0, 9.0], 1),
    ],
)
def test_means_over_up_to_sixty_repeats_lie_on_a_lattice(values, denominator):
    values = np.sort(values)
    lattice = find_lattice(values)
    assert lattice.denominator == denominator
    restored = (lattice.base + lattice.stride * lattice.codes) / denominator
    np.testing.assert_allclose(restored, values, atol=1e-15)


def test_the_codes_have_no_common_divisor():
    assert find_lattice(np.array([0.0, 0.2, 0.6])).codes.tolist() == [0, 1, 3]


@pytest.mark.parametrize("scale", [np.pi, 1e-4, 1234.5678])
def test_a_shifted_and_scaled_lattice_is_found_too(scale):
    values = np.sqrt(2) + scale * np.array([0.0, 2.0, 3.0, 7.0]) / 90
    assert find_lattice(values).codes.tolist() == [0, 2, 3, 7]


@pytest.mark.parametrize("values", [[0.0, 1e-12], [0.0, 1e-9, 1.0], [-1.0, 0.0, 2e-10]])
def test_values_that_differ_by_little_are_not_taken_as_one(values):
    lattice = find_lattice(np.array(values))
    assert lattice is None or len(set(lattice.codes.tolist())) == len(values)


def test_real_values_lie_on_no_lattice():
    assert find_lattice(np.sort(np.random.default_rng(1).normal(size=200))) is None


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([0.0, 0.3717, 0.8911], [18, 1, 1]),
        ([-1.034, 0.0, 0.666], [6, 21, 3]),
        ([-0.4, 0.017, 31.0], [15, 4, 1]),
        ([-1.0, 0.0, 0.9], [5, 20, 1]),
    ],
)
@pytest.mark.parametrize("alpha", [0.005, 0.025, 0.1, 0.5, 0.9, 0.975, 0.995])
def test_the_inversion_stays_within_its_stated_error(values, counts, alpha):
    sums, cdf = enumerated(values, counts)
    result = smooth_distribution(np.array(values), np.array(counts))
    # Where alpha is all but reached at a step, either side of it is right.
    accepted = sums[np.searchsorted(cdf, [alpha - 1e-6, alpha + 1e-6])]
    assert accepted[0] - result.error <= result.quantile(alpha) <= accepted[1] + result.error
    assert result.error < 0.02 * np.sqrt(np.cov(values, fweights=counts, ddof=0) * sum(counts))


def test_the_inversion_keeps_the_mean_and_its_distribution_function_ends_at_0_and_1():
    rng = np.random.default_rng(5)
    values = np.sort(rng.gamma(2.0, size=500))
    result = smooth_distribution(values, np.ones(500, dtype=int))
    assert result.centre == pytest.approx(values.sum(), rel=1e-12)
    assert result.cdf[0] == pytest.approx(0, abs=1e-12)
    assert result.cdf[-1] == pytest.approx(1, abs=1e-12)
    assert result.probability(result.centre) == pytest.approx(0.5, abs=0.02)
