"""A second opinion on the item interval: the (clustered) standard error beside it, and whether the clusters can be."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from evaltui.stats.checks import positive
from evaltui.stats.interval import Interval
from evaltui.stats.intervals import Clusters, cluster_sem, item_sem
from evaltui.stats.sample import Floats, cluster_codes, cluster_labels, cluster_sums, sample

__all__ = ["TOLERANCE", "CrossCheck", "clustering_check"]

TOLERANCE = 0.15
"""By how much of the standard error's width the item interval may differ from it before the check says so."""

_GIANT = 0.5
_SINGLE = 0.95


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The interval by standard error beside the item interval, and whether the two agree.

    ``sem`` is mean +- z SEM, clustered where there are clusters. ``ratio`` is the half-width of the item interval over
    that of ``sem``, both as multiples of their own quantile. ``agrees`` is None where nothing independent could be
    compared. ``note`` is empty unless the clustering is to be looked at, and then says why.
    """

    sem: Interval
    ratio: float | None
    agrees: bool | None
    note: str


def clustering_check(
    values: ArrayLike,
    interval: Interval,
    *,
    clusters: Clusters | None = None,
    declared: Clusters | None = None,
    tolerance: float = TOLERANCE,
) -> CrossCheck:
    """Whether ``interval``, the item interval of ``values`` (n,), has the width that the standard error gives it.

    ``clusters`` (n,) are those of the values. ``declared`` (N,) are those of all items of the study, where values hold
    only the ones counted so far: whether the clusters make sense is judged on them, because at the start of a random
    order hardly two items share a cluster. Level and method are those of ``interval``.

    The two rest on different grounds, a distribution and a formula (Liang and Zeger 1986; Miller 2024), so a difference
    of more than ``tolerance`` means that items were counted as if they were independent, or that a few units carry the
    spread. Honest data differ less: in simulated studies of 50 items or more at most 9 %, and of 40 to 400 clusters of
    1 to 20 items at most 5 % (15 % is not reached unless one single item or cluster differs from all others, where
    the bootstrap is one step wide; it is not judged there). t over the same units rests on the same standard error:
    ``agrees`` is then None.

    Widths cannot show a clustering that is wrong as declared. So the note also tells of one cluster that holds more
    than half of all items, and of names of which 95 % or more stand for one item each.
    Raises ValueError for NaN, for labels as ``cluster_codes`` does, and for a tolerance that is not a positive number.
    """
    positive("tolerance", tolerance, f"for example {TOLERANCE}")
    array = sample(values)
    if clusters is None:
        sem = item_sem(array, level=interval.level)
    else:
        sem = cluster_sem(array, clusters, level=interval.level)
    structure = clusters if declared is None else declared
    told = [] if structure is None else _faults(structure)
    ratio = _ratio(interval, sem) if _several_differ(array, clusters) else None
    agrees = None if ratio is None else abs(ratio - 1) <= tolerance
    if agrees is False:
        told.append(
            f"the half-width is {_shown(interval)} by {_named(interval)}, and {_shown(sem)} by {_named(sem)}: they "
            f"should differ by less than {100 * tolerance:g} %"
        )
    return CrossCheck(sem, ratio, agrees, f"check the clustering: {'; '.join(told)}" if told else "")


def _ratio(interval: Interval, sem: Interval) -> float | None:
    """Half-width over half-width, in standard errors; None where one is unknown or both are the same formula."""
    student = interval.method.startswith("t over")
    if not interval.half_width or not sem.half_width or (student and interval.unit == sem.unit):
        return None
    upper = (1 + interval.level) / 2
    normal = float(ndtri(upper))
    quantile = float(stdtrit(interval.n - 1, upper)) if student else normal
    return interval.half_width / quantile / (sem.half_width / normal)


def _several_differ(values: Floats, clusters: Clusters | None) -> bool:
    """Whether more than one unit differs from the commonest value."""
    if clusters is not None:
        sums, sizes = cluster_sums(values, cluster_codes(clusters, len(values)))
        values = sums / sizes
    counts = np.unique(values, return_counts=True)[1]
    return len(values) - int(counts.max(initial=0)) > 1


def _faults(clusters: Sequence[Hashable] | NDArray[np.generic]) -> list[str]:
    """What is wrong with clusters as declared, in words; items without a name (None) are meant to stand alone."""
    labels = cluster_labels(clusters)
    named = [label is not None for label in labels]
    sizes = np.unique(cluster_codes(labels, len(labels))[named], return_counts=True)[1]
    giant, single = int(sizes.max(initial=0)), int((sizes == 1).sum())
    told = []
    if giant > max(1, _GIANT * len(labels)):
        told.append(
            f"one cluster holds {giant} of {len(labels)} items, so the interval depends on what that one happens to be"
        )
    elif sizes.size > 1 and single >= _SINGLE * sizes.size:
        told.append(f"{single} of {sizes.size} clusters hold a single item, so clusters change next to nothing")
    return told


def _shown(interval: Interval) -> str:
    return f"{interval.half_width:.3g}"


def _named(interval: Interval) -> str:
    return interval.method if " over " in interval.method else f"{interval.method} over {interval.unit}"
