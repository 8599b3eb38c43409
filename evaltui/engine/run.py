"""A session of a study: a fixed number of workers take cells in order until none is left or the session ends.

What is finished is handed to the sink at once and never done again. What is not finished when a session ends, however
it ends, leaves no terminal record and is done in the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from evaltui.config import StudyConfig
from evaltui.core.errors import EvaltuiError
from evaltui.core.format import count
from evaltui.core.protocols import Provider, Scorer, Sink
from evaltui.core.records import AttemptRecord, Cell, CellRecord, Completion, Item, Verdict
from evaltui.core.status import Status, StudyState
from evaltui.core.study import EarlierSessions, StudyPlan
from evaltui.engine import schedule
from evaltui.engine.arm import Arm
from evaltui.engine.attempts import Answer, ask
from evaltui.engine.breaker import Breaker
from evaltui.engine.budget import Budget
from evaltui.engine.control import Control, Outcome
from evaltui.engine.endpoint import Endpoint
from evaltui.engine.estimate import call_cost
from evaltui.engine.feed import tell
from evaltui.engine.identity import Identity
from evaltui.engine.progress import Progress, time_left
from evaltui.engine.requests import Prepared, prepare
from evaltui.engine.stopper import Stopper
from evaltui.engine.verdicts import score_all

__all__ = ["Outcome", "run_study"]

TICK_S: Final = 0.25
CATCH_UP_S: Final = 0.002


async def run_study(
    plan: StudyPlan,
    config: StudyConfig,
    sink: Sink,
    *,
    providers: Mapping[str, Provider],
    scorers: Sequence[Scorer],
    terminal: schedule.Terminal,
    earlier: EarlierSessions | None = None,
    progress: Callable[[Progress], None] | None = None,
    stopper: Stopper | None = None,
) -> Outcome:
    """Run every cell that has no terminal record yet, and say how it ended.

    ``providers`` maps endpoint names; ``scorers`` has the primary one first; ``earlier`` is what earlier
    sessions spent and saw. ``progress`` is called four times a second and once at the end. The loop's clock measures
    durations and deadlines, the wall clock only stamps.

    FINISHED: every cell is terminal. PAUSED: an endpoint fails every call or too many of them; the reason names it,
    and the next session goes on where this one ended. STOPPED: on request, or because the budget allows no more.

    Raises:
        EvaltuiError: the sink cannot store results.
    """
    session = _Session(plan, config, sink, providers, scorers, terminal, earlier or EarlierSessions(), progress)
    try:
        return await session.run(stopper or Stopper())
    except asyncio.CancelledError:
        sink.state(StudyState.STOPPED, "cut off")
        raise
    except BaseExceptionGroup as group:
        raise _sentence_in(group) or group from None


def _sentence_in(group: BaseExceptionGroup[BaseException]) -> EvaltuiError | None:
    for error in group.exceptions:
        found = _sentence_in(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(found, EvaltuiError):
            return found
    return None


class _Session:
    def __init__(
        self,
        plan: StudyPlan,
        config: StudyConfig,
        sink: Sink,
        providers: Mapping[str, Provider],
        scorers: Sequence[Scorer],
        terminal: schedule.Terminal,
        earlier: EarlierSessions,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._plan, self._sink, self._scorers = plan, sink, scorers
        self._terminal, self._progress = terminal, progress
        self._arms = _arms(plan, config, providers, terminal, earlier)
        self._budget = Budget(plan.design.max_cost, earlier.cost, earlier.calls)
        self._control = Control(sink, self._cut)
        self._workers: list[asyncio.Task[None]] = []
        self._left = schedule.count(plan.design, terminal)
        self._todo = self._left
        self._warmup_total = len(plan.design.arms) * len(plan.design.warmups) * plan.design.n_items
        warmed = sum(int(mask.sum()) for (_, repeat), mask in terminal.items() if repeat < 1)
        self._warmup_left = self._warmup_total - warmed
        self._settled = asyncio.Event()
        self._catching_up = asyncio.Lock()
        self._failures: Counter[str] = Counter()
        self._active_s = 0.0

    async def run(self, stopper: Stopper) -> Outcome:
        self._begin()
        stopper.attach(lambda: self._control.stop("interrupted"))
        cells = schedule.cells(self._plan.design, self._plan.items, self._terminal)
        async with asyncio.TaskGroup() as group:
            clerk = group.create_task(self._attend())
            workers = min(self._plan.design.concurrency, self._todo)
            self._workers = [group.create_task(self._work(cells)) for _ in range(workers)]
            if self._workers:
                await asyncio.wait(self._workers)
            clerk.cancel()
        return self._conclude()

    def _begin(self) -> None:
        design = self._plan.design
        self._sink.state(StudyState.RUNNING)
        if self._left < schedule.count(design, {}):
            return
        first = f", {count(design.warmup, 'warm-up run')} of each arm first" if design.warmup else ""
        text = (
            f"{len(design.arms)} arms x {design.repeats} repeats x {design.n_items} items{first}, "
            f"{design.schedule}, {design.concurrency} calls in flight"
        )
        tell(self._sink, "started", text)

    async def _work(self, cells: Iterator[Cell]) -> None:
        """One of the fixed number of workers; all take from the same iterator, so cells start in order."""
        for cell in cells:
            arm, item = self._arms[cell.arm], self._plan.items[cell.position]
            prepared = prepare(arm.config, item, cell, self._plan.design.order_seed)
            reserved = await self._reserve(call_cost(arm.endpoint.config.price, prepared.expected))
            if reserved is None:
                return
            await self._finish(prepared, arm, item, reserved)
            # An endpoint that answers without ever waiting must not keep commands and signals from being heard,
            await asyncio.sleep(0)
            # nor what it answered from being saved.
            await self._let_sink_catch_up()

    async def _let_sink_catch_up(self) -> None:
        """Wait for a sink that is behind; one worker looks, the others wait for that one."""
        if not self._sink.behind:
            return
        async with self._catching_up:
            while self._sink.behind:  # noqa: ASYNC110 - a sink is no part of the loop and tells it nothing
                await asyncio.sleep(CATCH_UP_S)

    async def _reserve(self, bound: float) -> float | None:
        """Wait until a call may start and its cost fits the budget; what was set aside, or None when the session ends.

        What does not fit beside the calls in flight may fit once they have ended, for less than their bounds.
        """
        while await self._control.admits():
            reserved = self._budget.reserve(bound)
            if reserved is not None:
                return reserved
            if not self._budget.in_flight:
                self._control.out_of_money(self._budget.refusal(bound))
                return None
            await self._settled.wait()
        return None

    async def _finish(self, prepared: Prepared, arm: Arm, item: Item, reserved: float) -> None:
        """Take one cell to its terminal record, or let it go when the session ends first."""
        cell = prepared.cell
        try:
            answer = await ask(prepared, arm.endpoint, self._control, self._sink, self._record)
        finally:
            self._budget.release(reserved)
            self._settled.set()
            self._settled.clear()
        if answer is None:
            return
        outcome = answer.outcome
        if isinstance(outcome, Completion):
            for kind, text in arm.identity.changes(outcome):
                tell(self._sink, kind, text, "warning", arm=cell.arm, repeat=cell.repeat)
        verdicts = await score_all(self._scorers, item, outcome)
        arm.finish(_record_of(cell, answer, verdicts), self._write)

    def _write(self, record: CellRecord) -> None:
        self._sink.cell(record)
        self._left -= 1
        if record.cell.repeat < 1:
            self._warmup_left -= 1
        elif record.verdicts[0].status is not Status.OK:
            self._failures[record.verdicts[0].status] += 1

    def _record(self, record: AttemptRecord) -> None:
        self._sink.attempt(record)
        self._budget.add(record.cost)

    async def _attend(self) -> None:
        """Heed commands and tell progress, whatever the workers wait for."""
        loop = asyncio.get_running_loop()
        before = loop.time()
        while True:
            for command in self._sink.commands():
                self._control.obey(command)
            self._control.hold(self._sink.failure is not None)
            self._tell_progress()
            looked = self._control.naps.look()
            await asyncio.sleep(TICK_S)
            now = loop.time()
            if not self._control.waiting and not self._control.naps.since(looked):
                self._active_s += now - before
            before = now

    def _tell_progress(self) -> None:
        if self._progress is None:
            return
        total = self._plan.design.n_cells
        failure = self._sink.failure
        self._progress(
            Progress(
                done=total - (self._left - self._warmup_left),
                total=total,
                cost=self._budget.spent,
                failures=dict(self._failures),
                eta_s=time_left(self._todo - self._left, self._left, self._active_s),
                trouble="" if failure is None else str(failure),
                warmup_done=self._warmup_total - self._warmup_left,
                warmup_total=self._warmup_total,
            )
        )

    def _cut(self) -> None:
        for worker in self._workers:
            worker.cancel()

    def _conclude(self) -> Outcome:
        """Decide what is held back, then write how the session ended."""
        if self._control.outcome is None:
            for arm in self._arms.values():
                if arm.down:
                    self._control.give_up(arm.complaint)
                else:
                    arm.release(self._write)
        self._tell_progress()
        outcome = self._control.outcome
        if outcome is None and self._left:
            outcome = Outcome(StudyState.STOPPED, "a worker ended before its cells, which is a defect in evaltui")
        if self._left == 0 or outcome is None:
            outcome = Outcome(StudyState.FINISHED)
            tell(self._sink, "finished", "finished: every cell has its verdict")
        elif outcome.state is StudyState.STOPPED:
            tell(self._sink, "stopped", f"{outcome.reason}: {self._left} cells are left")
        self._sink.state(outcome.state, outcome.reason)
        return outcome


def _arms(
    plan: StudyPlan,
    config: StudyConfig,
    providers: Mapping[str, Provider],
    terminal: schedule.Terminal,
    earlier: EarlierSessions,
) -> dict[str, Arm]:
    used = {config.arms[name].endpoint for name in plan.design.arm_names}
    endpoints = {
        name: Endpoint(name, config.endpoints[name], providers[name], Breaker(config.study.max_errors)) for name in used
    }
    begun = {arm for (arm, _), mask in terminal.items() if mask.any()}
    return {
        name: Arm(
            config=config.arms[name],
            endpoint=endpoints[config.arms[name].endpoint],
            identity=Identity(earlier.models.get(name, ()), earlier.fingerprints.get(name, ())),
            fresh=name not in begun,
        )
        for name in plan.design.arm_names
    }


def _record_of(cell: Cell, answer: Answer, verdicts: tuple[Verdict, ...]) -> CellRecord:
    completion = answer.outcome if isinstance(answer.outcome, Completion) else None
    return CellRecord(
        cell=cell,
        verdicts=verdicts,
        text=completion.text if completion else None,
        reasoning=completion.reasoning if completion else "",
        attempts=answer.attempts,
        latency_s=answer.latency_s,
        finished=time.time(),
    )
