"""One endpoint while a study runs: who is called, how patiently, and how it has been doing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from evaltui.config import EndpointConfig
from evaltui.core.protocols import Provider
from evaltui.core.records import Completion, Failure
from evaltui.engine.breaker import ENDPOINT_ERRORS, Breaker
from evaltui.engine.gate import Gate

TOLD_AT_MOST: Final = 20
UNMETERED: Final = (
    "reports no token usage: its calls are reckoned at four characters a token and the longest answer asked for"
)


@dataclass(slots=True)
class Endpoint:
    """``answered``: whether it has answered at all in this session, be it with a refusal.

    ``in_flight``: how many calls it is answering now, over all arms.
    ``told``: what has been said about it once and is not said again.
    """

    name: str
    config: EndpointConfig
    provider: Provider
    breaker: Breaker
    gate: Gate = field(default_factory=Gate)
    answered: bool = False
    in_flight: int = 0
    told: set[str] = field(default_factory=set)

    def news(self, completion: Completion) -> Iterator[tuple[str, str]]:
        """What a completion says about its endpoint that was not told yet, as (event kind, sentence)."""
        usage = completion.usage
        unmetered = self.config.price is not None and None in (usage.prompt_tokens, usage.completion_tokens)
        found = [("answers", f"endpoint {self.name} {oddity}") for oddity in completion.oddities]
        if unmetered:
            found.append(("no_usage", f"endpoint {self.name} {UNMETERED}"))
        for kind, text in found:
            if text not in self.told and len(self.told) < TOLD_AT_MOST:
                self.told.add(text)
                yield kind, text

    def count(self, outcome: Completion | Failure) -> bool:
        """Count one call; True when the endpoint fails too often and the study should pause."""
        failed = outcome.status in ENDPOINT_ERRORS
        self.answered |= not failed
        return self.breaker.record(failed)
