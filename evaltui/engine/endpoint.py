"""One endpoint while a study runs: who is called, how patiently, and how it has been doing."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaltui.config import EndpointConfig
from evaltui.core.protocols import Provider
from evaltui.core.records import Completion, Failure
from evaltui.engine.breaker import ENDPOINT_ERRORS, Breaker
from evaltui.engine.gate import Gate


@dataclass(slots=True)
class Endpoint:
    """``answered``: whether it has answered at all in this session, be it with a refusal.

    ``unmetered``: whether it was found to leave token counts out of its answers.
    """

    name: str
    config: EndpointConfig
    provider: Provider
    breaker: Breaker
    gate: Gate = field(default_factory=Gate)
    answered: bool = False
    unmetered: bool = False

    def count(self, outcome: Completion | Failure) -> bool:
        """Count one call; True when the endpoint fails too often and the study should pause."""
        failed = outcome.status in ENDPOINT_ERRORS
        self.answered |= not failed
        return self.breaker.record(failed)
