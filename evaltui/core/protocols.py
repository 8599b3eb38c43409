"""The seams between rooms: what an endpoint, a scorer and a store look like from the engine."""

from __future__ import annotations

from typing import Protocol

from evaltui.core.errors import EvaltuiError
from evaltui.core.records import AttemptRecord, CellRecord, Completion, Event, Failure, Item, Request, Verdict
from evaltui.core.status import Command, StudyState


class Provider(Protocol):
    """One kind of endpoint. ``complete`` raises nothing but CancelledError; the deadline is the caller's."""

    async def complete(self, request: Request) -> Completion | Failure: ...

    async def close(self) -> None: ...


class Scorer(Protocol):
    """Turns a completion into a verdict. Deterministic scorers never await; a judge calls its provider.

    ``version`` changes whenever the same answer could be scored differently.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def score_range(self) -> tuple[float, float] | None: ...

    async def score(self, item: Item, completion: Completion) -> Verdict: ...


class Sink(Protocol):
    """Where the engine puts what happened. Calls return at once; what is written is durable at the next commit.

    ``failure`` says why what was put in lately is not saved yet; None while all is well. It is tried again.
    ``behind``: so much waits to be saved that whoever puts in more should let it catch up first.
    """

    @property
    def failure(self) -> EvaltuiError | None: ...

    @property
    def behind(self) -> bool: ...

    def attempt(self, record: AttemptRecord) -> None: ...

    def cell(self, record: CellRecord) -> None: ...

    def event(self, event: Event) -> None: ...

    def state(self, state: StudyState, reason: str = "") -> None: ...

    def commands(self) -> list[Command]:
        """Commands sent since the last call, oldest first. Raises EvaltuiError when the sink has ended."""
        ...
