"""From an arm and an item to what is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaltui.config import ArmConfig, render
from evaltui.core.pins import canonical, short_hash
from evaltui.core.records import Cell, Decoding, Item, Message, Usage
from evaltui.engine.estimate import expected_usage

SEED_BITS: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Prepared:
    """One cell's request before its first attempt. ``hash`` is 16 bytes over all that is sent except the seed.

    Without the seed, equal hashes over repeats say that nothing but chance can differ (P8). ``expected`` is what the
    call uses at most, as far as that is known before.
    """

    cell: Cell
    messages: tuple[Message, ...]
    decoding: Decoding
    hash: bytes
    expected: Usage


def prepare(arm: ArmConfig, item: Item, cell: Cell, order_seed: int) -> Prepared:
    """Render the arm's prompts for the item and settle the seed of this repeat.

    Raises:
        KeyError: a template names a field that the item lacks; a plan's items were checked for that.
    """
    messages = render(arm, item)
    sent = {
        "messages": [[message.role, message.content] for message in messages],
        "model": arm.model,
        "temperature": arm.temperature,
        "top_p": arm.top_p,
        "max_tokens": arm.max_tokens,
        "extra_body": arm.extra_body,
    }
    decoding = Decoding(
        model=arm.model,
        temperature=arm.temperature,
        top_p=arm.top_p,
        max_tokens=arm.max_tokens,
        seed=seed_for(arm.seed, cell, order_seed),
        extra_body=arm.extra_body,
    )
    return Prepared(cell, messages, decoding, short_hash(canonical(sent)), expected_usage(messages, arm.max_tokens))


def seed_for(policy: str | int, cell: Cell, order_seed: int) -> int | None:
    """The seed sent with a cell's calls.

    "none": none. A number: that one, always. "per-repeat": the order seed plus the repeat. "per-item": one for each
    item and repeat, the same in every arm, from a hash; it fits 31 bits, which every server takes. No warm-up run's is
    negative, which not every server takes.
    """
    if isinstance(policy, int):
        return policy
    if policy == "per-item":
        digest = short_hash(canonical([order_seed, cell.repeat, cell.item_id]))
        return int.from_bytes(digest[:4], "big") & SEED_BITS
    if policy != "per-repeat":
        return None
    seed = order_seed + cell.repeat
    return seed & SEED_BITS if cell.repeat < 1 else seed
