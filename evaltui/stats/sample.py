"""What may enter an estimator: finite numbers of the right shape, or a ValueError that says where they are not."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALL_N = 50
"""Below this many items the item interval is t."""

FEW_CLUSTERS = 40
"""Below this many clusters the cluster interval is t: with 20 the percentile interval errs in 7 %, not 5."""

LARGEST = 1e60
"""Numbers beyond this are refused: their fourth powers, which variances of variances are made of, would overflow."""

_LARGEST_CODE = int(np.iinfo(np.int64).max)
_SAME = 1e-12
_SMALLEST_SCALE = 1e-2


def sample(values: ArrayLike, name: str = "values") -> Floats:
    """One-dimensional finite floats, shape (n,). Raises ValueError naming the first NaN, infinity or one too large."""
    array = numbers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not shape {array.shape}")
    insist_usable(array, name, ~np.isfinite(array), "leave out what has no score")
    return array


def score_table(values: ArrayLike, name: str = "scores") -> Floats:
    """Scores of shape (n items, k repeats), NaN where a cell has none.

    Raises ValueError for an infinity or a number too large, with its place.
    """
    array = numbers(values, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must have the shape (items, repeats), not {array.shape}")
    insist_usable(array, name, np.isinf(array), "a missing score is NaN")
    return array


def numbers(values: ArrayLike, name: str) -> Floats:
    """``values`` as floats of any shape. Raises ValueError for text, objects (None), complex and masked arrays."""
    array = _array(values, name)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be real numbers (NaN where one is missing), not of type {array.dtype}")
    return array.astype(np.float64, copy=False)


def whole_numbers(values: ArrayLike, name: str, end: int, start: int = 0) -> NDArray[np.intp]:
    """One-dimensional whole numbers from ``start`` up to, not including, ``end``; ValueError names the first other."""
    array = _array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, not of type {array.dtype}")
    whole: NDArray[np.intp] = array.astype(np.intp, copy=False)
    # What lies below start is huge without a sign: one look at the largest finds both.
    if whole.size and (whole - start).view(np.uintp).max() >= max(end - start, 0):
        place = int(np.argmax((array < start) | (array >= end)))
        raise ValueError(f"{name}[{place}] is {array[place]}; there are {start} to {end - 1}")
    return whole


def frontier_of(frontier: ArrayLike, n: int, k: int) -> NDArray[np.intp]:
    """How many of ``n`` leading items are counted in each of ``k`` repeats. Raises ValueError for anything else."""
    reach = whole_numbers(frontier, "frontier", n + 1)
    if len(reach) != k:
        raise ValueError(f"frontier must have one number for each of the {k} repeats, not {len(reach)}")
    return reach


def refuse_masks(values: object, name: str) -> None:
    """Raise ValueError for a masked array: what it hides would be taken for data."""
    if np.ma.isMaskedArray(values):
        raise ValueError(f"{name} must not be a masked array: leave out what is masked, or fill it")


def insist_usable(array: Floats, name: str, bad: NDArray[np.bool_], advice: str) -> None:
    """Raise ValueError for the first ``bad`` number of ``array``, with ``advice``, and for one beyond ``LARGEST``."""
    bad = bad | (np.abs(array) > LARGEST)
    if not bad.any():
        return
    place = np.argwhere(bad)[0].tolist()
    value = array[tuple(place)]
    reason = f"beyond {LARGEST:g} nothing can be computed" if np.isfinite(value) else advice
    raise ValueError(f"{name}{place} is {value}; {reason}")


def code_table(values: ArrayLike, name: str = "labels") -> Codes:
    """Integer codes of shape (n items, k repeats), -1 where missing.

    Raises ValueError for anything else, with the place of a code below -1 or beyond int64.
    """
    array = _array(values, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must have the shape (items, repeats), not {array.shape}")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must be integer codes (-1 for missing), not {array.dtype}")
    if array.size and (array.min() < -1 or array.max() > _LARGEST_CODE):
        place = np.argwhere((array < -1) | (array > _LARGEST_CODE))[0].tolist()
        raise ValueError(f"{name}{place} is {array[tuple(place)]}; codes are whole numbers from 0 on, -1 for missing")
    return array.astype(np.int64, copy=False)


def checked_level(level: float) -> float:
    """``level`` itself. Raises ValueError unless it lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for example 0.95, not {level}")
    return float(level)


def all_equal(values: Floats) -> bool:
    """Whether values differ by no more than the rounding of the means they came from."""
    if values.size == 0:
        return True
    scale = max(float(np.abs(values).max()), _SMALLEST_SCALE)
    return float(np.ptp(values)) <= _SAME * scale


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean, correctly rounded, so that the order of the values does not matter."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers)


def sum_of_squares(values: Floats) -> float:
    """Squared deviations from the mean, summed without regard to order."""
    deviations = values - mean(values.tolist())
    return math.fsum((deviations * deviations).tolist())


def cluster_codes(clusters: Sequence[Hashable] | NDArray[np.generic], n: int) -> Codes:
    """Codes 0.. for ``n`` cluster labels; an item whose label is None is a cluster of its own.

    Raises ValueError unless there are exactly ``n`` labels in one dimension, and for a label that cannot be compared
    with others (a list, NaN), with its place.
    """
    labels = cluster_labels(clusters)
    if len(labels) != n:
        raise ValueError(f"clusters must name one cluster per item: {len(labels)} labels for {n} items")
    seen: dict[Hashable, int] = {}
    codes = np.empty(n, dtype=np.int64)
    for place, label in enumerate(labels):
        key: Hashable = (None, place) if label is None else (label,)
        try:
            fresh = key not in seen
            usable = not fresh or bool(label == label)
        except (TypeError, ValueError):
            usable = False
        if not usable:
            raise ValueError(f"clusters[{place}] is {label}; a label is text or a number, None for an item of its own")
        codes[place] = seen.setdefault(key, len(seen))
    return codes


def cluster_labels(clusters: Sequence[Hashable] | NDArray[np.generic]) -> list[Hashable]:
    """The labels as a list. Raises ValueError for anything but one dimension of them."""
    if isinstance(clusters, np.ndarray):
        refuse_masks(clusters, "clusters")
        if clusters.ndim != 1:
            raise ValueError(f"clusters must have one dimension, its items, not shape {clusters.shape}")
        labels: list[Hashable] = clusters.tolist()
        return labels
    if isinstance(clusters, str) or not isinstance(clusters, Iterable):
        raise ValueError(f"clusters must be one label per item, not {clusters!r}")
    return list(clusters)


def cluster_sums(values: Floats, codes: Codes) -> tuple[Floats, Codes]:
    """Sum and size of each cluster, (G,) each; a sum does not depend on the order of its items."""
    order = np.lexsort((values, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(values[order], starts) if starts.size else np.empty(0)
    return sums, np.bincount(codes) if codes.size else np.empty(0, dtype=np.int64)


def _array(values: ArrayLike, name: str) -> NDArray[Any]:
    refuse_masks(values, name)
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of the same length: {error}") from None
    return array
