"""Public failures of endpoints, played by a server in a process of its own."""

from __future__ import annotations

import pytest

from evaltui.core.records import Completion, Failure
from evaltui.core.status import Status

OK = (Status.OK, "ANSWER: 4")


def told(outcome: Completion | Failure) -> tuple[object, ...]:
    if isinstance(outcome, Completion):
        return (outcome.status, outcome.text)
    return (outcome.status, "retry" if outcome.retry else "pause" if outcome.pause else "final")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "C_null_content",
            {
                "Q1": [(Status.TRUNCATED, "")],
                "Q2": [(Status.EMPTY, "")],
                "Q3": [(Status.EMPTY, "")],
                "Q4": [(Status.EMPTY, "")],
                "Q5": [(Status.OK, "ANSWER: 5")],
                "Q6": [OK],
            },
        ),
        (
            "C_truncated",
            {
                "Q1": [(Status.TRUNCATED, "Let us think step by step. First we")],
                "Q2": [(Status.TRUNCATED, "The total is 72")],
                "Q3": [OK],
            },
        ),
        (
            "C_200_with_error",
            {
                "Q1": [(Status.RATE_LIMITED, "retry"), OK],
                "Q2": [(Status.SERVER_ERROR, "retry")],
                "Q3": [(Status.SERVER_ERROR, "retry")],
                "Q4": [(Status.SERVER_ERROR, "retry")],
                "Q5": [(Status.SERVER_ERROR, "retry")],
                "Q6": [(Status.NETWORK_ERROR, "retry"), OK],
                "Q7": [(Status.SERVER_ERROR, "retry")],
            },
        ),
        (
            "C_content_filter",
            {
                "Q1": [(Status.REFUSED, "")],
                "Q2": [(Status.REFUSED, "")],
                "Q3": [(Status.REFUSED, "I'm sorry, I can't help with that.")],
                "Q4": [(Status.OK, "I'm sorry, but I can't help with that.")],
                "JUDGE": [(Status.REFUSED, "")],
            },
        ),
        (
            "D_connection_dropped",
            {
                "Q1": [(Status.NETWORK_ERROR, "retry"), OK],
                "Q2": [(Status.NETWORK_ERROR, "retry"), OK],
                "Q3": [(Status.NETWORK_ERROR, "retry"), (Status.NETWORK_ERROR, "retry")],
                "Q4": [OK],
            },
        ),
        (
            "D_loading_and_permanent",
            {
                "Q1": [(Status.SERVER_ERROR, "retry")] * 3 + [OK],
                "Q2": [(Status.REQUEST_ERROR, "pause")],
                "Q3": [(Status.REQUEST_ERROR, "final")],
                "Q4": [(Status.REQUEST_ERROR, "pause")],
                "Q5": [(Status.SERVER_ERROR, "retry"), OK],
                "Q6": [OK],
            },
        ),
    ],
)
async def test_each_attempt_comes_out_as_the_report_asks(scripted, provider, ask, script, expected):
    endpoint = provider(scripted(script))
    for question, outcomes in expected.items():
        assert [told(await endpoint.complete(ask(question))) for _ in outcomes] == outcomes, question


async def test_reasoning_of_an_answer_that_never_came_is_kept(scripted, provider, ask):
    outcome = await provider(scripted("C_null_content")).complete(ask("Q1"))
    assert outcome.reasoning == "Lots and lots of words here"


async def test_each_form_of_retry_after_is_understood(scripted, provider, ask):
    endpoint = provider(scripted("D_429_storm"))
    waits = [(await endpoint.complete(ask("Q"))).wait_s for _ in range(3)]
    assert waits == [2.0, pytest.approx(3.0, abs=1.0), 0.3]


async def test_a_change_of_fingerprint_is_seen(scripted, provider, ask):
    endpoint = provider(scripted("A_seed_changes_temperature"))
    prints = [(await endpoint.complete(ask("Q", temperature=0.8, seed=1))).fingerprint for _ in range(3)]
    assert prints == ["fp_a", "fp_a", "fp_b"]


@pytest.mark.parametrize(
    "form", ["{root}", "{root}/v1", "{root}/v1/", "{root}/v1/chat/completions", " {root}/v1 ", "{root}//v1"]
)
async def test_every_form_of_the_base_url_reaches_the_endpoint(scripted, provider, ask, form):
    root = scripted("D_base_url").removesuffix("/v1")
    assert told(await provider(form.format(root=root)).complete(ask("Q"))) == OK


@pytest.mark.parametrize("how", ["key", "header"])
async def test_a_key_that_the_server_echoes_is_masked(scripted, provider, ask, how):
    canary = "sk-test-CANARY0123456789"
    options = {"api_key": canary} if how == "key" else {"api_key": None, "headers": {"X-Api-Key": canary}}
    failure = await provider(scripted("H_key_echo"), **options).complete(ask("Q"))
    assert failure.pause
    assert "CANARY" not in repr(failure)
    assert "••••6789" in failure.message
