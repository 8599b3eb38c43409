"""Pausing, resuming and stopping: from another terminal, by a signal, or because an endpoint is down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from engine_world import Memory, Told, always, right, run, run_virtually, study

from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Command, Status, StudyState
from evaltui.engine.stopper import Stopper

REFUSED = Failure(Status.NETWORK_ERROR, "connection refused", retry=True)
LOADING = Failure(Status.SERVER_ERROR, "503: loading model", retry=True)
NO_KEY = Failure(Status.REQUEST_ERROR, "401: invalid key", http_status=401, pause=True)
ONE_ARM: dict[str, object] = {"arms": ["baseline"], "repeats": 1}


def at_call(number: int, do: Callable[[], None], takes_s: float = 1.0) -> Told:
    """An endpoint that is right, and does something when it is called for the ``number``-th time."""

    async def reply(request: Request) -> Completion:
        if len(endpoint.calls) == number:
            do()
        await asyncio.sleep(takes_s)
        return Completion("yes")

    endpoint = Told(reply)
    return endpoint


def twice(do: Callable[[], None]) -> Callable[[], None]:
    def both() -> None:
        do()
        do()

    return both


def test_a_pause_lets_calls_in_flight_finish_and_resume_goes_on() -> None:
    sink = Memory()

    async def reply(request: Request) -> Completion:
        if len(endpoint.calls) == 4:
            sink.send(Command.PAUSE)
            asyncio.get_running_loop().call_later(600.0, sink.send, Command.RESUME)
        return await right(request)

    endpoint = Told(reply)
    outcome = run(study(10, **ONE_ARM, concurrency=2), endpoint, sink)
    assert outcome.state is StudyState.FINISHED
    assert [time for time in endpoint.times if 2.0 < time < 601.0] == []
    assert len(sink.cells) == 10
    assert sink.kinds == ["started", "paused", "resumed", "finished"]
    assert [state for state, _ in sink.states] == [
        StudyState.RUNNING,
        StudyState.PAUSED,
        StudyState.RUNNING,
        StudyState.FINISHED,
    ]


def test_a_pause_holds_back_retries_too_and_is_no_waiting_for_a_place() -> None:
    sink = Memory()

    async def failing_until_resumed(request: Request) -> Completion | Failure:
        if len(endpoint.calls) == 1:
            sink.send(Command.PAUSE)
            asyncio.get_running_loop().call_later(600.0, sink.send, Command.RESUME)
            return LOADING
        return await right(request)

    endpoint = Told(failing_until_resumed)
    assert run(study(1, **ONE_ARM), endpoint, sink).state is StudyState.FINISHED
    first, second = endpoint.times
    assert (first, second >= 600.0) == (0.0, True)
    assert sink.attempts[1].queue_wait_s == pytest.approx(0.0, abs=0.01)


def test_time_spent_paused_is_not_counted_in_the_time_left() -> None:
    sink = Memory()
    heard = []

    async def reply(request: Request) -> Completion:
        if len(endpoint.calls) == 10:
            sink.send(Command.PAUSE)
            asyncio.get_running_loop().call_later(3600.0, sink.send, Command.RESUME)
        return await right(request)

    endpoint = Told(reply)
    run(study(20, **ONE_ARM), endpoint, sink, progress=heard.append)
    late = [progress for progress in heard if progress.done == 15]
    assert late[0].eta_s == pytest.approx(5.0, rel=0.1)


def test_stop_ends_the_session_after_the_calls_in_flight() -> None:
    sink = Memory()
    endpoint = at_call(6, lambda: sink.send(Command.STOP))
    outcome = run(study(20, **ONE_ARM, concurrency=3), endpoint, sink)
    assert (outcome.state, outcome.reason) == (StudyState.STOPPED, "stopped on request")
    assert len(sink.cells) == len(endpoint.calls) < 20
    assert sink.states[-1] == (StudyState.STOPPED, outcome.reason)
    assert sink.kinds == ["started", "stopping", "stopped"]


def test_a_paused_study_can_be_stopped() -> None:
    sink = Memory()

    def pause_and_stop() -> None:
        sink.send(Command.PAUSE)
        sink.send(Command.STOP)

    endpoint = at_call(2, pause_and_stop)
    assert run(study(20, **ONE_ARM), endpoint, sink).state is StudyState.STOPPED


def test_a_stop_that_comes_with_the_last_calls_is_a_finished_study() -> None:
    sink = Memory()
    endpoint = at_call(4, lambda: sink.send(Command.STOP), takes_s=3.0)
    assert run(study(4, **ONE_ARM, concurrency=2), endpoint, sink).state is StudyState.FINISHED


def test_a_stop_does_not_wait_for_a_back_off() -> None:
    sink = Memory()

    async def reply(request: Request) -> Completion | Failure:
        sink.send(Command.STOP)
        return Failure(Status.SERVER_ERROR, "503", retry=True, wait_s=500.0)

    async def elapsed() -> float:
        from engine_world import exact

        from evaltui.engine.run import run_study

        plan, config = study(5, **ONE_ARM)  # type: ignore[arg-type]
        await run_study(plan, config, sink, providers={"main": Told(reply)}, scorers=exact(), terminal={})
        return asyncio.get_running_loop().time()

    assert run_virtually(elapsed()) < 1.0
    assert sink.cells == []


def test_a_signal_stops_cleanly_and_says_so() -> None:
    sink, stopper = Memory(), Stopper()
    endpoint = at_call(6, stopper.request)
    outcome = run(study(20, **ONE_ARM, concurrency=2), endpoint, sink, stopper=stopper)
    assert (outcome.state, outcome.reason) == (StudyState.STOPPED, "interrupted")
    assert stopper.requested
    assert len(sink.cells) == len(endpoint.calls) == 6


def test_a_second_signal_cuts_off_the_calls_in_flight() -> None:
    sink, stopper = Memory(), Stopper()
    endpoint = at_call(6, twice(stopper.request), takes_s=10.0)
    outcome = run(study(20, **ONE_ARM, concurrency=2), endpoint, sink, stopper=stopper)
    assert outcome.state is StudyState.STOPPED
    assert endpoint.in_flight == 0
    cut = {attempt.cell for attempt in sink.attempts if attempt.status is Status.CANCELLED}
    assert len(cut) == 2
    assert not cut & {record.cell for record in sink.cells}
    assert sink.statuses == {Status.OK: 4}


def test_cells_that_were_cut_off_are_done_in_the_next_session() -> None:
    first, stopper = Memory(), Stopper()
    endpoint = at_call(6, twice(stopper.request), takes_s=10.0)
    planned = study(20, **ONE_ARM, concurrency=2)  # type: ignore[arg-type]
    run(planned, endpoint, first, stopper=stopper)
    second = Memory()
    run(planned, Told(right), second, terminal=first.terminal(20))
    assert len(first.cells) + len(second.cells) == 20
    assert not {record.cell for record in first.cells} & {record.cell for record in second.cells}


def test_a_signal_before_the_first_call_is_not_lost() -> None:
    stopper, endpoint = Stopper(), Told(right)
    stopper.request()
    assert run(study(5), endpoint, Memory(), stopper=stopper).state is StudyState.STOPPED
    assert endpoint.calls == []


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("failure", [REFUSED, LOADING], ids=["refused", "loading"])
def test_an_endpoint_that_is_down_from_the_start_pauses_the_study_and_burns_no_item(
    failure: Failure, concurrency: int
) -> None:
    sink, endpoint = Memory(), Told(always(failure, after_s=0.01))
    planned = study(100, concurrency=concurrency)
    outcome = run(planned, endpoint, sink)
    assert outcome.state is StudyState.PAUSED
    assert outcome.reason.startswith("endpoint main: 10 of its last 10 calls failed, the last with ")
    assert failure.message in outcome.reason
    assert sink.cells == []
    assert len(endpoint.calls) < 10 + 16
    assert sink.states[-1] == (StudyState.PAUSED, outcome.reason)
    assert [event.level for event in sink.events if event.kind == "paused"] == ["error"]


def test_an_endpoint_that_goes_down_part_way_costs_no_item_and_resume_finishes_the_study() -> None:
    async def dies(request: Request) -> Completion | Failure:
        await asyncio.sleep(0.1)
        return Completion("yes") if len(endpoint.calls) <= 60 else REFUSED

    first, endpoint = Memory(), Told(dies)
    planned = study(40, concurrency=4)
    assert run(planned, endpoint, first).state is StudyState.PAUSED
    assert first.statuses == {Status.OK: 60}
    second = Memory()
    assert run(planned, Told(right), second, terminal=first.terminal(40)).state is StudyState.FINISHED
    assert len(first.cells) + len(second.cells) == 2 * 2 * 40


@pytest.mark.parametrize("failure", [REFUSED, LOADING], ids=["refused", "loading"])
def test_a_study_too_small_to_trip_the_breaker_pauses_too(failure: Failure) -> None:
    sink = Memory()
    outcome = run(study(2, **ONE_ARM, endpoint={"retries": 1}), Told(always(failure)), sink)
    assert outcome.state is StudyState.PAUSED
    assert outcome.reason == f"endpoint main has not answered once: {failure.status}: {failure.message}"
    assert sink.cells == []


def test_the_last_item_of_a_resumed_study_may_fail_for_itself() -> None:
    done = Memory()
    planned = study(3, **ONE_ARM)  # type: ignore[arg-type]
    run(planned, Told(right), done)
    terminal = done.terminal(3)
    terminal["baseline", 1][2] = False  # type: ignore[index]
    sink = Memory()
    hung = Failure(Status.TIMEOUT, "no complete answer within 60 s", retry=True)
    assert run(planned, Told(always(hung)), sink, terminal=terminal).state is StudyState.FINISHED
    assert sink.statuses == {Status.TIMEOUT: 1}


def test_a_failure_amid_answers_is_recorded_as_the_items_own() -> None:
    async def one_poisoned(request: Request) -> Completion | Failure:
        return REFUSED if request.cell.position == 3 else await right(request)

    sink = Memory()
    assert run(study(10, **ONE_ARM), Told(one_poisoned), sink).state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 9, Status.NETWORK_ERROR: 1}


def test_a_few_items_that_always_hang_do_not_look_like_an_endpoint_that_is_down() -> None:
    async def five_hang(request: Request) -> Completion | Failure:
        if request.cell.position % 12 == 5:
            await asyncio.sleep(3600)
        return await right(request)

    sink = Memory()
    outcome = run(study(60, concurrency=16, **ONE_ARM), Told(five_hang), sink)
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 55, Status.TIMEOUT: 5}


def test_a_refused_key_pauses_at_once_and_leaves_its_cell_open() -> None:
    sink, endpoint = Memory(), Told(always(NO_KEY))
    outcome = run(study(50, concurrency=3), endpoint, sink)
    assert (outcome.state, outcome.reason) == (StudyState.PAUSED, "endpoint main: request_error: 401: invalid key")
    assert len(endpoint.calls) == 3
    assert sink.cells == []


def test_an_arm_that_is_refused_every_call_costs_no_item_of_its_own() -> None:
    async def candidate_is_wrong(request: Request) -> Completion | Failure:
        if request.cell.arm == "candidate":
            return Failure(Status.REQUEST_ERROR, "400: max_tokens is too large", http_status=400)
        return await right(request)

    sink = Memory()
    outcome = run(study(100), Told(candidate_is_wrong), sink)
    assert outcome.state is StudyState.PAUSED
    assert {record.cell.arm for record in sink.cells} == {"baseline"}


def test_failures_of_one_arm_that_trip_no_breaker_are_stored_as_the_study_goes() -> None:
    most = 0

    async def candidate_is_wrong(request: Request) -> Completion | Failure:
        nonlocal most
        if request.cell.arm == "baseline":
            return await right(request)
        written = sum(record.cell.arm == "candidate" for record in sink.cells)
        most = max(most, request.cell.position - written)
        return Failure(Status.REQUEST_ERROR, "400: max_tokens is too large", http_status=400)

    sink = Memory()
    outcome = run(study(200, repeats=1, max_errors=1.0), Told(candidate_is_wrong), sink)
    assert outcome.state is StudyState.FINISHED
    assert most == 50
