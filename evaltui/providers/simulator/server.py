"""The simulator as an OpenAI-compatible HTTP server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final, NoReturn

from aiohttp import web

from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Message
from evaltui.providers.cell_header import CELL_HEADER, decode_cell
from evaltui.providers.classify import Reply
from evaltui.providers.simulator.outcome import error_reply
from evaltui.providers.simulator.provider import Simulator

_BODY_LIMIT: Final = 64 * 2**20
_HEADER_LIMIT: Final = 64 * 2**10


async def serve(simulator: Simulator, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serves until cancelled. ``ready`` is called once with the base URL; port 0 picks a free port.

    Each request names its cell in ``X-Evaltui-Cell``. Raises EvaltuiError when the address cannot be listened on.
    """
    runner = web.AppRunner(
        _application(simulator),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=0.1,
        max_field_size=_HEADER_LIMIT,
        max_line_size=_HEADER_LIMIT,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise EvaltuiError(f"cannot listen on {host}:{port}: {reason}; choose another with --port") from None
        bound = runner.addresses[0][1]
        ready(f"http://{f'[{host}]' if ':' in host else host}:{bound}/v1")
        await _hang()
    finally:
        await runner.cleanup()


def _application(simulator: Simulator) -> web.Application:
    async def complete(request: web.Request) -> web.Response:
        cell = request.headers.get(CELL_HEADER)
        if cell is None:
            sentence = f"this is a simulator: name the cell in the header {CELL_HEADER}, as evaltui run does"
            return _response(error_reply(400, sentence, "missing_cell"))
        try:
            name = decode_cell(cell)
            model, messages = _asked(await request.read())
        except ValueError as error:
            return _response(error_reply(400, str(error), "invalid_request"))
        outcome = simulator.outcome(name, model, messages)
        if outcome.reply is None:
            await _hang()
        await asyncio.sleep(outcome.delay_s)
        return _response(outcome.reply)

    async def models(_request: web.Request) -> web.Response:
        model = {"id": "simulated", "object": "model", "created": 0, "owned_by": "evaltui"}
        return web.json_response({"object": "list", "data": [model]})

    async def unknown(request: web.Request) -> web.Response:
        sentence = f"Unknown request URL: {request.method} {request.path}. Please check the URL for typos."
        return _response(error_reply(404, sentence, "unknown_url"))

    application = web.Application(client_max_size=_BODY_LIMIT)
    application.router.add_post("/v1/chat/completions", complete)
    application.router.add_get("/v1/models", models)
    application.router.add_route("*", "/{path:.*}", unknown)
    return application


async def _hang() -> NoReturn:
    await asyncio.Event().wait()
    raise AssertionError("an event that nobody sets was set")


def _asked(body: bytes) -> tuple[str, list[Message]]:
    """The model and the messages of a request. Raises ValueError (a sentence)."""
    try:
        value = json.loads(body)
        messages = [Message(str(message["role"]), str(message["content"])) for message in value["messages"]]
        return str(value["model"]), messages
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            "the body must be JSON with a model and a list of messages, each with role and content"
        ) from None


def _response(reply: Reply) -> web.Response:
    return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
