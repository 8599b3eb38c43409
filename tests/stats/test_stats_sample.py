"""What may enter an estimator: cluster labels that can be told apart, and arrays of plain numbers."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from evaltui.stats.bootstrap import mean_interval
from evaltui.stats.cross_check import clustering_check
from evaltui.stats.intervals import cluster_sem, cluster_t, item_interval, item_t
from evaltui.stats.sample import cluster_codes

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
