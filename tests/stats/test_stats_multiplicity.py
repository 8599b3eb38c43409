from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evaltui.stats.multiplicity import benjamini_hochberg, holm


def test_the_example_worked_by_hand() -> None:
    """4 x 0.005; 3 x 0.01; then 2 x 0.03 = 0.06, which 1 x 0.04 may not fall below."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_no_adjusted_value_passes_one() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_tests_that_could_not_be_made_are_not_part_of_the_family() -> None:
    assert holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]


def test_nothing_to_adjust_is_nothing() -> None:
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused_with_its_place(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\]"):
        holm([0.5, wrong])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_adjusted_values_reject_what_the_step_down_procedure_rejects(p_values: list[float], alpha: float) -> None:
    m, rejected = len(p_values), set()
    for rank, place in enumerate(sorted(range(m), key=lambda place: p_values[place])):
        if min(1.0, (m - rank) * p_values[place]) > alpha:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(p_values)) if p is not None and p <= alpha} == rejected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_both_adjustments_are_those_of_statsmodels(p_values: list[float]) -> None:
    for ours, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert ours(p_values) == pytest.approx(list(multipletests(p_values, method=name)[1]), abs=1e-12)


def test_benjamini_hochberg_worked_by_hand() -> None:
    """4 x 0.04 / 4; 4 x 0.03 / 3 = 0.04; 4 x 0.01 / 2; 4 x 0.005 / 1."""
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_benjamini_hochberg_leaves_out_what_could_not_be_tested() -> None:
    assert benjamini_hochberg([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert benjamini_hochberg([]) == []


def test_benjamini_hochberg_refuses_what_is_no_p_value() -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\] is 1.1"):
        benjamini_hochberg([0.5, 1.1])
