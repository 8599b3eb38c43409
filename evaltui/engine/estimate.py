"""What a call may use and cost before its endpoint has said what it did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaltui.config import Price
from evaltui.core.records import Message, Usage

CHARACTERS_A_TOKEN: Final = 4
ASSUMED_ANSWER_TOKENS: Final = 256
"""Counted for the answer of an arm that sets no ``max_tokens``."""


def expected_usage(messages: Sequence[Message], max_tokens: int | None) -> Usage:
    """The tokens of one call: four characters a token in, ``max_tokens`` out."""
    characters = sum(len(message.content) for message in messages)
    return Usage(-(-characters // CHARACTERS_A_TOKEN), max_tokens or ASSUMED_ANSWER_TOKENS)


def settled_usage(reported: Usage, expected: Usage) -> Usage:
    """What an answered call is reckoned at: what the server reported, and what was expected where it reported nothing.

    A server that names no tokens would otherwise be called for nothing, and no budget would ever bind.
    """
    prompt, completion = reported.prompt_tokens, reported.completion_tokens
    return Usage(
        expected.prompt_tokens if prompt is None else prompt,
        expected.completion_tokens if completion is None else completion,
    )


def call_cost(price: Price | None, usage: Usage) -> float:
    """What ``usage`` costs at prices per million tokens; without a price, and for tokens not named, nothing."""
    if price is None:
        return 0.0
    tokens_in, tokens_out = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return (tokens_in * price.input + tokens_out * price.output) / 1e6
