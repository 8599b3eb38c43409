"""The engine against endpoints that misbehave as real ones did, over real HTTP (reports R10, R22, R24, R25)."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from engine_world import Memory, exact, study

from evaltui.core.status import Status, StudyState
from evaltui.engine.run import Outcome, run_study
from evaltui.providers.openai import OpenAIProvider

Scripted = Callable[[str], str]


def log_of(server: str) -> list[dict[str, Any]]:
    host = server.split("/v1")[0]
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{host}/_log") as answer:
        return json.load(answer)


async def run_over_http(base_url: str, sink: Memory, **options: Any) -> Outcome:
    endpoint = {"base_url": base_url, **options.pop("endpoint", {})}
    plan, config = study(arms=["baseline"], repeats=1, endpoint=endpoint, **options)
    provider = OpenAIProvider(base_url)
    try:
        return await run_study(plan, config, sink, providers={"main": provider}, scorers=exact(), terminal={})
    finally:
        await provider.close()


async def test_calls_that_never_end_are_timeouts_and_the_run_finishes(scripted: Scripted) -> None:
    sink = Memory()
    outcome = await run_over_http(
        scripted("B_last_item_hangs"),
        sink,
        questions=[f"item {n}" for n in range(140, 200)],
        concurrency=4,
        endpoint={"timeout_s": 3, "retries": 0},
    )
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 58, Status.TIMEOUT: 2}
    timed_out = {attempt.cell.item_id for attempt in sink.attempts if attempt.status is Status.TIMEOUT}
    assert timed_out == {"q10", "q59"}


@pytest.mark.slow
async def test_a_storm_of_rate_limits_ends_with_a_verdict_for_every_item(scripted: Scripted) -> None:
    sink, server = Memory(), scripted("D_429_storm")
    outcome = await run_over_http(server, sink, n_items=20, concurrency=8, endpoint={"retries": 0})
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 20}
    assert {record.attempts for record in sink.cells} == {4}
    assert Counter(attempt.status for attempt in sink.attempts) == {Status.RATE_LIMITED: 60, Status.OK: 20}
    assert "waiting for the rate limit of main, 2 s" in {event.text for event in sink.events}
    asked = sorted(entry["t"] for entry in log_of(server))
    assert asked[8] - asked[7] >= 1.9, "nobody asks before the first Retry-After is over"


async def test_dropped_connections_are_asked_again_and_never_wrong(scripted: Scripted) -> None:
    sink = Memory()
    outcome = await run_over_http(
        scripted("D_connection_dropped"), sink, questions=["Q1", "Q2", "Q3", "Q4"], endpoint={"retries": 1}
    )
    assert outcome.state is StudyState.FINISHED
    ended = {record.cell.item_id: (record.verdicts[0].status, record.attempts) for record in sink.cells}
    assert ended["q0"] == ended["q1"] == (Status.OK, 2)
    assert ended["q2"] == (Status.NETWORK_ERROR, 2)
    assert ended["q3"] == (Status.OK, 1)


async def test_a_model_that_does_not_exist_pauses_before_items_are_burnt(scripted: Scripted) -> None:
    sink, server = Memory(), scripted("D_loading_and_permanent")
    outcome = await run_over_http(server, sink, questions=["Q2"] * 200, concurrency=4)
    assert outcome.state is StudyState.PAUSED
    assert "does not exist" in outcome.reason
    assert sink.cells == []
    assert len(log_of(server)) == 4


async def test_a_prompt_that_is_too_long_is_that_items_error_alone(scripted: Scripted) -> None:
    sink = Memory()
    questions = ["Q6", "Q3", "Q7", "Q8"]
    outcome = await run_over_http(scripted("D_loading_and_permanent"), sink, questions=questions)
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 3, Status.REQUEST_ERROR: 1}


async def test_a_port_where_nobody_listens_pauses_the_study_with_the_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sink = Memory()
    async with asyncio.timeout(30):
        outcome = await run_over_http(f"http://127.0.0.1:{port}/v1", sink, n_items=50, concurrency=8)
    assert outcome.state is StudyState.PAUSED
    assert str(port) in outcome.reason
    assert sink.cells == []
