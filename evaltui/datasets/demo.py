"""Generated word problems, so that the demo needs no file."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from evaltui.core.records import Item
from evaltui.datasets.dataset import make_item

NAMES: Final = ("Ada", "Ben", "Chidi", "Dana", "Emil", "Fatou", "Grace", "Hiro", "Ines", "Jonas")
THINGS: Final = ("apples", "stamps", "marbles", "tickets", "pencils", "shells", "cards", "coins")

Problem = tuple[str, int]


def arithmetic_items(n: int, seed: int) -> tuple[Item, ...]:
    """``n`` short word problems over six topics, the topics in turn; the same for the same ``n`` and ``seed``.

    Fields: ``id``, ``question``, ``answer`` (a whole number as text), ``topic``.
    Gold is ``answer``, category ``topic``.
    """
    rng = random.Random(seed)
    topics = list(TOPICS.items())
    items = []
    for place in range(n):
        topic, problem = topics[place % len(topics)]
        question, answer = problem(rng)
        fields = {
            "id": f"{topic}-{place // len(topics) + 1:03d}",
            "question": question,
            "answer": str(answer),
            "topic": topic,
        }
        items.append(make_item(fields["id"], fields, gold=fields["answer"], category=topic))
    return tuple(items)


def _sharing(rng: random.Random) -> Problem:
    people, each, left = rng.randint(2, 9), rng.randint(3, 12), rng.randint(0, 1)
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    total = people * each + left
    kept = f" and keeps {left} back" if left else ""
    return f"{name} shares {total} {thing} equally among {people} friends{kept}. How many does each friend get?", each


def _shopping(rng: random.Random) -> Problem:
    count, price = rng.randint(2, 9), rng.randint(2, 15)
    paid = -(-count * price // 50) * 50 + 50 * rng.randint(0, 1)
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    return (
        f"{name} buys {count} {thing} at {price} dollars each and pays with {paid} dollars. How much comes back?",
        paid - count * price,
    )


def _distance(rng: random.Random) -> Problem:
    speed, hours, more = rng.randint(4, 60), rng.randint(2, 6), rng.randint(1, 20)
    return (
        f"{rng.choice(NAMES)} travels {hours} hours at {speed} km an hour, then another {more} km. How many km in all?",
        speed * hours + more,
    )


def _ages(rng: random.Random) -> Problem:
    younger, gap, years = rng.randint(3, 30), rng.randint(2, 15), rng.randint(2, 12)
    first, second = rng.sample(NAMES, 2)
    return (
        f"{first} is {younger}. {second} is {gap} years older. How old will {second} be in {years} years?",
        younger + gap + years,
    )


def _percent(rng: random.Random) -> Problem:
    percent, price = 5 * rng.randint(1, 12), 20 * rng.randint(2, 30)
    return (
        f"A coat costs {price} dollars and is {percent} % off. What does it cost now?",
        price - price * percent // 100,
    )


def _rectangle(rng: random.Random) -> Problem:
    width, length = rng.randint(2, 25), rng.randint(3, 40)
    return f"A garden is {width} m wide and {length} m long. How many metres of fence go round it?", 2 * (
        width + length
    )


TOPICS: Final[dict[str, Callable[[random.Random], Problem]]] = {
    "sharing": _sharing,
    "shopping": _shopping,
    "distance": _distance,
    "ages": _ages,
    "percent": _percent,
    "rectangle": _rectangle,
}
