"""Anthropic's messages over real connections: what is sent, and what its answers and errors mean.

The shapes are those of the public API reference (messages, errors, rate limits).
"""

from __future__ import annotations

import json

import pytest
from aiohttp import web

from evaltui.core.records import Cell, Decoding, Message, Request, Usage
from evaltui.core.status import Status
from evaltui.providers.anthropic import AnthropicProvider, message_body
from evaltui.providers.http import Connection

KEY = "sk-ant-CANARY0123456789"


def question(**decoding: object) -> Request:
    messages = (Message("system", "Be brief."), Message("user", "2+2?"))
    return Request(Cell("a", 1, 0, "i"), 1, messages, Decoding("claude", **decoding))


def message(*content: dict[str, object], stop: str = "end_turn", **more: object) -> dict[str, object]:
    usage = {"input_tokens": 10, "output_tokens": 3}
    return {
        "type": "message",
        "model": "claude-1",
        "content": list(content),
        "stop_reason": stop,
        "usage": usage,
        **more,
    }


def text(answer: str) -> dict[str, object]:
    return {"type": "text", "text": answer}


@pytest.fixture
async def answered(served):
    """``await answered(body, status)``: what a provider makes of that reply, and the request that it sent."""
    made = []

    async def ask(body: object, status: int = 200, headers: dict[str, str] | None = None, **connection: object):
        seen: dict[str, object] = {}

        async def handler(request: web.Request) -> web.Response:
            seen.update(path=request.path, headers=request.headers.copy(), body=await request.json())
            return web.Response(body=json.dumps(body).encode(), status=status, headers=headers)

        base = (await served(handler)).removesuffix("/v1")
        made.append(AnthropicProvider(base, Connection(KEY, **connection)))
        return await made[-1].complete(question(max_tokens=64)), seen

    yield ask
    for provider in made:
        await provider.close()


async def test_the_key_the_version_and_the_system_prompt_go_where_the_api_wants_them(answered):
    completion, seen = await answered(message(text("4")))
    assert (completion.text, completion.status, completion.model) == ("4", Status.OK, "claude-1")
    assert seen["path"] == "/v1/messages"
    assert seen["headers"]["x-api-key"] == KEY
    assert seen["headers"]["anthropic-version"] == "2023-06-01"
    assert "Authorization" not in seen["headers"]
    assert seen["body"] == {
        "model": "claude",
        "messages": [{"role": "user", "content": "2+2?"}],
        "system": "Be brief.",
        "max_tokens": 64,
    }


async def test_the_key_can_go_in_another_header(answered):
    _, seen = await answered(message(text("4")), key_header="api-key")
    assert seen["headers"]["api-key"] == KEY
    assert "x-api-key" not in seen["headers"]


def test_what_is_omitted_and_a_seed_are_not_sent():
    body = message_body(question(max_tokens=5, temperature=0.5, seed=7), frozenset({"temperature"}))
    assert "temperature" not in body
    assert "seed" not in body


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ("end_turn", Status.OK),
        ("stop_sequence", Status.OK),
        ("max_tokens", Status.TRUNCATED),
        ("model_context_window_exceeded", Status.TRUNCATED),
        ("refusal", Status.REFUSED),
    ],
)
async def test_the_stop_reason_decides(answered, stop, status):
    completion, _ = await answered(message(text("4"), stop=stop))
    assert completion.status is status


async def test_thinking_is_kept_apart_and_cached_tokens_are_part_of_the_prompt(answered):
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 2,
        "output_tokens": 3,
    }
    thought = {"type": "thinking", "thinking": "two and two", "signature": "x"}
    completion, _ = await answered(message(thought, text("4"), usage=usage))
    assert (completion.text, completion.reasoning) == ("4", "two and two")
    assert completion.usage == Usage(19, 3, 7)


async def test_an_answer_without_text_is_empty(answered):
    completion, _ = await answered(message())
    assert completion.status is Status.EMPTY


@pytest.mark.parametrize(
    ("http", "kind", "status", "retry", "pause"),
    [
        (400, "invalid_request_error", Status.REQUEST_ERROR, False, False),
        (401, "authentication_error", Status.REQUEST_ERROR, False, True),
        (403, "permission_error", Status.REQUEST_ERROR, False, True),
        (404, "not_found_error", Status.REQUEST_ERROR, False, True),
        (413, "request_too_large", Status.REQUEST_ERROR, False, False),
        (429, "rate_limit_error", Status.RATE_LIMITED, True, False),
        (500, "api_error", Status.SERVER_ERROR, True, False),
        (529, "overloaded_error", Status.SERVER_ERROR, True, False),
    ],
)
async def test_typed_errors_have_their_names(answered, http, kind, status, retry, pause):
    body = {"type": "error", "error": {"type": kind, "message": f"said {KEY}"}}
    failure, _ = await answered(body, http)
    assert (failure.status, failure.retry, failure.pause) == (status, retry, pause)
    assert "CANARY" not in failure.message


async def test_an_empty_account_is_a_quota_whatever_its_type(answered):
    said = "Your credit balance is too low to access the API."
    failure, _ = await answered({"type": "error", "error": {"type": "invalid_request_error", "message": said}}, 400)
    assert (failure.status, failure.pause) == (Status.QUOTA, True)
