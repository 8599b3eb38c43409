"""One cell's calls: a deadline for each whole call, capped retries, and a record of every attempt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from evaltui.core.protocols import Sink
from evaltui.core.records import AttemptRecord, Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.engine.cancellation import was_cancelled
from evaltui.engine.control import Control
from evaltui.engine.endpoint import Endpoint
from evaltui.engine.estimate import call_cost, settled_usage
from evaltui.engine.feed import tell
from evaltui.engine.patience import Patience
from evaltui.engine.requests import Prepared


@dataclass(frozen=True, slots=True)
class Answer:
    """How a cell's last call ended, after ``attempts`` calls. ``latency_s`` is that of the last one."""

    outcome: Completion | Failure
    attempts: int
    latency_s: float


@dataclass(frozen=True, slots=True)
class _Timing:
    """``started`` is seconds since the epoch; ``wait_s`` was slept on purpose, ``queue_wait_s`` beyond that.

    Neither counts the time for which the study was paused. ``in_flight`` counts the calls of its endpoint, this one
    included.
    """

    started: float
    wait_s: float
    queue_wait_s: float
    in_flight: int


Record = Callable[[AttemptRecord], None]


async def ask(prepared: Prepared, endpoint: Endpoint, control: Control, sink: Sink, record: Record) -> Answer | None:
    """Call the endpoint until it answers or the cell has had its turns.

    ``record`` gets one record per call, in order. None: the session ends before the cell is decided, so the cell is
    let go and will be done again. Attempt numbers count from 1 in each session, so that an endpoint whose outcome
    depends on them answers as it would have without the interruption. A call that is cut off because the machine slept
    is made again at once; it uses none of the cell's turns and is not held against the endpoint.

    Raises:
        CancelledError: cut off; the call in flight is recorded as cancelled.
    """
    loop = asyncio.get_running_loop()
    patience = Patience(endpoint.config)
    due, wait, number = loop.time(), 0.0, 0
    backoff = 0.0
    while (paused_s := await _turn(endpoint, control, backoff)) is not None:
        number += 1
        queue_wait = max(0.0, loop.time() - due - paused_s)
        timing = _Timing(time.time(), wait, queue_wait, endpoint.in_flight + 1)
        began, looked = loop.time(), control.naps.look()
        try:
            outcome = await _call(prepared, number, endpoint)
        except asyncio.CancelledError:
            cut = Failure(Status.CANCELLED, "cut off")
            record(_attempt(prepared, number, cut, timing, loop.time() - began, endpoint))
            raise
        latency_s = loop.time() - began
        if slept := _cut_off(outcome) and control.naps.since(looked):
            outcome = Failure(outcome.status, "this machine slept during the call")
        record(_attempt(prepared, number, outcome, timing, latency_s, endpoint))
        if isinstance(outcome, Completion):
            endpoint.count(outcome)
            for kind, text in endpoint.news(outcome):
                tell(sink, kind, text, "warning")
            return Answer(outcome, number, latency_s)
        if slept:
            due, wait, backoff = loop.time(), 0.0, 0.0
            continue
        granted = patience.wait_after(outcome)
        if _fatal(outcome, granted, number, endpoint, control):
            return None
        if granted is None:
            return Answer(outcome, number, latency_s)
        due, wait, backoff = loop.time() + granted, granted, granted
        if outcome.status is Status.RATE_LIMITED:
            backoff = 0.0
            if endpoint.gate.hold(granted, loop.time()):
                tell(sink, "rate_limit", f"waiting for the rate limit of {endpoint.name}, {granted:.3g} s", "warning")
    return None


def _cut_off(outcome: Completion | Failure) -> bool:
    """Whether a call ended as it does when its deadline passes, or its connection breaks, while this machine sleeps."""
    return isinstance(outcome, Failure) and outcome.retry and outcome.status in (Status.TIMEOUT, Status.NETWORK_ERROR)


async def _turn(endpoint: Endpoint, control: Control, backoff: float) -> float | None:
    """Sleep the cell's own back-off, then wait until the endpoint's gate is open and the study is not paused.

    Returns for how many seconds it was paused then; None when the session ends.
    """
    if backoff and not await control.rest(backoff):
        return None
    loop = asyncio.get_running_loop()
    while (delay := endpoint.gate.delay(loop.time())) > 0:
        if not await control.rest(delay):
            return None
    ready = loop.time()
    return loop.time() - ready if await control.admits() else None


async def _call(prepared: Prepared, number: int, endpoint: Endpoint) -> Completion | Failure:
    """One call under a deadline that covers all of it, connecting and every byte of the answer included."""
    request = Request(prepared.cell, number, prepared.messages, prepared.decoding)
    limit = endpoint.config.timeout_s
    endpoint.in_flight += 1
    try:
        async with asyncio.timeout(limit):
            return await endpoint.provider.complete(request)
    except TimeoutError:
        return Failure(Status.TIMEOUT, f"no complete answer within {limit:g} s", retry=True)
    except asyncio.CancelledError:
        # A library may cancel itself; taken for ours, that would end the worker and leave its cells undone.
        if was_cancelled():
            raise
        return Failure(Status.SERVER_ERROR, "the call was cancelled by its own code", retry=True)
    finally:
        endpoint.in_flight -= 1


def _fatal(failure: Failure, wait: float | None, number: int, endpoint: Endpoint, control: Control) -> bool:
    """Whether this failure pauses the study. A 429 that is waited for is neither good nor bad.

    Neither are further time-outs of a cell whose endpoint answers others: a few items that always hang are retried
    together at the end of a study, and would look like an endpoint that is down.
    """
    if failure.pause:
        control.give_up(f"endpoint {endpoint.name}: {failure.status}: {failure.message}")
        return True
    if failure.status is Status.RATE_LIMITED and wait is not None:
        return False
    if failure.status is Status.TIMEOUT and number > 1 and endpoint.answered:
        return False
    if not endpoint.count(failure):
        return False
    control.give_up(
        f"endpoint {endpoint.name}: {endpoint.breaker.errors} of its last {endpoint.breaker.calls} calls failed, "
        f"the last with {failure.status}: {failure.message}"
    )
    return True


def _attempt(
    prepared: Prepared,
    number: int,
    outcome: Completion | Failure,
    timing: _Timing,
    latency_s: float,
    endpoint: Endpoint,
) -> AttemptRecord:
    answered = outcome if isinstance(outcome, Completion) else Completion("")
    failed = outcome if isinstance(outcome, Failure) else None
    used = answered.usage if failed else settled_usage(answered.usage, prepared.expected)
    return AttemptRecord(
        cell=prepared.cell,
        number=number,
        status=outcome.status,
        started=timing.started,
        latency_s=latency_s,
        wait_s=timing.wait_s,
        queue_wait_s=timing.queue_wait_s,
        http_status=failed.http_status if failed else None,
        message=failed.message if failed else "",
        usage=answered.usage,
        cost=call_cost(endpoint.config.price, used),
        model=answered.model,
        fingerprint=answered.fingerprint,
        seed=prepared.decoding.seed,
        request_hash=prepared.hash,
        in_flight=timing.in_flight,
    )
