from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.core.status import Status, StudyState
from evaltui.core.study import Design, Lease, MissingPolicy
from evaltui.report.document import to_document
from evaltui.report.live import Live
from evaltui.report.summary import Summary
from evaltui.report.text import sampling_line

NOW = 1_700_000_200.0


def summary_of(
    design: Design,
    rows: list[Row],
    calls: list[Call] | None = None,
    *,
    state: StudyState = StudyState.FINISHED,
    categories: list[str | None] | None = None,
    clusters: list[str | None] | None = None,
) -> Summary:
    nothing: list[str | None] = [None] * design.n_items
    info = make_info(design, state)
    if state is StudyState.RUNNING:
        info = replace(info, lease=Lease(1, "here", 1, True))
    items = [
        Item(f"position {place}", {}, None, category, cluster, b"", place)
        for place, (category, cluster) in enumerate(zip(categories or nothing, clusters or nothing, strict=False))
    ]
    live = Live(info, items)
    live.apply(Delta(info, cell_batch(rows), attempt_batch(calls or [])))
    return live.summary(NOW)


def rows_of(scores: np.ndarray, texts: np.ndarray | None = None) -> list[Row]:
    """Rows of a whole study from scores (arms, items, repeats), labelled by their score; every text its own."""
    texts = np.arange(scores.size).reshape(scores.shape) if texts is None else texts
    return [
        Row(arm, column + 1, place, float(score), label=f"{score:g}", text=int(texts[arm, place, column]))
        for (arm, place, column), score in np.ndenumerate(scores)
    ]


def table(*runs: str) -> np.ndarray:
    """Scores (items, runs) from one string of digits for each run."""
    return np.array([[float(digit) for digit in run] for run in runs]).T


def codes(summary: Summary) -> set[str]:
    return {notice.code for notice in summary.warnings}


BASELINE = table("1101", "1100", "1111")
CANDIDATE = table("0101", "0100", "0110")


def hand_worked() -> Summary:
    return summary_of(make_design(4, 3), rows_of(np.stack([BASELINE, CANDIDATE])))


def test_mean_and_range_of_an_arm_are_over_its_runs() -> None:
    baseline, candidate = hand_worked().arms
    assert [run.score for run in baseline.runs] == [0.75, 0.5, 1.0]
    assert baseline.mean == pytest.approx(0.75)
    assert baseline.range == pytest.approx(0.5)
    assert candidate.mean == pytest.approx((0.5 + 0.25 + 0.5) / 3)


def test_the_band_is_two_sd_over_runs() -> None:
    band = hand_worked().arms[0].band
    assert (band.k, band.z, band.measured) == (3, 2.0, True)
    assert band.sd == pytest.approx(0.25)
    assert band.band == pytest.approx(0.5)


TEN_SCORES = [0.8120, 0.8070, 0.8190, 0.8090, 0.8150, 0.8040, 0.8110, 0.8180, 0.8060, 0.8130]


def runs_scoring(scores: list[float]) -> Summary:
    """One arm of 1,000 items whose runs have these scores; no two texts are the same."""
    rows = [
        Row(0, repeat, place, float(place < round(score * 1000)), text=1000 * repeat + place)
        for repeat, score in enumerate(scores, start=1)
        for place in range(1000)
    ]
    return summary_of(make_design(1000, len(scores), arms=("baseline",)), rows)


def test_the_ten_runs_of_the_statistics_page_have_mean_81_14_and_two_sd_1_003_points() -> None:
    arm = runs_scoring(TEN_SCORES).arms[0]
    assert arm.mean == pytest.approx(0.8114)
    assert arm.range == pytest.approx(0.0150)
    assert arm.band.sd == pytest.approx(0.00502, abs=5e-6)
    assert arm.band.band == pytest.approx(0.01003, abs=5e-6)


@pytest.mark.parametrize("k", [3, 10])
def test_one_more_run_will_land_within_the_prediction_limits_of_the_runs_so_far(k: int) -> None:
    scores = TEN_SCORES[:k]
    band = runs_scoring(scores).arms[0].band
    reach = scipy.stats.t.ppf(0.975, k - 1) * np.std(scores, ddof=1) * np.sqrt(1 + 1 / k)
    assert band.level == 0.95
    assert band.next_run == pytest.approx((np.mean(scores) - reach, np.mean(scores) + reach))


def test_one_more_run_lands_where_it_was_said_to_in_nineteen_cases_of_twenty() -> None:
    rng = np.random.default_rng(4)
    landed = []
    for runs in rng.binomial(1000, 0.8, size=(400, 4)) / 1000:
        said = runs_scoring(runs[:3].tolist()).arms[0].band.next_run
        if said is not None:
            landed.append(said[0] <= runs[3] <= said[1])
    assert len(landed) > 380
    assert np.mean(landed) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / len(landed)))


def test_no_run_is_foretold_beyond_what_can_be_scored() -> None:
    assert hand_worked().arms[0].band.next_run == (0.0, 1.0)
    boundless = summary_of(make_design(4, 3, score_range=None), rows_of(np.stack([BASELINE, CANDIDATE])))
    reach = scipy.stats.t.ppf(0.975, 2) * 0.25 * np.sqrt(4 / 3)
    assert boundless.arms[0].band.next_run == pytest.approx((0.75 - reach, 0.75 + reach))


def test_two_runs_and_runs_that_are_not_repeats_foretell_no_third() -> None:
    assert runs_scoring([0.80, 0.81]).arms[0].band.next_run is None
    assert runs_scoring([0.80, 0.80, 0.80]).arms[0].band.next_run is None
    scores = np.ones((1, 20, 3))
    texts = np.broadcast_to(np.arange(20)[None, :, None], scores.shape)
    copies = summary_of(make_design(20, 3, arms=("baseline",)), rows_of(scores, texts))
    assert copies.arms[0].band.next_run is None


def test_flips_count_items_whose_verdict_changes_between_runs() -> None:
    flips = hand_worked().arms[0].flips
    assert (flips.items, flips.items_that_flip) == (4, 2)
    assert flips.pairwise == pytest.approx((0 + 0 + 2 / 3 + 2 / 3) / 4)
    assert flips.expected_changes == pytest.approx(4 / 3)
    assert flips.text_changes == 4


def test_two_different_wrong_answers_change_the_verdict_and_not_the_score() -> None:
    rows = rows_of(np.stack([BASELINE, CANDIDATE]))
    rows = [replace(row, label=f"answer {row.repeat}") if row.position == 0 else row for row in rows]
    flips = summary_of(make_design(4, 3), rows).arms[1].flips
    assert (flips.items_that_flip, flips.score_items_that_flip) == (3, 2)
    assert flips.pairwise == pytest.approx((1 + 0 + 2 / 3 + 2 / 3) / 4)
    assert flips.score_pairwise == pytest.approx((0 + 0 + 2 / 3 + 2 / 3) / 4)


def test_the_comparison_subtracts_item_means_and_counts_gained_and_lost() -> None:
    comparison = hand_worked().comparisons[0]
    d = CANDIDATE.mean(axis=1) - BASELINE.mean(axis=1)
    np.testing.assert_allclose(d, [-1, 0, 0, -1 / 3])
    assert (comparison.baseline, comparison.candidate) == ("baseline", "candidate")
    assert comparison.difference == pytest.approx(-1 / 3)
    assert comparison.baseline_mean == pytest.approx(0.75)
    assert comparison.candidate_mean == pytest.approx(5 / 12)
    assert (comparison.gained, comparison.lost) == (0, 2)
    assert (comparison.n_items, comparison.n_in_flight, comparison.n_left_out) == (4, 0, 0)


def test_below_fifty_items_the_item_interval_is_t_on_the_differences() -> None:
    comparison = hand_worked().comparisons[0]
    low, high = scipy.stats.ttest_1samp([-1, 0, 0, -1 / 3], 0).confidence_interval(0.95)
    item = comparison.intervals[0]
    assert (item.method, item.unit, item.n) == ("t over items", "items", 4)
    assert (item.low, item.high) == pytest.approx((low, high))


def test_interleaved_runs_are_paired_by_repeat() -> None:
    run = hand_worked().comparisons[0].intervals[1]
    low, high = scipy.stats.ttest_rel([0.5, 0.25, 0.5], [0.75, 0.5, 1.0]).confidence_interval(0.95)
    assert (run.method, run.unit, run.n) == ("paired t over runs", "runs", 3)
    assert (run.low, run.high) == pytest.approx((low, high))


def test_paired_runs_are_compared_on_the_items_that_count_in_both() -> None:
    rows = rows_of(np.stack([BASELINE, CANDIDATE]))
    lost = next(place for place, row in enumerate(rows) if (row.arm, row.repeat, row.position) == (0, 2, 3))
    rows[lost] = replace(rows[lost], status=Status.TIMEOUT, score=None, label=None)
    run = summary_of(make_design(4, 3), rows).comparisons[0].intervals[1]
    low, high = scipy.stats.ttest_rel([0.5, 1 / 3, 0.5], [0.75, 2 / 3, 1.0]).confidence_interval(0.95)
    assert (run.low, run.high) == pytest.approx((low, high))


def test_sequential_runs_are_compared_with_welch() -> None:
    design = make_design(4, 3, schedule="sequential")
    run = summary_of(design, rows_of(np.stack([BASELINE, CANDIDATE]))).comparisons[0].intervals[1]
    result = scipy.stats.ttest_ind([0.5, 0.25, 0.5], [0.75, 0.5, 1.0], equal_var=False)
    low, high = result.confidence_interval(0.95)
    assert run.method == "Welch t over runs"
    assert (run.low, run.high) == pytest.approx((low, high))


def noisy_scores(n_items: int, repeats: int, seed: int = 11) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((2, n_items, repeats)) < rng.beta(4, 1.2, n_items)[None, :, None]).astype(float)


def test_from_fifty_items_the_item_interval_is_the_percentile_bootstrap() -> None:
    scores = noisy_scores(300, 3)
    item = summary_of(make_design(300, 3), rows_of(scores)).comparisons[0].intervals[0]
    d = scores[1].mean(axis=1) - scores[0].mean(axis=1)
    draws = np.random.default_rng(0).choice(d, (20_000, 300)).mean(axis=1)
    assert item.method.startswith("percentile")
    assert (item.low, item.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=0.002)


def test_the_headline_is_that_of_items_and_runs_together_from_three_repeats_on() -> None:
    scores = np.random.default_rng(4).integers(0, 2, size=(2, 40, 4)).astype(float)
    item, run, fixed, *together = (
        comparison := summary_of(make_design(40, 4), rows_of(scores)).comparisons[0]
    ).intervals
    lead = comparison.headline
    assert lead is not None
    assert lead.low is not None
    assert lead.low <= item.low
    assert (lead.low, lead.high) in [(each.low, each.high) for each in (item, *together)]
    assert (run.unit, fixed.estimand) == ("runs", "exactly these items")


def test_a_running_study_has_a_sequence_that_may_stop_it_and_a_forecast() -> None:
    rng = np.random.default_rng(8)
    scores = np.stack((rng.random((200, 2)) < 0.4, rng.random((200, 2)) < 0.9)).astype(float)
    early = [row for row in rows_of(scores) if row.position < 120]
    comparison = summary_of(make_design(200, 2), early, state=StudyState.RUNNING).comparisons[0]
    assert comparison.sequence.low is not None
    assert comparison.sequence.low > 0
    assert comparison.forecast is not None
    assert comparison.forecast > 0.95


def test_the_interval_at_every_look_may_end_a_study_only_where_whole_runs_do_not_move() -> None:
    rng = np.random.default_rng(6)
    still = (rng.random((2, 400, 4)) < 0.6).astype(float)
    # Every other run of the candidate passes 15 points more: far beyond what flips of 400 items give, 2.4 points.
    moving = still.copy()
    moving[1] = (rng.random((400, 4)) < np.array([0.5, 0.65, 0.5, 0.65])).astype(float)
    design, running = make_design(400, 4), StudyState.RUNNING
    calm, moved = (summary_of(design, rows_of(scores), state=running) for scores in (still, moving))
    assert all(arm.excess_spread.p is not None and arm.excess_spread.p > 0.05 for arm in calm.arms)
    assert calm.comparisons[0].stopping.startswith("Only the interval at every look, as long as whole runs do not move")
    assert moved.comparisons[0].stopping.startswith(
        "No interval may end this study early: whole runs of candidate move"
    )


def test_nothing_is_foretold_of_a_finished_study_and_nothing_may_end_it() -> None:
    comparison = summary_of(make_design(200, 3), rows_of(noisy_scores(200, 3))).comparisons[0]
    assert (comparison.stopping, comparison.forecast) == ("", None)
    assert comparison.forecast_note == "the study is finished"
    assert comparison.sequence.low is not None


@pytest.mark.parametrize("passed", [0, 1])
def test_a_rate_of_none_or_all_has_exact_limits_on_other_items_instead_of_a_width_of_zero(passed: int) -> None:
    scores = np.full((2, 120, 3), float(passed))
    band = summary_of(make_design(120, 3), rows_of(scores)).arms[0].band
    assert (band.sampling, band.sampling_note) == (None, "")
    # Clopper and Pearson (1934) at 0 of n: 1 - (alpha / 2) ** (1 / n).
    limit = 1 - 0.025 ** (1 / 120)
    assert band.sampling_limits == pytest.approx((1 - limit, 1.0) if passed else (0.0, limit), abs=1e-12)
    assert f"{100 * limit:.1f}" in sampling_line(band) or f"{100 - 100 * limit:.1f}" in sampling_line(band)


def test_the_band_on_other_items_says_that_it_leaves_clusters_out() -> None:
    clusters: list[str | None] = [f"passage {place % 30}" for place in range(120)]
    rows = rows_of(noisy_scores(120, 3))
    alone = summary_of(make_design(120, 3), rows).arms[0].band
    together = summary_of(make_design(120, 3), rows, clusters=clusters).arms[0].band
    assert (alone.sampling_note, together.sampling) == ("", alone.sampling)
    assert sampling_line(together) == (
        f"{sampling_line(alone)}; items come in clusters, which it does not take into account: it is too narrow"
    )


def test_repeats_without_a_score_are_not_counted_as_compared() -> None:
    scores = noisy_scores(120, 4)
    rows = [
        replace(row, status=Status.TIMEOUT, score=None, label=None) if (row.arm, row.repeat) == (1, 4) else row
        for row in rows_of(scores)
    ]
    summary = summary_of(make_design(120, 4), rows)
    assert "120 items x 3 repeats)" in summary.comparisons[0].sentence
    (told,) = [notice.text for notice in summary.warnings if notice.code == "not_comparable"]
    assert told.endswith("are missing in #4 (120 of 120); no verdict of #4 counts, so no number is made of them")


def test_items_in_clusters_have_neither_sequence_nor_forecast_and_the_report_says_why() -> None:
    scores = np.random.default_rng(9).integers(0, 2, size=(2, 60, 2)).astype(float)
    clusters: list[str | None] = [f"passage {place % 30}" for place in range(60)]
    comparison = summary_of(make_design(60, 2), rows_of(scores), clusters=clusters).comparisons[0]
    assert (comparison.sequence.low, comparison.forecast) == (None, None)
    assert "clusters" in comparison.sequence.note
    assert "clusters" in comparison.forecast_note


def test_below_three_repeats_the_headline_is_over_items_and_says_what_it_lacks() -> None:
    headline = summary_of(make_design(300, 2), rows_of(noisy_scores(300, 2))).comparisons[0].headline
    assert headline is not None
    assert headline.method.startswith("percentile")
    assert "could not be measured" in headline.why


def test_items_that_share_a_cluster_are_taken_together() -> None:
    scores = noisy_scores(240, 3)
    clusters: list[str | None] = [f"passage-{place // 4}" for place in range(240)]
    item = summary_of(make_design(240, 3), rows_of(scores), clusters=clusters).comparisons[0].intervals[0]
    d = (scores[1].mean(axis=1) - scores[0].mean(axis=1)).reshape(60, 4).mean(axis=1)
    draws = np.random.default_rng(0).choice(d, (20_000, 60)).mean(axis=1)
    assert (item.unit, item.n) == ("clusters", 60)
    assert (item.low, item.high) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])), abs=0.004)


def test_a_category_has_its_own_paired_interval() -> None:
    categories: list[str | None] = ["maths", "maths", None, "maths"]
    summary = summary_of(make_design(4, 3), rows_of(np.stack([BASELINE, CANDIDATE])), categories=categories)
    (found,) = summary.categories
    low, high = scipy.stats.ttest_1samp([-1, 0, -1 / 3], 0).confidence_interval(0.95)
    assert (found.category, found.n) == ("maths", 3)
    assert found.difference == pytest.approx(-4 / 9)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_p_values_of_categories_are_adjusted_for_their_number() -> None:
    scores = noisy_scores(60, 3)
    categories: list[str | None] = ["x", "y", "z"] * 20
    found = summary_of(make_design(60, 3), rows_of(scores), categories=categories).categories
    d = scores[1].mean(axis=1) - scores[0].mean(axis=1)
    raw = [scipy.stats.ttest_1samp(d[start::3], 0).pvalue for start in range(3)]
    by_p = np.argsort(raw)
    stepped = np.maximum.accumulate(np.minimum(1, np.array([3, 2, 1]) * np.array(raw)[by_p]))
    assert [found[place].p_adjusted for place in by_p] == pytest.approx(stepped.tolist())


def eight_items_two_errors() -> list[Row]:
    scored = [Row(0, 1, place, float(place < 2)) for place in range(6)]
    return [*scored, Row(0, 1, 6, None, Status.SERVER_ERROR), Row(0, 1, 7, None, Status.TIMEOUT)]


def test_errors_are_neither_right_nor_wrong_and_both_readings_are_given() -> None:
    summary = summary_of(make_design(8, 1, arms=("baseline",)), eight_items_two_errors())
    (run,) = summary.arms[0].runs
    assert run.score == pytest.approx(2 / 6)
    assert run.strict == pytest.approx(2 / 8)
    assert run.bounds == pytest.approx((2 / 8, 4 / 8))
    assert run.counts == {"ok": 6, "timeout": 1, "server_error": 1}
    assert not run.comparable
    assert "not_comparable" in codes(summary)


def test_verdicts_that_count_as_failed_are_not_told_as_missing() -> None:
    design = make_design(8, 1, arms=("baseline",), missing=MissingPolicy(by_status={Status.TIMEOUT: "fail"}))
    (notice,) = [
        each for each in summary_of(design, eight_items_two_errors()).warnings if each.code == "not_comparable"
    ]
    assert "#1 (1 of 8)" in notice.text


def test_a_run_that_is_not_comparable_stays_in_the_numbers() -> None:
    summary = summary_of(make_design(8, 1, arms=("baseline",)), eight_items_two_errors())
    assert summary.arms[0].mean == pytest.approx(2 / 6)


def test_the_policy_of_the_study_is_applied_to_runs_and_to_comparisons_alike() -> None:
    design = make_design(2, 1, missing=MissingPolicy(default="fail"))
    rows = [Row(0, 1, 0, 1.0), Row(0, 1, 1, 1.0), Row(1, 1, 0, 1.0), Row(1, 1, 1, None, Status.PARSE_FAILURE)]
    summary = summary_of(design, rows)
    assert summary.arms[1].mean == 0.5
    assert summary.arms[1].runs[0].comparable
    assert summary.comparisons[0].difference == pytest.approx(-0.5)
    assert summary.comparisons[0].n_left_out == 0


def part_finished() -> Summary:
    whole = rows_of(np.stack([BASELINE, CANDIDATE]))
    return summary_of(
        make_design(4, 3), [row for row in whole if row.repeat < 3 or row.position in (0, 3)], state=StudyState.RUNNING
    )


def test_a_part_finished_run_is_scored_as_of_its_prefix_and_stays_out_of_the_mean() -> None:
    arm = part_finished().arms[0]
    third = arm.runs[2]
    assert (third.done, third.score, third.counted, third.complete) == (2, 1.0, 1, False)
    assert third.bounds == pytest.approx((1 / 4, 4 / 4))
    assert arm.band.k == 2
    assert arm.mean == pytest.approx((0.75 + 0.5) / 2)


def test_cells_beyond_the_frontier_are_told_as_in_flight() -> None:
    comparison = part_finished().comparisons[0]
    assert comparison.n_in_flight == 2
    assert comparison.n_items == 4
    expected = [(0 - 3) / 3, 0, 0, (1 - 1) / 2]
    assert comparison.difference == pytest.approx(np.mean(expected))


def test_missing_verdicts_are_named_when_an_engine_has_left_the_study_paused() -> None:
    paused = summary_of(make_design(2, 1, arms=("baseline",)), [Row(0, 1, 0, 1.0)], state=StudyState.PAUSED)
    assert "incomplete" in codes(paused)


def test_missing_verdicts_are_named_once_the_study_has_ended() -> None:
    whole = rows_of(np.stack([BASELINE, CANDIDATE]))
    design = make_design(4, 3)
    stopped = summary_of(design, [row for row in whole if (row.arm, row.repeat, row.position) != (1, 2, 3)])
    (notice,) = [notice for notice in stopped.warnings if notice.code == "incomplete"]
    assert notice.text == "candidate#2 has 3 of 4 verdicts; missing: position 3"
    assert "incomplete" not in codes(part_finished())


def test_runs_without_one_differing_text_are_not_repeats_and_have_no_band() -> None:
    scores = np.ones((1, 20, 3))
    texts = np.broadcast_to(np.arange(20)[None, :, None], scores.shape)
    summary = summary_of(make_design(20, 3, arms=("baseline",)), rows_of(scores, texts))
    band = summary.arms[0].band
    assert (band.measured, band.band, band.sd) == (False, None, None)
    assert "not_repeats" in codes(summary)


def test_runs_of_equal_score_leave_the_band_unmeasured_instead_of_zero() -> None:
    summary = summary_of(make_design(20, 3, arms=("baseline",)), rows_of(np.ones((1, 20, 3))))
    assert summary.arms[0].band.band is None
    assert "band_not_measured" in codes(summary)


@pytest.mark.parametrize(
    ("n_items", "repeats", "expected"),
    [
        (9, 8, {"few_items"}),
        (10, 8, set()),
        (10, 7, {"few_repeats"}),
        (10, 1, {"no_band"}),
        (10, 12, set()),
        (10, 13, {"many_repeats"}),
    ],
)
def test_too_few_items_and_too_few_or_too_many_repeats_are_warned_about(
    n_items: int, repeats: int, expected: set[str]
) -> None:
    design = make_design(n_items, repeats, arms=("baseline",))
    scores = np.ones((1, n_items, repeats))
    scores[0, 0, ::2] = 0
    assert codes(summary_of(design, rows_of(scores))) == expected


def test_a_scorer_without_a_range_is_warned_about() -> None:
    summary = summary_of(make_design(4, 3, score_range=None), rows_of(np.stack([BASELINE, CANDIDATE])))
    assert "no_score_range" in codes(summary)
    assert summary.arms[0].runs[0].bounds is None


def test_identical_arms_get_no_interval_of_zero_width() -> None:
    scores = np.stack([BASELINE, BASELINE])
    comparison = summary_of(make_design(4, 3), rows_of(scores)).comparisons[0]
    assert comparison.difference == 0
    assert all(each.low is None for each in comparison.intervals[:2])
    assert "no interval can be given" in comparison.sentence


def test_a_study_without_a_verdict_has_a_report_all_the_same() -> None:
    document = to_document(summary_of(make_design(4, 3), [], state=StudyState.CREATED))
    assert document["arms"]["candidate"]["mean"] is None  # type: ignore[index]
    assert "nothing to compare yet" in document["comparison"]["sentence"]  # type: ignore[index]


def test_one_arm_has_nothing_to_be_compared_with() -> None:
    document = to_document(summary_of(make_design(4, 3, arms=("only",)), rows_of(BASELINE[None])))
    assert (document["comparisons"], document["comparison"], document["categories"]) == ([], None, [])


def test_every_other_arm_is_compared_with_the_baseline_wherever_it_stands() -> None:
    design = replace(make_design(4, 3, arms=("a", "b", "c")), baseline="b")
    summary = summary_of(design, rows_of(np.stack([BASELINE, CANDIDATE, BASELINE])))
    assert [(each.baseline, each.candidate) for each in summary.comparisons] == [("b", "a"), ("b", "c")]
    assert summary.comparisons[0].difference == pytest.approx(1 / 3)


def test_counters_come_from_the_calls_and_retries_from_the_cells() -> None:
    rows = [Row(0, 1, 0, 1.0, attempts=3, latency=0.25), Row(0, 1, 1, None, Status.TIMEOUT, attempts=2, latency=0.75)]
    calls = [
        Call(0, 1, 1, Status.RATE_LIMITED, started=5.0, prompt_tokens=10, completion_tokens=4, cost=0.25),
        Call(0, 1, 2, started=6.0, queue_wait=0.5),
    ]
    summary = summary_of(make_design(2, 1, arms=("baseline",)), rows, calls)
    (run,) = summary.arms[0].runs
    assert run.retries == 3
    assert (run.latency.p50, run.latency.max) == (0.5, 0.75)
    assert run.attempts == {"ok": 1, "rate_limited": 1}
    assert (run.tokens, run.cost, run.started, run.queue_wait_s) == (14, 0.25, 5.0, 0.25)
    assert run.finished == rows[0].finished
    assert (summary.progress.requests, summary.progress.cost) == (2, 0.25)


def test_calls_of_an_outage_are_retries_of_the_run_although_its_cells_took_one_call_each() -> None:
    rows = [Row(0, 1, 0, 1.0), Row(0, 1, 1, 1.0)]
    lost = [Call(0, 1, number, Status.NETWORK_ERROR) for number in (1, 2, 3)]
    summary = summary_of(make_design(2, 1, arms=("baseline",)), rows, [*lost, Call(0, 1), Call(0, 1)])
    (run,) = summary.arms[0].runs
    assert run.retries == 3
    assert run.attempts == {"ok": 2, "network_error": 3}


def test_time_left_is_told_while_the_study_runs_and_not_after() -> None:
    rows = [Row(0, 1, place, 1.0, finished=NOW - 50 + place) for place in range(50)]
    design = make_design(60, 1, arms=("baseline",))
    running = summary_of(design, rows, state=StudyState.RUNNING)
    assert running.progress.eta_s == pytest.approx(10.0)
    assert (running.progress.done, running.progress.total) == (50, 60)
    assert summary_of(design, rows, state=StudyState.STOPPED).progress.eta_s is None


def test_a_study_with_too_few_items_is_refused() -> None:
    with pytest.raises(ValueError, match="there must be one item per position: 3 for 4"):
        summary_of(make_design(4, 3), [], categories=["a", "b", "c"])


cells = st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(0, 11))


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_the_order_of_arrival_changes_nothing_in_the_document(data: st.DataObject) -> None:
    keys = data.draw(st.lists(cells, unique=True, max_size=72))
    rows = [
        Row(
            *key,
            score=data.draw(st.sampled_from([0.0, 0.1, 0.7, 1.0])),
            status=data.draw(st.sampled_from([Status.OK, Status.OK, Status.OK, Status.TIMEOUT])),
            label=data.draw(st.sampled_from(["a", "b", "C", "c", None])),
            text=data.draw(st.integers(0, 5)),
            latency=data.draw(st.sampled_from([0.1, 0.2, 0.4])),
        )
        for key in keys
    ]
    design = make_design(12, 3)
    categories: list[str | None] = ["x", "y", None] * 4
    documents = [
        json.dumps(to_document(summary_of(design, list(order), categories=categories)), allow_nan=False)
        for order in (rows, data.draw(st.permutations(rows)))
    ]
    assert documents[0] == documents[1]
