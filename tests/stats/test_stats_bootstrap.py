"""The exact bootstrap interval of a mean, against resampling."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats

from evaltui.stats.bootstrap import histogram_interval, mean_interval

RESAMPLES = 200_000

# A 2.5 % quantile of 200,000 resamples has a Monte Carlo sd of 0.006 standard errors; the bias of BCa adds as much.
MONTE_CARLO = {"percentile": 0.025, "bca": 0.045}


def paired_differences(n, k, seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 1.2, n)
    return (rng.binomial(k, p) - rng.binomial(k, p)) / k


def scipy_interval(values, method, level=0.95):
    names = {"percentile": "percentile", "bca": "BCa"}
    return scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=10_000,
        confidence_level=level,
        method=names[method],
        rng=np.random.default_rng(1),
    ).confidence_interval


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    ("values", "lattice_step"),
    [
        (paired_differences(120, 1, seed=2), 1.0),
        (paired_differences(80, 10, seed=3), 0.1),
        (np.random.default_rng(4).gamma(0.7, size=60), 0.0),
    ],
    ids=["one repeat", "ten repeats", "real-valued"],
)
def test_agrees_with_resampling(values, lattice_step, method):
    n = len(values)
    ours, theirs = mean_interval(values, method=method), scipy_interval(values, method)
    allowed = MONTE_CARLO[method] * values.std() / np.sqrt(n) + lattice_step / n
    assert ours.low == pytest.approx(theirs.low, abs=allowed)
    assert ours.high == pytest.approx(theirs.high, abs=allowed)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    "sizes", [np.full(40, 3), np.random.default_rng(6).integers(1, 9, 40)], ids=["equal", "unequal"]
)
def test_agrees_with_resampling_whole_clusters(sizes, method):
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(40), sizes)
    values = rng.normal(0, 0.2, 40).round(1)[clusters] + rng.binomial(5, 0.8, len(clusters)) / 5
    sums = np.bincount(clusters, values)
    theirs = scipy.stats.bootstrap(
        (sums, sizes),
        lambda s, m, axis: s.sum(axis=axis) / m.sum(axis=axis),
        paired=True,
        n_resamples=RESAMPLES,
        batch=10_000,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        rng=np.random.default_rng(8),
    )
    ours = mean_interval(values, method=method, clusters=clusters)
    # BCa takes the acceleration from influences, scipy from the jackknife: they differ in the third digit.
    allowed = MONTE_CARLO[method] * theirs.standard_error + 0.1 / len(values)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=allowed)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=allowed)
    assert (ours.unit, ours.n) == ("clusters", 40)


def test_ten_items_by_hand():
    # The number of passes among ten draws is binomial(10, 0.3): P(0) = 0.028 >= 0.025 and P(<= 6) = 0.989 >= 0.975.
    result = mean_interval([1] * 3 + [0] * 7)
    assert (result.low, result.high, result.estimate) == (0.0, 0.6, 0.3)


def test_the_quantile_is_the_smallest_lattice_point_that_reaches_alpha():
    # Binomial(12, 1/2): P(<= 2) = 79/4096 and P(<= 3) = 299/4096, so level 1 - 2 * 79/4096 is met exactly at 2.
    exactly = mean_interval([0, 1] * 6, level=1 - 2 * 79 / 4096)
    assert exactly.low == 2 / 12
    assert mean_interval([0, 1] * 6, level=1 - 2 * 80 / 4096).low == 3 / 12


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("kind", ["lattice", "unequal repeats", "real", "clusters", "unequal clusters"])
def test_any_order_of_arrival_gives_the_identical_object(kind, method):
    rng = np.random.default_rng(9)
    n = 300
    values = {
        "lattice": paired_differences(n, 5, seed=10),
        "unequal repeats": rng.integers(0, 8, n) / rng.integers(7, 11, n) - 0.5,
    }.get(kind, rng.normal(size=n) / 3)
    clusters = {"clusters": np.arange(n) // 5, "unequal clusters": rng.integers(0, 50, n)}.get(kind)
    expected = mean_interval(values, method=method, clusters=clusters)
    for _ in range(20):
        order = rng.permutation(n)
        shuffled = None if clusters is None else clusters[order]
        assert mean_interval(values[order], method=method, clusters=shuffled) == expected


def test_minus_zero_is_zero():
    values = np.array([0.0, 1.0, -1.0, 0.0] * 20)
    assert repr(mean_interval(values)) == repr(mean_interval(np.where(values == 0, -0.0, values)))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_histogram_gives_the_identical_object(method):
    values = paired_differences(700, 10, seed=11)
    unique, counts = np.unique(values, return_counts=True)
    backwards = np.arange(len(unique))[::-1]
    assert histogram_interval(unique[backwards], counts[backwards], method=method) == mean_interval(
        values, method=method
    )


def test_values_that_nobody_has_change_nothing():
    with_empty = histogram_interval([0.0, 0.5, 1.0, 7.0], [30, 10, 60, 0])
    assert with_empty == histogram_interval([0.0, 0.5, 1.0], [30, 10, 60])


def test_labels_of_clusters_are_only_labels():
    values = paired_differences(120, 5, seed=12)
    numbers = np.arange(120) // 4
    names = [f"passage {29 - number}" for number in numbers]
    assert mean_interval(values, clusters=names) == mean_interval(values, clusters=numbers)


def test_clusters_of_one_item_give_the_item_interval():
    values = paired_differences(120, 5, seed=13)
    by_item, by_cluster = mean_interval(values), mean_interval(values, clusters=[None] * 120)
    assert (by_cluster.low, by_cluster.high) == (by_item.low, by_item.high)


def test_mixed_repeats_are_exact_while_their_lattice_is_small():
    rng = np.random.default_rng(14)
    values = rng.integers(0, 10, 2000) / rng.integers(9, 11, 2000)
    assert mean_interval(values).note == ""


def test_the_error_of_an_inversion_is_stated_and_small():
    values = np.random.default_rng(15).normal(size=2000)
    result = mean_interval(values)
    assert "error at most about" in result.note
    stated = float(result.note.split()[-1])
    assert stated < 0.01 * result.half_width
    assert result.half_width == pytest.approx(1.96 * values.std() / np.sqrt(2000), rel=0.01)


@pytest.mark.parametrize("n", range(10))
def test_below_ten_items_there_is_no_interval(n):
    result = mean_interval([0.5, 1.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0][:n])
    assert not result.known
    assert result.note == f"needs more: 10 items at least, there are {n}"
    assert (result.estimate is None) is (n == 0)


def test_equal_values_are_not_sold_as_certainty():
    result = mean_interval([0.1 + 0.2] * 25 + [0.3] * 25)
    assert not result.known
    assert result.estimate == pytest.approx(0.3)
    assert result.note.startswith("all 50 items have the same value")


def test_few_clusters_say_what_holds_better():
    result = mean_interval(paired_differences(60, 5, seed=16), clusters=np.arange(60) // 4)
    assert "below 40 clusters" in result.note


def test_small_samples_say_what_holds_better():
    assert "below 50 items" in mean_interval(paired_differences(30, 5, seed=17)).note


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_refused_with_its_place(bad):
    values = [0.0] * 20
    values[13] = bad
    with pytest.raises(ValueError, match=rf"values\[13\] is {bad}"):
        mean_interval(values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([[1.0, 2.0]]), "one dimension"),
        (lambda: mean_interval([1.0] * 20, level=95), "between 0 and 1"),
        (lambda: mean_interval([1.0, 0.0] * 10, method="studentized"), "percentile, bca"),
        (lambda: mean_interval([1.0, 0.0], clusters=["a"]), "1 labels for 2 items"),
        (lambda: histogram_interval([1.0, 2.0], [1]), "shape of values"),
        (lambda: histogram_interval([1.0, 2.0], [3, -1]), r"counts\[1\] is negative"),
        (lambda: histogram_interval([1.0, 2.0], [0.5, 1.0]), "whole numbers"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_two_models_on_1319_questions(cases):
    expected = json.loads((cases / "expected.json").read_text())["pair_gsm8k_6bver_vs_175bver"]
    scores = [
        {row["id"]: row["score"] for row in map(json.loads, (cases / "gsm8k" / name).read_text().splitlines())}
        for name in ("verdicts_6b_verification.jsonl", "verdicts_175b_verification.jsonl")
    ]
    result = mean_interval([scores[1][item] - scores[0][item] for item in scores[0]])
    assert result.n == expected["items_paired"]
    assert result.estimate == pytest.approx(expected["mean_diff"], abs=5e-5)
    assert [result.low, result.high] == pytest.approx(expected["bootstrap95_approx"], abs=0.001)
