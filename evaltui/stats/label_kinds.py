"""Items counted by which labels they were given: what every coefficient of agreement is a sum over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaltui.stats.sample import Codes

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Kinds:
    """Items with the same labels taken together, in an order of their own.

    ``labels`` (U, m) holds each kind's labels in rising order as places in ``present`` (C,), -1 first where missing;
    ``repeats`` (U,) how many items are of the kind; ``sizes`` (U,) labels of one; ``alike`` (U, m) how many of the
    item's labels are the same as this one, ``below`` (U, m) how many are lower, both 0 where missing; ``totals`` (C,)
    how often each label was given.
    """

    labels: Codes
    repeats: Codes
    present: Codes
    sizes: Codes
    alike: Codes
    below: Codes
    totals: Codes

    @classmethod
    def of(cls, codes: Codes) -> Kinds:
        present = np.unique(codes[codes >= 0])
        places = np.where(codes >= 0, np.searchsorted(present, codes), -1)
        rows = np.sort(places, axis=1)
        if rows.size:
            rows = rows[np.lexsort(rows.T)]
            starts = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))
            return cls._counted(rows[starts], np.diff(np.append(starts, len(rows))), present)
        return cls._counted(rows[:0], np.empty(0, dtype=np.int64), present)

    @classmethod
    def _counted(cls, rows: Codes, repeats: Codes, present: Codes) -> Kinds:
        m = rows.shape[1]
        first, last = np.zeros_like(rows), np.full_like(rows, m - 1)
        for place in range(1, m):
            first[:, place] = np.where(rows[:, place] == rows[:, place - 1], first[:, place - 1], place)
        for place in range(m - 2, -1, -1):
            last[:, place] = np.where(rows[:, place] == rows[:, place + 1], last[:, place + 1], place)
        here, sizes = rows >= 0, (rows >= 0).sum(axis=1)
        alike, below = (last - first + 1) * here, (first - (m - sizes)[:, None]) * here
        given = np.broadcast_to(repeats[:, None], rows.shape)[here]
        totals = np.bincount(rows[here], weights=given, minlength=len(present)).astype(np.int64)
        return cls(rows, repeats, present, sizes, alike, below, totals)

    def at(self, values: NDArray[Number]) -> NDArray[Number]:
        """``values`` (C,) of each label given, (U, m); 0 where missing."""
        return np.asarray(values[self.labels] * (self.labels >= 0), dtype=values.dtype)

    def squares_without(self) -> Codes:
        """Sum of the squared totals without one item of each kind."""
        own = 2 * self.at(self.totals).sum(axis=1) - self.alike.sum(axis=1)
        return np.asarray(int((self.totals**2).sum()) - own, dtype=np.int64)

    def leaves_one_label(self) -> NDArray[np.bool_]:
        """Whether without one item of each kind a single label is left."""
        alone = np.where(self.alike > 0, (self.at(self.totals) == self.alike) / np.maximum(self.alike, 1), 0.0)
        return np.asarray(len(self.totals) - np.rint(alone.sum(axis=1)) < 2, dtype=np.bool_)
