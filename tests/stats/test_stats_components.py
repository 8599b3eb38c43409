"""Variance components, against the analysis of variance, statsmodels and simulated studies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.stats import chi2, f, t

from evaltui.stats.components import components, harness_share, judge_variance, split_judge


def study(n=40, k=5, m=3, *, sds=(0.3, 0.05, 0.2, 0.1), missing=0.0, rng=None):
    rng = rng or np.random.default_rng(3)
    item, run, generation, judge = sds
    cube = 0.7 + rng.normal(0, item, (n, 1, 1)) + rng.normal(0, run, (1, k, 1))
    cube = cube + rng.normal(0, generation, (n, k, 1)) + rng.normal(0, judge, (n, k, m))
    return np.where(rng.random(cube.shape) < missing, np.nan, cube)


def mean_squares(cube):
    """Two-way analysis of variance with replication by statsmodels: item, run, interaction, residual."""
    m = cube.shape[2]
    item, run, _ = np.indices(cube.shape)
    frame = pd.DataFrame({"y": cube.ravel(), "item": item.ravel(), "run": run.ravel()})
    formula = "y ~ C(item) + C(run)" + (" + C(item):C(run)" if m > 1 else "")
    table = sm.stats.anova_lm(smf.ols(formula, frame).fit())
    return (table["sum_sq"] / table["df"]).to_numpy()


def test_balanced_data_give_the_analysis_of_variance():
    cube = study(12, 4, 3)
    item, run, generation, judge = mean_squares(cube)
    expected = ((item - generation) / 12, (run - generation) / 36, (generation - judge) / 3, judge)
    found = components(cube)
    assert [c.raw for c in found.components] == pytest.approx(expected, abs=1e-9)
    assert sum(c.share for c in found.components) == pytest.approx(1)


def test_one_pass_leaves_the_judge_in_generation():
    scores = study(12, 4, 1)
    item, run, residual = mean_squares(scores)
    found = components(scores[:, :, 0])
    assert [c.raw for c in found.components] == pytest.approx(
        ((item - residual) / 4, (run - residual) / 12, residual), abs=1e-9
    )
    assert found.of("judge pass").source == "generation"
    assert "judge pass is part of generation" in found.note


def test_one_run_leaves_generation_in_item():
    scores = study(12, 1, 4)[:, 0, :]
    within = scores.var(axis=1, ddof=1).mean()
    found = components(scores[:, None, :])
    assert [c.source for c in found.components] == ["item", "judge pass"]
    assert found.of("judge pass").raw == pytest.approx(within, abs=1e-12)
    assert found.of("item").raw == pytest.approx(scores.mean(axis=1).var(ddof=1) - within / 4, abs=1e-12)


def test_a_balanced_study_without_truncation_agrees_with_reml():
    """REML equals the analysis of variance on balanced data: items with passes, by statsmodels' MixedLM."""
    scores = study(40, 1, 4)[:, 0, :]
    frame = pd.DataFrame({"y": scores.ravel(), "item": np.repeat(np.arange(40), 4)})
    fit = smf.mixedlm("y ~ 1", frame, groups="item").fit(reml=True)
    found = components(scores[:, None, :])
    assert found.of("item").raw == pytest.approx(float(fit.cov_re.iloc[0, 0]), rel=1e-4)
    assert found.of("judge pass").raw == pytest.approx(fit.scale, rel=1e-4)


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_estimates_are_unbiased_also_where_cells_are_missing(missing):
    rng = np.random.default_rng(11)
    sds = (0.3, 0.1, 0.2, 0.15)
    raw = np.array(
        [[c.raw for c in components(study(15, 4, 2, sds=sds, missing=missing, rng=rng)).components] for _ in range(600)]
    )
    error = raw.std(axis=0) / np.sqrt(len(raw))
    assert np.abs(raw.mean(axis=0) - np.square(sds)).max() <= 4 * error.max()
    assert (np.abs(raw.mean(axis=0) - np.square(sds)) <= 4 * error).all()


def test_the_judge_jackknife_is_t_over_items_on_balanced_data():
    cube = study(30, 3, 2)
    each = cube.var(axis=2, ddof=1).mean(axis=1)
    reach = t.ppf(0.975, 29) * each.std(ddof=1) / np.sqrt(30)
    interval = components(cube).of("judge pass").interval
    assert (interval.low, interval.high) == pytest.approx((each.mean() - reach, each.mean() + reach), abs=1e-9)
    assert (interval.method, interval.unit, interval.n) == ("jackknife over items", "items", 30)


def test_the_run_interval_is_that_of_burdick_and_graybill():
    """The formula of Ting and others for (S1 - S2) / c, written out with scipy's quantiles."""
    cube = study(30, 5, 2, sds=(0.3, 0.2, 0.2, 0.1))
    _, s1, s2, _ = mean_squares(cube)
    a, b, c = 4, 29 * 4, 60
    g1, h2 = 1 - a / chi2.ppf(0.975, a), b / chi2.ppf(0.025, b) - 1
    f1 = f.ppf(0.975, a, b)
    g12 = ((f1 - 1) ** 2 - g1**2 * f1**2 - h2**2) / f1
    h1, g2 = a / chi2.ppf(0.025, a) - 1, 1 - b / chi2.ppf(0.975, b)
    f2 = f.ppf(0.025, a, b)
    h12 = ((1 - f2) ** 2 - h1**2 * f2**2 - g2**2) / f2
    low = s1 - s2 - np.sqrt(g1**2 * s1**2 + h2**2 * s2**2 + g12 * s1 * s2)
    high = s1 - s2 + np.sqrt(h1**2 * s1**2 + g2**2 * s2**2 + h12 * s1 * s2)
    interval = components(cube).of("run").interval
    assert (interval.low, interval.high) == pytest.approx((max(low, 0) / c, high / c), abs=1e-9)
    assert (interval.unit, interval.n) == ("runs", 5)


def test_run_intervals_cover_what_they_promise():
    rng = np.random.default_rng(5)
    covered = [
        not components(study(25, 4, 1, sds=(0.3, 0.1, 0.2, 0.0), rng=rng)).of("run").interval.excludes(0.01)
        for _ in range(500)
    ]
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_negative_estimate_is_cut_at_zero_and_said():
    rng = np.random.default_rng(2)
    results = (components(study(20, 3, 2, sds=(0.3, 0.0, 0.2, 0.1), rng=rng)) for _ in range(20))
    found = next(result for result in results if result.of("run").raw < 0)
    run = found.of("run")
    assert (run.variance, run.truncated, run.share) == (0, True, 0)
    assert "cut there: run" in found.note
    assert run.interval.low == 0


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_order_of_items_runs_and_passes_changes_nothing(missing):
    cube, rng = study(30, 4, 3, missing=missing), np.random.default_rng(0)
    shuffled = cube[rng.permutation(30)][:, rng.permutation(4)][:, :, rng.permutation(3)]
    first, second = components(cube), components(shuffled)
    assert [c.raw for c in first.components] == pytest.approx([c.raw for c in second.components], abs=1e-12)


@pytest.mark.parametrize("scores", [np.empty((0, 3)), np.ones((1, 3)), np.full((5, 3), np.nan), np.ones((5, 1))])
def test_too_little_data_is_said(scores):
    found = components(scores)
    assert found.components == ()
    assert "needs more" in found.note


def test_equal_scores_show_no_variance_and_no_certainty():
    found = components(np.full((30, 4, 2), 0.8))
    assert [c.variance for c in found.components] == [0, 0, 0, 0]
    assert all(c.share is None and c.interval.low is None for c in found.components)


def test_infinite_scores_are_refused_with_their_place():
    scores = np.ones((4, 3))
    scores[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"scores\[2, 1, 0\]"):
        components(scores)


def test_two_studies_split_generation_from_judge():
    rng = np.random.default_rng(8)
    end_to_end = components(study(400, 5, 1, rng=rng))
    judge_only = components(study(400, 1, 5, rng=rng))
    generation, judge, note = split_judge(end_to_end, judge_only)
    assert generation == pytest.approx(end_to_end.of("generation").raw - judge_only.of("judge pass").raw)
    assert (generation, judge) == (pytest.approx(0.04, rel=0.15), pytest.approx(0.01, rel=0.15))
    assert note == ""
    assert judge_variance(judge, 4) == judge / 4


def test_a_judge_that_varies_more_than_the_whole_is_said():
    quiet = components(study(50, 4, 1, sds=(0.3, 0.0, 0.1, 0.0)))
    loud = components(study(50, 1, 4, sds=(0.3, 0.0, 0.0, 0.5)))
    generation, _, note = split_judge(quiet, loud)
    assert generation == 0
    assert "cut at zero" in note


def test_studies_of_the_wrong_kind_are_refused():
    both = components(study())
    with pytest.raises(ValueError, match="end_to_end"):
        split_judge(both, both)


def test_the_harness_owns_what_vanishes_without_its_cells():
    """Two of 100 items time out in run 2 and 10 in run 3; the rest never changes but for one item in run 1."""
    scores = np.ones((100, 3))
    scores[0, 0] = 0
    mask = np.zeros_like(scores, dtype=bool)
    mask[10:12, 1] = mask[20:30, 2] = True
    scores[mask] = 0
    found = harness_share(scores, mask)
    assert found.with_cells.sd == pytest.approx(np.std([0.99, 0.98, 0.90], ddof=1))
    assert found.share == pytest.approx(1 - (found.without_cells.sd / found.with_cells.sd) ** 2)
    assert found.share > 0.9
    assert found.cells == 12


def test_losing_hard_items_is_no_spread():
    """Runs that move by -0.01, 0 and 0.01, of which the second loses 30 hard items and the first 20 easy ones."""
    scores = np.linspace(0.1, 0.9, 100)[:, None] + np.array([-0.01, 0.0, 0.01])
    mask = np.zeros_like(scores, dtype=bool)
    mask[:30, 1] = mask[70:90, 0] = True
    found = harness_share(scores, mask)
    assert found.without_cells.scores == pytest.approx((0.49, 0.5, 0.51), abs=1e-12)
    assert found.share == pytest.approx(0, abs=1e-9)


def test_no_marked_cell_owns_nothing():
    found = harness_share(study(20, 4, 1)[:, :, 0], np.zeros((20, 4), dtype=bool))
    assert (found.share, found.cells) == (0, 0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_order_of_items_changes_not_one_bit(missing):
    cube, rng = study(60, 4, 2, missing=missing), np.random.default_rng(1)
    for _ in range(10):
        assert components(cube[rng.permutation(60)]) == components(cube)
