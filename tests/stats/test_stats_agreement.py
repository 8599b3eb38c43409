"""Agreement between passes, against statsmodels and the krippendorff package."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, t
from statsmodels.stats.contingency_tables import SquareTable, mcnemar
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_kappa

from evaltui.stats.agreement import fleiss_kappa, krippendorff_alpha, raw_agreement, symmetry_test, transitions
from evaltui.stats.intervals import item_t


def judged(n: int, m: int, labels: int, *, missing: float = 0.0, seed: int = 1) -> np.ndarray:
    """Passes that keep an item's label four times in five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, size=(n, 1))
    codes = np.where(rng.random((n, m)) < 0.8, truth, rng.integers(0, labels, size=(n, m)))
    return np.where(rng.random((n, m)) < missing, -1, codes)


def reference_alpha(codes: np.ndarray, metric: str) -> float:
    data = np.where(codes < 0, np.nan, codes).T
    return krippendorff.alpha(reliability_data=data, level_of_measurement=metric)


def jackknife(estimator, codes: np.ndarray) -> tuple[float, float]:
    n, centre = len(codes), estimator(codes)
    without = np.array([estimator(np.delete(codes, i, axis=0)) for i in range(n)])
    reach = t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    return centre - reach, min(centre + reach, 1.0)


@pytest.mark.parametrize("labels", [2, 3, 6])
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alpha_and_its_interval_against_the_krippendorff_package(labels, metric, missing):
    codes = judged(40, 4, labels, missing=missing)
    pairable = codes[(codes >= 0).sum(axis=1) >= 2]
    result = krippendorff_alpha(codes, metric=metric)
    assert result.estimate == pytest.approx(reference_alpha(codes, metric), abs=1e-12)
    expected = jackknife(lambda part: reference_alpha(part, metric), pairable)
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)
    assert (result.n, result.unit) == (len(pairable), "items")


def test_alpha_of_scores_that_are_not_the_codes():
    codes, values = judged(40, 3, 3), np.array([0.0, 0.25, 1.0])
    expected = krippendorff.alpha(reliability_data=values[codes].T, level_of_measurement="interval")
    assert krippendorff_alpha(codes, metric="interval", values=values).estimate == pytest.approx(expected, abs=1e-12)


def test_alpha_of_krippendorffs_published_example():
    """Krippendorff (2011), four observers and twelve units: nominal 0.743, ordinal 0.815, interval 0.849."""
    rows = ["1 2 3 3 2 1 4 1 2 * * *", "1 2 3 3 2 2 4 1 2 5 * 3", "* 3 3 3 2 3 4 2 2 5 1 *", "1 2 3 3 2 4 4 1 2 5 1 *"]
    codes = np.array([[-1 if label == "*" else int(label) for label in row.split()] for row in rows]).T
    found = [krippendorff_alpha(codes, metric=metric).estimate for metric in ("nominal", "ordinal", "interval")]
    assert found == pytest.approx([0.743, 0.815, 0.849], abs=0.0005)


@pytest.mark.parametrize(("n", "m", "labels"), [(12, 2, 2), (40, 5, 3), (60, 3, 6)])
def test_kappa_and_its_interval_against_statsmodels(n, m, labels):
    codes = judged(n, m, labels)

    def reference(part):
        return reference_kappa(aggregate_raters(part, n_cat=labels)[0])

    result = fleiss_kappa(codes)
    assert result.estimate == pytest.approx(reference(codes), abs=1e-12)
    assert (result.low, result.high) == pytest.approx(jackknife(reference, codes), abs=1e-9)


def test_kappa_leaves_out_items_with_a_missing_label_and_says_so():
    codes = judged(40, 3, 3, missing=0.1)
    complete = codes[(codes >= 0).all(axis=1)]
    result = fleiss_kappa(codes)
    assert result.estimate == fleiss_kappa(complete).estimate
    assert result.n == len(complete)
    assert f"{40 - len(complete)} items" in result.note


def test_raw_agreement_is_t_over_the_agreement_of_items():
    codes = judged(40, 3, 2)
    each = [np.mean([row[0] == row[1], row[0] == row[2], row[1] == row[2]]) for row in codes]
    expected, result = item_t(each), raw_agreement(codes)
    assert (result.estimate, result.low, result.high) == pytest.approx(
        (expected.estimate, expected.low, expected.high), abs=1e-12
    )


@pytest.mark.parametrize("estimator", [raw_agreement, fleiss_kappa, krippendorff_alpha])
def test_perfect_agreement_is_one_without_certainty(estimator):
    result = estimator(np.repeat(np.arange(30)[:, None] % 3, 4, axis=1))
    assert result.estimate == 1
    assert result.low is None
    assert "cannot be known" in result.note


@pytest.mark.parametrize("estimator", [fleiss_kappa, krippendorff_alpha])
def test_one_label_shows_no_agreement_beyond_chance(estimator):
    result = estimator(np.zeros((30, 3), dtype=int))
    assert (result.estimate, result.low) == (None, None)
    assert "one label only" in result.note


@pytest.mark.parametrize("estimator", [raw_agreement, fleiss_kappa, krippendorff_alpha])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (5, 0), (5, 1)])
def test_too_little_to_compare_is_said(estimator, shape):
    result = estimator(np.zeros(shape, dtype=int))
    assert (result.estimate, result.low) == (None, None)
    assert "needs more" in result.note


@pytest.mark.parametrize("estimator", [raw_agreement, fleiss_kappa, krippendorff_alpha])
def test_few_items_give_an_estimate_without_an_interval(estimator):
    result = estimator(judged(9, 3, 2))
    assert result.estimate is not None
    assert result.low is None
    assert "there are 9" in result.note


@pytest.mark.parametrize("estimator", [fleiss_kappa, krippendorff_alpha])
def test_one_odd_item_alone_gives_no_interval(estimator):
    codes = np.zeros((30, 2), dtype=int)
    codes[4] = 1
    result = estimator(codes)
    assert result.estimate == pytest.approx(1)
    assert result.low is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_the_order_of_items_and_passes_changes_nothing(seed, metric):
    codes = judged(20, 3, 4, missing=0.2, seed=seed)
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(codes[rng.permutation(20)], axis=1)
    assert krippendorff_alpha(codes, metric=metric) == krippendorff_alpha(shuffled, metric=metric)
    assert fleiss_kappa(codes) == fleiss_kappa(shuffled)
    assert raw_agreement(codes) == raw_agreement(shuffled)


def test_thousands_of_items_and_a_long_vocabulary():
    codes = judged(5000, 3, 60)
    assert krippendorff_alpha(codes, metric="ordinal").known


def test_a_judge_that_only_moves_from_correct_to_partial_has_become_stricter():
    before, after = [2] * 50 + [1] * 30 + [0] * 20 + [-1], [2] * 40 + [1] * 40 + [0] * 20 + [0]
    result = transitions(before, after)
    assert result.table.tolist() == [[20, 0, 0], [0, 30, 0], [0, 10, 40]]
    assert (result.unchanged, result.up, result.down, result.n) == (90, 0, 10, 100)
    assert result.direction.p == pytest.approx(binomtest(0, 10).pvalue, abs=1e-12)
    assert result.symmetry.df == 1


def test_bowker_against_statsmodels():
    table = np.array([[30, 12, 5], [6, 40, 9], [7, 20, 25]])
    reference, result = SquareTable(table, shift_zeros=False).symmetry(), symmetry_test(table)
    assert (result.statistic, result.p, result.df) == pytest.approx(
        (reference.statistic, reference.pvalue, reference.df), abs=1e-12
    )
    assert (result.n, result.note) == (59, "")


def test_two_labels_take_the_exact_test():
    table = np.array([[30, 12], [4, 40]])
    assert symmetry_test(table).p == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)


def test_pairs_of_labels_without_a_move_take_no_degree_of_freedom():
    result = symmetry_test(np.array([[30, 9, 0], [1, 40, 0], [0, 0, 25]]))
    assert (result.df, result.statistic) == (1, pytest.approx(6.4))


def test_no_move_is_nothing_to_test():
    for result in (transitions([0, 1, 2], [0, 1, 2]).symmetry, transitions([], []).symmetry):
        assert result.p is None
        assert "nothing to test" in result.note


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda: transitions([0, 1], [0]), "same items"),
        (lambda: transitions([0, 3], [0, 1], categories=3), "outside a vocabulary of 3"),
        (lambda: symmetry_test([[1, 2]]), "square"),
        (lambda: symmetry_test([[1.5, 2], [1, 1]]), "counts"),
        (lambda: krippendorff_alpha(judged(10, 2, 2), metric="ratio"), "must be one of"),
        (lambda: krippendorff_alpha(judged(10, 2, 3), metric="interval", values=[0, 1]), "label code 2"),
        (lambda: krippendorff_alpha(np.array([[0.5, 1.0]])), "integer codes"),
    ],
)
def test_nonsense_is_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        wrong()


def test_two_labels_of_one_value_are_one_label_to_the_interval_metric():
    """Against the package on the values themselves, with and without each item."""
    codes, values = judged(30, 3, 4, missing=0.2), np.array([0.0, 0.5, 0.5, 1.0])
    codes = codes[(codes >= 0).sum(axis=1) >= 2]
    of_values = lambda part: krippendorff.alpha(  # noqa: E731
        reliability_data=np.where(part < 0, np.nan, values[part]).T, level_of_measurement="interval"
    )
    expected = jackknife(of_values, codes)
    result = krippendorff_alpha(codes, metric="interval", values=values)
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)


def test_labels_that_all_have_one_value_leave_alpha_unknown():
    result = krippendorff_alpha(judged(30, 3, 4), metric="interval", values=[0.3] * 4)
    assert result.estimate is None
    assert "one label only" in result.note


def test_one_odd_item_by_value_gives_no_interval():
    codes = np.array([[0, 1]] * 20 + [[0, 2]])
    result = krippendorff_alpha(codes, metric="interval", values=[0.0, 0.0, 1.0])
    assert (result.low, result.high) == (None, None)
    assert "all items but one" in result.note


def test_long_and_short_vocabularies_take_the_same_sums(monkeypatch):
    """The jackknife of the package again, with the road for long vocabularies taken by a short one."""
    monkeypatch.setattr("evaltui.stats.alpha._CELLS", 0)
    codes = judged(40, 4, 7, missing=0.3)
    expected = jackknife(lambda part: reference_alpha(part, "ordinal"), codes[(codes >= 0).sum(axis=1) >= 2])
    result = krippendorff_alpha(codes, metric="ordinal")
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)


def test_large_input_works():
    rng = np.random.default_rng(6)
    wide = rng.integers(0, 20_000, (10_000, 2))
    observed, chance = (wide[:, 0] == wide[:, 1]).mean(), ((np.bincount(wide.ravel()) / 20_000) ** 2).sum()
    kappa = (observed - chance) / (1 - chance)
    assert fleiss_kappa(wide).estimate == pytest.approx(kappa, abs=1e-12)
    assert krippendorff_alpha(wide).estimate == pytest.approx(kappa + (1 - kappa) / 20_000, abs=1e-12)
    ordinal = krippendorff_alpha(wide, metric="ordinal")
    assert ordinal.estimate == pytest.approx(np.corrcoef(wide.ravel(), wide[:, ::-1].ravel())[0, 1], abs=0.002)
    assert ordinal.low < 0 < ordinal.high
    assert krippendorff_alpha(rng.integers(0, 101, (200_000, 10)), metric="ordinal").low < 0.001


def test_transitions_of_many_labels_hold_the_moves():
    rng = np.random.default_rng(7)
    before, after = rng.integers(0, 20_000, (2, 1000))
    result = transitions(before, after, categories=20_000)
    assert (result.up, result.down) == ((after > before).sum(), (after < before).sum())
    assert result.labels.tolist() == sorted({*before.tolist(), *after.tolist()})
    assert result.moves[:, 2].sum() == result.n == 1000


def test_labels_that_do_not_occur_have_no_row():
    result = transitions([0, 7, 7, 3, 3], [7, 7, 0, 3, 7])
    assert result.labels.tolist() == [0, 3, 7]
    assert result.table.tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 1]]
    assert result.symmetry == symmetry_test(result.table)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "uint64", "int64"])
def test_symmetry_of_narrow_counts_does_not_overflow(dtype):
    table = [[0, 100, 5], [120, 0, 3], [9, 100, 0]]
    reference = SquareTable(np.array(table, dtype=float), shift_zeros=False).symmetry()
    result = symmetry_test(np.array(table, dtype=dtype))
    assert (result.statistic, result.p) == pytest.approx((reference.statistic, reference.pvalue), rel=1e-12)
    assert result.n == 337


def test_a_pass_has_one_dimension():
    with pytest.raises(ValueError, match=r"shape \(4, 1\)"):
        transitions(np.array([[0], [1], [1], [0]]), [0, 1, 1, 0])
    with pytest.raises(ValueError, match=r"shape \(\)"):
        transitions(1, 1)
    with pytest.raises(ValueError, match=r"is -3; codes"):
        transitions([0, -3], [0, 1])
