"""A chat completion server for benchmarks, in a process of its own: python bench/engine_server.py DELAY_S

It answers every POST after DELAY_S seconds with a text that differs from call to call, so that a store has texts to
store. The base URL is printed once it listens on a free port of 127.0.0.1; it serves until it is ended.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys

from aiohttp import web

BACKLOG = 1024
HEADERS = {"Content-Type": "application/json"}
USAGE = {"prompt_tokens": 40, "completion_tokens": 30, "total_tokens": 70}


def body_of(number: int) -> bytes:
    """The ``number``-th answer, as OpenAI's servers send it."""
    text = f"Taking it step by step, I get {number} first, and then what was asked for.\nThe answer is {number % 97}."
    return json.dumps(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "fixed",
            "system_fingerprint": "fp",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": USAGE,
        }
    ).encode()


async def serve(delay_s: float) -> None:
    numbers = itertools.count()

    async def answer(request: web.BaseRequest) -> web.Response:
        await request.read()
        if delay_s:
            await asyncio.sleep(delay_s)
        return web.Response(body=body_of(next(numbers)), headers=HEADERS)

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=BACKLOG).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
