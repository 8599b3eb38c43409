"""The simulator as an endpoint inside the process: no port, no HTTP, the same outcomes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from evaltui.core.records import Completion, Failure, Item, Message, Request
from evaltui.core.simulation import SimulatorSettings
from evaltui.core.status import Status
from evaltui.providers.cell_header import CellName, name_of
from evaltui.providers.classify import of_reply
from evaltui.providers.simulator.outcome import Outcome, Responder
from evaltui.providers.simulator.truth import Truth


class Simulator:
    """A model whose noise is known because the settings state it (satisfies ``core.protocols.Provider``).

    The outcome of a call depends on the settings and on (arm, item id, repeat, attempt) alone, never on what was asked
    before or beside it. ``items`` are in their planned order; ``timeout_s`` is the study's deadline of a call.
    """

    def __init__(
        self, settings: SimulatorSettings, items: Sequence[Item], arms: Sequence[str], repeats: int, timeout_s: float
    ) -> None:
        self.settings = settings
        self.arms = tuple(arms)
        self.timeout_s = timeout_s
        self._truth = Truth(settings, items, repeats)
        self._responder = Responder(settings, items, self._truth, timeout_s, arms)

    def truth(self, arm: str, repeat: int, item_id: str) -> float:
        """The probability that this cell passes, given that it answers. Raises KeyError for an unknown item."""
        return self._truth.probability(arm, repeat, item_id)

    def true_mean(self, arm: str) -> float:
        """What the arm's score estimates: the mean of :meth:`truth` over items and planned repeats."""
        return self._truth.arm_mean(arm)

    def outcome(self, name: CellName, model: str, messages: Sequence[Message]) -> Outcome:
        """What a server does with this call, and when; asks nothing of the clock."""
        return self._responder.outcome(name, model, messages)

    async def complete(self, request: Request) -> Completion | Failure:
        outcome = self.outcome(name_of(request), request.decoding.model, request.messages)
        await asyncio.sleep(outcome.delay_s)
        if outcome.reply is None:
            return Failure(Status.TIMEOUT, f"no answer within {self.timeout_s:g} s (simulated)", retry=True)
        return of_reply(outcome.reply, time.time())

    async def close(self) -> None:
        """Nothing to let go of."""
