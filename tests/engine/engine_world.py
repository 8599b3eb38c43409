"""A small world for engine tests: a loop whose clock jumps over sleeps, a store in memory, an endpoint that is told."""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from evaltui import config as configs
from evaltui import scorers
from evaltui.config import StudyConfig
from evaltui.core.errors import EvaltuiError
from evaltui.core.order import shuffled
from evaltui.core.protocols import Scorer
from evaltui.core.records import AttemptRecord, CellRecord, Completion, Event, Failure, Item, Request
from evaltui.core.status import Command, Status, StudyState
from evaltui.core.study import ArmDesign, Design, StudyPlan
from evaltui.engine.run import Outcome, run_study
from evaltui.engine.schedule import Terminal

Reply = Callable[[Request], Awaitable[Completion | Failure]]
T = TypeVar("T")


class _Jumping(selectors.DefaultSelector):
    """Where a selector would sleep, the loop's clock moves instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        events = super().select(0)
        if not events:
            self.now += timeout
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a clock of its own: an hour of back-off takes no time, and durations are exact."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)


class Memory:
    """A store in memory: what a Sink was given, in order."""

    def __init__(self) -> None:
        self.failure: EvaltuiError | None = None
        self.attempts: list[AttemptRecord] = []
        self.cells: list[CellRecord] = []
        self.events: list[Event] = []
        self.states: list[tuple[StudyState, str]] = []
        self._sent: list[Command] = []

    @property
    def behind(self) -> bool:
        return False

    def attempt(self, record: AttemptRecord) -> None:
        self.attempts.append(record)

    def cell(self, record: CellRecord) -> None:
        self.cells.append(record)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def state(self, state: StudyState, reason: str = "") -> None:
        self.states.append((state, reason))

    def commands(self) -> list[Command]:
        waiting, self._sent = self._sent, []
        return waiting

    def send(self, command: Command) -> None:
        self._sent.append(command)

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    @property
    def statuses(self) -> Counter[Status]:
        return Counter(record.verdicts[0].status for record in self.cells)

    def terminal(self, n_items: int) -> Terminal:
        """What a writer would find when it opens the study again."""
        done: dict[tuple[str, int], np.ndarray[Any, np.dtype[np.bool_]]] = {}
        for record in self.cells:
            key = (record.cell.arm, record.cell.repeat)
            done.setdefault(key, np.zeros(n_items, dtype=np.bool_))[record.cell.position] = True
        return done


class Told:
    """An endpoint that answers as it is told, and remembers who called when."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.calls: list[tuple[float, Request]] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def complete(self, request: Request) -> Completion | Failure:
        self.calls.append((asyncio.get_running_loop().time(), request))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._reply(request)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        return None

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.calls]

    @property
    def asked(self) -> Counter[tuple[str, int, str]]:
        return Counter((request.cell.arm, request.cell.repeat, request.cell.item_id) for _, request in self.calls)


async def right(request: Request) -> Completion:
    """The gold answer of every item of :func:`study`, after a second."""
    await asyncio.sleep(1.0)
    return Completion("yes")


def always(outcome: Completion | Failure, after_s: float = 1.0) -> Reply:
    async def reply(request: Request) -> Completion | Failure:
        await asyncio.sleep(after_s)
        return outcome

    return reply


def study(
    n_items: int = 4,
    *,
    arms: Sequence[str] = ("baseline", "candidate"),
    repeats: int = 2,
    endpoint: dict[str, object] | None = None,
    arm: dict[str, object] | None = None,
    questions: Sequence[str] = (),
    max_cost: float | None = None,
    **section: object,
) -> tuple[StudyPlan, StudyConfig]:
    """A study of ``n_items`` (or ``questions``) whose gold is always "yes", all arms on the endpoint ``main``."""
    asked = questions or [f"is {n} a number?" for n in range(n_items)]
    given = {"name": "tested", "repeats": repeats, "concurrency": 1, "max_cost": max_cost, **section}
    config = configs.from_mapping(
        {
            "study": {name: value for name, value in given.items() if value is not None},
            "dataset": {"path": "items.jsonl"},
            "endpoints": {"main": {"kind": "openai", "base_url": "http://127.0.0.1:1/v1", **(endpoint or {})}},
            "arms": {
                name: {"endpoint": "main", "model": "m", "prompt_text": "{{question}}", **(arm or {})} for name in arms
            },
            "scorers": {"same": {"kind": "exact"}},
        },
        Path(),
        source="test",
    )
    items = [
        Item(f"q{n}", {"question": question}, "yes", None, None, n.to_bytes(16, "big"))
        for n, question in enumerate(asked)
    ]
    design = Design(
        name="tested",
        arms=tuple(ArmDesign(name, {}, name) for name in arms),
        scorers=(),
        repeats=config.study.repeats,
        n_items=len(items),
        order_seed=config.study.order_seed,
        schedule=config.study.schedule,
        concurrency=config.study.concurrency,
        baseline=config.study.baseline,
        pin_hash="pins",
        max_cost=config.study.max_cost,
        warmup=config.study.warmup,
    )
    return StudyPlan(design, shuffled(items, design.order_seed), configs.dump(config)), config


def exact() -> tuple[Scorer, ...]:
    return (scorers.build("same", "exact", {}),)


def run(
    planned: tuple[StudyPlan, StudyConfig],
    endpoint: Told,
    sink: Memory,
    *,
    terminal: Terminal | None = None,
    scored_by: tuple[Scorer, ...] | None = None,
    **options: Any,
) -> Outcome:
    """Run the study against one endpoint on a virtual clock."""
    plan, config = planned
    return run_virtually(
        run_study(
            plan,
            config,
            sink,
            providers={"main": endpoint},
            scorers=scored_by or exact(),
            terminal=terminal or {},
            **options,
        )
    )
