"""How a test says what was asked and what was answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from evaltui.core.records import Completion, Item, Verdict
from evaltui.scorers import build

Score = Callable[..., Verdict]


@pytest.fixture
def score() -> Score:
    """``score("numeric", gold, text, **options)``: the verdict on one answer."""

    def verdict(kind: str, gold: str | None, text: str, /, **options: object) -> Verdict:
        item = Item("q1", {}, gold, None, None, b"\0" * 16)
        return asyncio.run(build("s", kind, options).score(item, Completion(text)))

    return verdict
