"""One cell's calls: deadlines, retries, waits, and the record of each."""

from __future__ import annotations

import asyncio

import pytest
from engine_world import Memory, Told, always, right, run, study

from evaltui.core.records import Completion, Failure, Request, Usage
from evaltui.core.status import Status, StudyState

BROKEN = Failure(Status.SERVER_ERROR, "500: out of order", retry=True, http_status=500)
ONE_CELL: dict[str, object] = {"arms": ["baseline"], "repeats": 1}


async def hang(request: Request) -> Completion:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


def test_a_call_that_never_ends_is_a_timeout_at_its_deadline() -> None:
    async def first_hangs(request: Request) -> Completion | Failure:
        return await hang(request) if request.cell.position == 1 else await right(request)

    sink, endpoint = Memory(), Told(first_hangs)
    run(study(3, **ONE_CELL, endpoint={"timeout_s": 5, "retries": 1}), endpoint, sink)
    assert sink.statuses == {Status.OK: 2, Status.TIMEOUT: 1}
    slow = [attempt for attempt in sink.attempts if attempt.cell.position == 1]
    assert [attempt.status for attempt in slow] == [Status.TIMEOUT] * 2
    assert [attempt.latency_s for attempt in slow] == pytest.approx([5.0, 5.0])
    assert endpoint.in_flight == 0


def test_each_retry_is_recorded_with_its_cause_and_wait() -> None:
    async def third_time_lucky(request: Request) -> Completion | Failure:
        await asyncio.sleep(2.0)
        return Completion("yes") if request.attempt == 3 else BROKEN

    sink = Memory()
    run(study(1, **ONE_CELL), Told(third_time_lucky), sink)
    first, second, third = sink.attempts
    assert [attempt.number for attempt in sink.attempts] == [1, 2, 3]
    assert [attempt.status for attempt in sink.attempts] == [Status.SERVER_ERROR, Status.SERVER_ERROR, Status.OK]
    assert (first.http_status, first.message, first.wait_s) == (500, "500: out of order", 0.0)
    assert 0.25 <= second.wait_s <= 0.5
    assert 0.5 <= third.wait_s <= 1.0
    assert [attempt.latency_s for attempt in sink.attempts] == pytest.approx([2.0, 2.0, 2.0])
    (cell,) = sink.cells
    assert (cell.attempts, cell.verdicts[0].status, cell.verdicts[0].score) == (3, Status.OK, 1.0)


def test_the_status_after_the_last_retry_is_that_of_the_last_failure() -> None:
    hung = Failure(Status.TIMEOUT, "slow", retry=True)

    async def second_item_fails(request: Request) -> Completion | Failure:
        if request.cell.position == 1:
            return BROKEN if request.attempt < 3 else hung
        return await right(request)

    sink = Memory()
    run(study(3, **ONE_CELL, endpoint={"retries": 2}), Told(second_item_fails), sink)
    (failed,) = [record for record in sink.cells if record.cell.position == 1]
    assert (failed.attempts, failed.text) == (3, None)
    assert (failed.verdicts[0].status, failed.verdicts[0].note) == (Status.TIMEOUT, "slow")


def test_the_wait_between_calls_is_the_one_that_is_recorded() -> None:
    async def fails_once(request: Request) -> Completion | Failure:
        return Completion("yes") if request.attempt == 2 else BROKEN

    sink, endpoint = Memory(), Told(fails_once)
    run(study(1, **ONE_CELL), endpoint, sink)
    assert endpoint.times[1] - endpoint.times[0] == pytest.approx(sink.attempts[1].wait_s)
    assert sink.attempts[1].queue_wait_s == pytest.approx(0.0, abs=1e-6)


def test_a_429_holds_back_every_call_to_the_endpoint() -> None:
    async def limited_at_first(request: Request) -> Completion | Failure:
        if request.cell.position == 0 and request.attempt == 1:
            await asyncio.sleep(0.5)
            return Failure(Status.RATE_LIMITED, "429", retry=True, wait_s=30.0, http_status=429)
        return await right(request)

    sink, endpoint = Memory(), Told(limited_at_first)
    run(study(20, **ONE_CELL, concurrency=4), endpoint, sink)
    assert endpoint.times[:4] == [0.0] * 4
    assert min(endpoint.times[4:]) >= 30.5
    after_the_gate = sorted(endpoint.times[4:8])
    assert len(set(after_the_gate)) == 4, "released one by one, not as a burst"
    assert sink.statuses == {Status.OK: 20}


def test_waiting_for_a_rate_limit_is_its_cells_wait_and_the_others_queue_wait() -> None:
    async def limited_at_first(request: Request) -> Completion | Failure:
        if request.cell.position == 0 and request.attempt == 1:
            return Failure(Status.RATE_LIMITED, "429", retry=True, wait_s=30.0)
        return await right(request)

    sink = Memory()
    run(study(4, **ONE_CELL, concurrency=2), Told(limited_at_first), sink)
    again = next(attempt for attempt in sink.attempts if attempt.number == 2)
    assert again.wait_s == 30.0
    behind = next(attempt for attempt in sink.attempts if attempt.cell.position == 1)
    assert behind.wait_s == 0.0
    assert 29.0 <= behind.queue_wait_s <= 32.0


def test_a_storm_of_429s_leaves_one_line_in_the_feed() -> None:
    async def each_once(request: Request) -> Completion | Failure:
        if request.attempt == 1:
            await asyncio.sleep(0.1)
            return Failure(Status.RATE_LIMITED, "429", retry=True, wait_s=2.0)
        return await right(request)

    sink = Memory()
    outcome = run(study(8, **ONE_CELL, concurrency=8), Told(each_once), sink)
    assert outcome.state is StudyState.FINISHED
    assert [event.text for event in sink.events if event.kind == "rate_limit"] == [
        "waiting for the rate limit of main, 2 s"
    ]


def test_a_refusal_is_an_answer_and_is_asked_once() -> None:
    sink, endpoint = Memory(), Told(always(Failure(Status.REFUSED, "content filter", http_status=400)))
    outcome = run(study(30, **ONE_CELL), endpoint, sink)
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.REFUSED: 30}
    assert len(endpoint.calls) == 30


@pytest.mark.parametrize("status", [Status.TRUNCATED, Status.EMPTY, Status.REFUSED])
def test_an_answer_that_cannot_be_scored_keeps_its_status_and_text(status: Status) -> None:
    sink = Memory()
    run(study(1, **ONE_CELL), Told(always(Completion("ye", status))), sink)
    (cell,) = sink.cells
    assert (cell.verdicts[0].status, cell.verdicts[0].score, cell.text) == (status, None, "ye")


def test_an_attempt_records_what_came_back_and_what_it_cost() -> None:
    answer = Completion("yes", model="m-2026", fingerprint="fp_1", usage=Usage(1000, 200, 64))
    sink = Memory()
    run(study(1, **ONE_CELL, endpoint={"price": {"input": 3.0, "output": 15.0}}), Told(always(answer)), sink)
    (attempt,) = sink.attempts
    assert (attempt.model, attempt.fingerprint, attempt.usage) == ("m-2026", "fp_1", Usage(1000, 200, 64))
    assert attempt.cost == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("policy", "seeds"),
    [
        pytest.param("none", [None, None], id="none"),
        pytest.param(5, [5, 5], id="a number"),
        pytest.param("per-repeat", [101, 102], id="per repeat"),
    ],
)
def test_the_seed_follows_the_arms_policy_and_is_recorded(policy: object, seeds: list[int | None]) -> None:
    sink, endpoint = Memory(), Told(right)
    run(study(1, arms=["baseline"], repeats=2, arm={"seed": policy}, order_seed=100), endpoint, sink)
    assert [attempt.seed for attempt in sink.attempts] == seeds
    assert [request.decoding.seed for _, request in endpoint.calls] == seeds


def test_a_seed_per_item_is_the_same_in_every_arm_and_another_for_every_item_and_repeat() -> None:
    seeds: dict[str, dict[tuple[int, str], int | None]] = {}
    for order_seed in (100, 101):
        sink = Memory()
        run(study(3, repeats=2, arm={"seed": "per-item"}, order_seed=order_seed), Told(right), sink)
        for attempt in sink.attempts:
            of_arm = seeds.setdefault(f"{attempt.cell.arm} {order_seed}", {})
            of_arm[attempt.cell.repeat, attempt.cell.item_id] = attempt.seed
    assert seeds["baseline 100"] == seeds["candidate 100"]
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds["baseline 100"].values())
    assert len({*seeds["baseline 100"].values(), *seeds["baseline 101"].values()}) == 12


def test_equal_requests_have_equal_hashes_whatever_their_seed() -> None:
    sink = Memory()
    run(study(2, arms=["baseline"], repeats=2, arm={"seed": "per-repeat"}), Told(right), sink)
    hashes = {(attempt.cell.item_id, attempt.request_hash) for attempt in sink.attempts}
    assert len(hashes) == 2


def test_another_temperature_is_another_request() -> None:
    hashes = set()
    for temperature in (0.0, 1.0):
        sink = Memory()
        run(study(1, **ONE_CELL, arm={"temperature": temperature}), Told(right), sink)
        hashes.add(sink.attempts[0].request_hash)
    assert len(hashes) == 2


def test_each_call_says_how_many_were_in_flight_on_its_endpoint() -> None:
    """Three workers: three calls at 0 s; the first is over after 1 s and its worker sends the fourth beside two."""

    async def two_are_slow(request: Request) -> Completion:
        await asyncio.sleep(5.0 if request.cell.position in (1, 2) else 1.0)
        return Completion("yes")

    sink, endpoint = Memory(), Told(two_are_slow)
    run(study(4, **ONE_CELL, concurrency=3), endpoint, sink)
    assert {attempt.cell.position: attempt.in_flight for attempt in sink.attempts} == {0: 1, 1: 2, 2: 3, 3: 3}


def test_arms_on_one_endpoint_count_together() -> None:
    sink = Memory()
    run(study(1, repeats=1, concurrency=2), Told(right), sink)
    assert sorted(attempt.in_flight or 0 for attempt in sink.attempts) == [1, 2]


def test_a_call_that_failed_or_timed_out_is_in_flight_no_more() -> None:
    async def fails_then_hangs(request: Request) -> Completion | Failure:
        return BROKEN if request.attempt == 1 else await hang(request)

    sink = Memory()
    run(study(1, **ONE_CELL, endpoint={"timeout_s": 5, "retries": 2}), Told(fails_then_hangs), sink)
    assert [attempt.in_flight for attempt in sink.attempts] == [1, 1, 1]


def test_a_back_off_lowers_what_is_in_flight() -> None:
    """The second call fails at once and its cell rests for at least 0.25 s, the other call is over by then."""

    async def one_backs_off(request: Request) -> Completion | Failure:
        if request.cell.position == 1 and request.attempt == 1:
            return BROKEN
        await asyncio.sleep(0.1)
        return Completion("yes")

    sink = Memory()
    run(study(2, **ONE_CELL, concurrency=2), Told(one_backs_off), sink)
    calls = {(attempt.cell.position, attempt.number): attempt.in_flight for attempt in sink.attempts}
    assert calls == {(0, 1): 1, (1, 1): 2, (1, 2): 1}
