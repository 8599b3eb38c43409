"""What may enter an estimator: cluster labels that can be told apart, and arrays of plain numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.components import components
from evaltui.stats.cross_check import clustering_check
from evaltui.stats.forecast import forecast
from evaltui.stats.intervals import (
    cluster_sem,
    cluster_t,
    fixed_items_interval,
    item_interval,
    item_sem,
    item_t,
)
from evaltui.stats.sample import cluster_codes, code_table
from evaltui.stats.sequence import confidence_sequence, pass_differences

VALUES = [0.0, 1.0, 0.5, 0.25]


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        (["a", math.nan, "b", math.nan], "clusters[1] is nan"),
        (np.array([1.0, 2.0, np.nan, np.nan]), "clusters[2] is nan"),
        ([np.float32("nan"), 1, 2, 3], "clusters[0] is nan"),
        ([["a"], ["a"], ["b"], ["b"]], "clusters[0] is ['a']"),
        ([1, 2, 3, np.array([1, 2])], "clusters[3] is [1 2]"),
        (["a", "b", "c", {"d": 1}], "clusters[3] is {'d': 1}"),
        (np.zeros((4, 1)), "one dimension, its items, not shape (4, 1)"),
        (np.array("a"), "one dimension, its items, not shape ()"),
        (np.ma.masked_equal([1, 1, 2, 2], 2), "clusters must not be a masked array"),
        ("abcd", "one label per item, not 'abcd'"),
        (7, "one label per item, not 7"),
        (["a", "b", "c"], "3 labels for 4 items"),
        (["a"] * 5, "5 labels for 4 items"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        lambda clusters: cluster_codes(clusters, 4),
        lambda clusters: mean_interval(VALUES, clusters=clusters),
        lambda clusters: item_interval(VALUES, clusters=clusters),
        lambda clusters: cluster_sem(VALUES, clusters),
        lambda clusters: cluster_t(VALUES, clusters),
        lambda clusters: clustering_check(VALUES, item_t(VALUES), clusters=clusters),
    ],
    ids=["codes", "bootstrap", "item", "sem", "t", "check"],
)
def test_labels_that_cannot_be_told_apart_are_refused_with_their_place(function, clusters, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        function(clusters)


def test_declared_clusters_are_held_to_the_same():
    for clusters, words in (([["a"]], "clusters[0] is ['a']"), (["a", None, math.nan], "clusters[2] is nan")):
        with pytest.raises(ValueError, match=re.escape(words)):
            clustering_check(VALUES, item_t(VALUES), declared=clusters)


def test_every_label_that_can_be_compared_names_a_cluster_and_none_stands_alone():
    assert cluster_codes(["a", None, ("a", 1), "a", None, 7, ("a", 1)], 7).tolist() == [0, 1, 2, 0, 3, 4, 2]


@pytest.mark.parametrize("tolerance", [0, -1, math.nan, math.inf])
def test_a_tolerance_is_a_positive_number(tolerance):
    with pytest.raises(ValueError, match=f"tolerance must be a positive number, not {tolerance}"):
        clustering_check(VALUES, item_t(VALUES), tolerance=tolerance)


WRONG = {
    "text": (["0.5", "1"], "of type <U3"),
    "complex": ([0.5, 1j], "of type complex128"),
    "objects": ([0.5, None], "of type object"),
    "masked": (np.ma.masked_array([0.5, 1.0], [False, True]), "masked array"),
    "too large": ([0.5, 1e80], "beyond 1e+60"),
    "infinite": ([0.5, -math.inf], "is -inf"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(
    "function",
    [
        mean_interval,
        item_interval,
        item_t,
        item_sem,
        lambda values: confidence_sequence(values, planned=10),
        lambda values: cluster_t(values, ["a", "b"]),
        lambda values: components(_column(values)),
        lambda values: fixed_items_interval(_column(values), _column(values)),
        lambda values: forecast(_column(values), _column(values), [2]),
        lambda values: pass_differences(_column(values), _column(values), [2]),
    ],
    ids=["bootstrap", "item", "t", "sem", "sequence", "cluster", "components", "fixed items", "forecast", "passes"],
)
def test_what_is_no_array_of_numbers_is_refused(function, kind):
    values, words = WRONG[kind]
    with pytest.raises(ValueError, match=re.escape(words)):
        function(values)


def test_rows_of_different_length_are_refused():
    for function in (components, code_table, lambda rows: forecast(rows, rows, [1])):
        with pytest.raises(ValueError, match="rows of the same length"):
            function([[1, 2], [1]])


def _column(values):
    return np.ma.asanyarray(values)[:, None] if np.ma.isMaskedArray(values) else [[value] for value in values]
