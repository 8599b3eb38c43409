"""The generated items of the demo."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from evaltui.datasets.demo import arithmetic_items


def test_the_same_seed_gives_the_same_items() -> None:
    assert arithmetic_items(30, seed=4) == arithmetic_items(30, seed=4)
    assert arithmetic_items(30, seed=4) != arithmetic_items(30, seed=5)


def test_ids_are_unique_and_topics_balanced() -> None:
    items = arithmetic_items(200, seed=1)
    assert len({item.id for item in items}) == 200
    counts = Counter(item.category for item in items)
    assert len(counts) == 6
    assert max(counts.values()) - min(counts.values()) <= 1


def numbers(question: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", question)]


@pytest.mark.parametrize("seed", range(5))
def test_the_gold_answers_are_right(seed: int) -> None:
    worked = {
        "sharing": lambda total, people, left=0: (total - left) // people,
        "shopping": lambda count, price, paid: paid - count * price,
        "distance": lambda hours, speed, more: speed * hours + more,
        "ages": lambda younger, gap, years: younger + gap + years,
        "percent": lambda price, percent: round(price * (100 - percent) / 100),
        "rectangle": lambda width, length: 2 * (width + length),
    }
    for item in arithmetic_items(120, seed):
        assert item.category is not None
        assert item.gold == str(worked[item.category](*numbers(str(item.fields["question"]))))
        assert item.gold is not None
        assert int(item.gold) >= 0
