"""The order of cells: one seeded order of items in every run, arms side by side so that they see the same weather."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evaltui.core.records import Cell, Item
from evaltui.core.study import Design

Terminal = Mapping[tuple[str, int], NDArray[np.bool_]]
"""(arm, repeat) -> mask of shape (n_items,) over positions: which cells have their terminal record already."""


def cells(design: Design, items: Sequence[Item], terminal: Terminal) -> Iterator[Cell]:
    """Cells that have no terminal record yet, lazily, in the order in which they are started.

    ``interleaved``: for each repeat, for each position, every arm in turn. ``sequential``: arm by arm, repeat by
    repeat, position by position. Warm-up runs come before the first repeat.

    Raises:
        ValueError: another schedule; the configuration admits none.
    """
    if design.schedule not in ("interleaved", "sequential"):
        raise ValueError(f"unknown schedule {design.schedule!r}")
    if design.schedule == "sequential":
        for arm, repeat in product(design.arm_names, design.all_repeats):
            yield from _side_by_side((arm,), repeat, items, terminal)
    else:
        for repeat in design.all_repeats:
            yield from _side_by_side(design.arm_names, repeat, items, terminal)


def count(design: Design, terminal: Terminal) -> int:
    """How many cells :func:`cells` will give."""
    planned = len(design.arms) * len(design.all_repeats) * design.n_items
    return planned - sum(int(mask.sum()) for mask in terminal.values())


def _side_by_side(arms: Sequence[str], repeat: int, items: Sequence[Item], terminal: Terminal) -> Iterator[Cell]:
    none: list[bool] = [False] * len(items)
    done = [terminal[arm, repeat].tolist() if (arm, repeat) in terminal else none for arm in arms]
    for item in items:
        for arm, mask in zip(arms, done, strict=True):
            if not mask[item.position]:
                yield Cell(arm, repeat, item.position, item.id)
