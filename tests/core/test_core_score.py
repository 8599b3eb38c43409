from __future__ import annotations

import numpy as np
import pytest

from evaltui.core.score import contributions, score_cells
from evaltui.core.status import PENDING_CODE, STATUS_CODES, Status
from evaltui.core.study import MissingPolicy

EXCLUDE = MissingPolicy()
FAIL = MissingPolicy(default="fail")


def cells(*outcomes: float | Status | None) -> tuple[np.ndarray, np.ndarray]:
    """A number is an ok cell with that score, a status a cell without one, None a pending cell."""
    status = [
        PENDING_CODE
        if outcome is None
        else STATUS_CODES[outcome]
        if isinstance(outcome, Status)
        else STATUS_CODES[Status.OK]
        for outcome in outcomes
    ]
    score = [float(outcome) if isinstance(outcome, (int, float)) else np.nan for outcome in outcomes]
    return np.array(status, dtype=np.uint8), np.array(score)


EIGHT = (1, 1, 0, 0, 0, 0, Status.SERVER_ERROR, Status.TIMEOUT)


def test_two_right_of_eight_with_two_errors_is_two_of_six_scored_and_two_of_eight_strict() -> None:
    result = score_cells(*cells(*EIGHT), n_planned=8, policy=EXCLUDE, score_range=(0, 1))
    assert result.score == pytest.approx(2 / 6)
    assert result.strict == pytest.approx(2 / 8)
    assert result.bounds == pytest.approx((2 / 8, 4 / 8))
    assert (result.counted, result.missing) == (6, 2)
    assert result.counts == {"ok": 6, "timeout": 1, "server_error": 1}


def test_a_run_whose_missing_share_passes_the_limit_is_not_comparable() -> None:
    assert not score_cells(*cells(*EIGHT), n_planned=8, policy=EXCLUDE, score_range=(0, 1)).comparable


def test_a_missing_share_at_the_limit_is_still_comparable() -> None:
    one_of_fifty = cells(*[1] * 49, Status.TIMEOUT)
    assert score_cells(*one_of_fifty, n_planned=50, policy=EXCLUDE, score_range=(0, 1)).comparable


def test_an_early_failure_does_not_mark_a_run_that_can_still_end_within_the_limit() -> None:
    first_of_hundred = cells(Status.TIMEOUT, 1, 1)
    assert score_cells(*first_of_hundred, n_planned=100, policy=EXCLUDE, score_range=(0, 1)).comparable


def test_statuses_that_count_as_failed_score_the_low_end_and_leave_the_run_comparable() -> None:
    result = score_cells(*cells(*EIGHT), n_planned=8, policy=FAIL, score_range=(0, 1))
    assert result.score == pytest.approx(2 / 8)
    assert (result.counted, result.missing) == (8, 2)
    assert result.comparable


def test_the_policy_is_applied_status_by_status() -> None:
    policy = MissingPolicy(by_status={Status.PARSE_FAILURE: "fail"})
    result = score_cells(
        *cells(1, 1, Status.PARSE_FAILURE, Status.TIMEOUT), n_planned=4, policy=policy, score_range=(0, 1)
    )
    assert result.score == pytest.approx(2 / 3)
    assert result.strict == pytest.approx(2 / 4)
    assert result.bounds == pytest.approx((2 / 4, 1.0))


def test_failed_and_passed_are_the_ends_of_the_declared_range() -> None:
    result = score_cells(*cells(4, 2, Status.EMPTY), n_planned=3, policy=FAIL, score_range=(1, 5))
    assert result.score == pytest.approx((4 + 2 + 1) / 3)
    assert result.strict == pytest.approx(7 / 3)
    assert result.bounds == pytest.approx((7 / 3, 11 / 3))


def test_without_a_range_nothing_can_be_failed_so_strict_and_bounds_are_unknown() -> None:
    result = score_cells(*cells(3, 5, Status.EMPTY), n_planned=3, policy=FAIL, score_range=None)
    assert (result.score, result.strict, result.bounds) == (4.0, None, None)
    assert not result.comparable


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_only_ok_scores_even_where_a_score_was_kept_for_reading(status: Status) -> None:
    codes = np.array([STATUS_CODES[Status.OK], STATUS_CODES[status]], dtype=np.uint8)
    result = score_cells(codes, np.array([0.0, 1.0]), n_planned=2, policy=EXCLUDE, score_range=(0, 1))
    assert (result.score, result.counted) == (0.0, 1)


def test_planned_items_not_yet_run_widen_the_bounds_without_being_missing() -> None:
    result = score_cells(*cells(1, 0, None), n_planned=4, policy=EXCLUDE, score_range=(0, 1))
    assert result.score == 0.5
    assert result.bounds == pytest.approx((1 / 4, 3 / 4))
    assert result.missing == 0
    assert result.comparable


def test_an_ok_cell_without_a_number_is_not_scored() -> None:
    codes = np.array([STATUS_CODES[Status.OK]] * 2, dtype=np.uint8)
    result = score_cells(codes, np.array([1.0, np.inf]), n_planned=2, policy=FAIL, score_range=(0, 1))
    assert (result.score, result.counted, result.missing) == (1.0, 1, 1)


def test_no_cells_is_no_score() -> None:
    result = score_cells(*cells(), n_planned=3, policy=EXCLUDE, score_range=(0, 1))
    assert (result.score, result.counted, result.counts) == (None, 0, {})
    assert result.bounds == (0.0, 1.0)


def test_nothing_planned_has_no_bounds() -> None:
    assert score_cells(*cells(), n_planned=0, policy=EXCLUDE, score_range=(0, 1)).bounds is None


def test_more_cells_than_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="3 cells given for 2 planned items"):
        score_cells(*cells(1, 1, 1), n_planned=2, policy=EXCLUDE, score_range=(0, 1))


def test_contributions_keep_the_shape_and_exclude_pending_cells_under_every_policy() -> None:
    status, score = cells(1, Status.REFUSED, None, 0)
    added = contributions(status.reshape(2, 2), score.reshape(2, 2), FAIL, (0, 1))
    np.testing.assert_array_equal(added, [[1, 0], [np.nan, 0]])


def test_the_score_is_the_mean_of_the_contributions() -> None:
    rng = np.random.default_rng(5)
    status = rng.integers(0, len(STATUS_CODES) + 1, 500).astype(np.uint8)
    status[rng.random(500) < 0.6] = STATUS_CODES[Status.OK]
    policy = MissingPolicy(by_status={Status.TIMEOUT: "fail", Status.REFUSED: "fail"})
    score = rng.random(500)
    result = score_cells(status, score, n_planned=500, policy=policy, score_range=(-1, 1))
    failing = np.isin(status, [STATUS_CODES[Status.TIMEOUT], STATUS_CODES[Status.REFUSED]])
    total = score[status == 1].sum() - failing.sum()
    assert result.counted == (status == 1).sum() + failing.sum()
    assert result.score == pytest.approx(total / result.counted)
