"""Data sets: JSONL, JSON and CSV into items, with hashes that depend on the content alone."""

from __future__ import annotations

from evaltui.datasets.dataset import Dataset, from_items, make_item
from evaltui.datasets.reading import read

__all__ = ["Dataset", "from_items", "make_item", "read"]
