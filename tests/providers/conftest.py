"""Real servers on loopback, and requests to send to them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from evaltui.core.records import Cell, Decoding, Message, Request
from evaltui.providers.http import Connection
from evaltui.providers.openai import OpenAIProvider

KEY = "sk-test-CANARY0123456789"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
def ask() -> Callable[..., Request]:
    """``ask("Q1", attempt=…, temperature=…)``: a request whose last message is that text."""

    def request(text: str = "Q", *, arm="a", repeat=1, item="i1", attempt=1, **decoding: object) -> Request:
        return Request(Cell(arm, repeat, 0, item), attempt, (Message("user", text),), Decoding("m", **decoding))

    return request


@pytest.fixture
async def served() -> AsyncIterator[Callable[[Handler], Awaitable[str]]]:
    """``await served(handler)``: the base URL of a server that answers everything with ``handler``."""
    runners = []

    async def start(handler: Handler) -> str:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def provider() -> AsyncIterator[Callable[..., OpenAIProvider]]:
    """``provider(base_url, **options)``: closed at the end of the test."""
    made = []

    def make(base_url: str, api_key: str | None = KEY, **options: object) -> OpenAIProvider:
        connection = Connection(
            api_key, **{name: options.pop(name) for name in ("headers", "key_header") if name in options}
        )
        made.append(OpenAIProvider(base_url, connection, **options))
        return made[-1]

    yield make
    for each in made:
        await each.close()


@pytest.fixture
def json_reply() -> Callable[..., web.Response]:
    """An ordinary completion, with parts of the message or of the choice replaced."""

    def reply(content: object = "4", *, headers: dict[str, str] | None = None, **choice: object) -> web.Response:
        message = {"role": "assistant", "content": content}
        body = {"model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
        return web.Response(body=json.dumps(body).encode(), content_type="application/json", headers=headers)

    return reply
