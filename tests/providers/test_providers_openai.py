"""The OpenAI-compatible endpoint over real connections: what is sent, what is survived, what is never told."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging

import pytest
from aiohttp import web

from evaltui.core.errors import EvaltuiError
from evaltui.core.status import Status
from evaltui.providers import http
from evaltui.providers.cell_header import CELL_HEADER, CellName, decode_cell
from evaltui.providers.http import Connection
from evaltui.providers.openai import OpenAIProvider, request_body

KEY = "sk-test-CANARY0123456789"


async def raw_server(reply: bytes, close: bool = True) -> tuple[asyncio.Server, str]:
    """A server that answers every connection with these bytes, HTTP or not."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        if close:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def test_only_parameters_that_are_set_are_sent_and_extra_fields_win(ask):
    assert request_body(ask("hi")) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    body = request_body(ask("hi", temperature=0.0, seed=7, extra_body={"seed": 8, "response_format": {"type": "text"}}))
    assert (body["temperature"], body["seed"], body["response_format"]) == (0.0, 8, {"type": "text"})


async def test_key_headers_query_and_body_arrive(served, provider, ask, json_reply):
    seen = {}

    async def handler(request: web.Request) -> web.Response:
        seen.update(path=request.path_qs, headers=request.headers.copy(), body=await request.json())
        return json_reply()

    endpoint = provider(f"{await served(handler)}?api-version=2", headers={"X-Org": "o"}, cell_header=True)
    await endpoint.complete(ask("lone \ud83d half", arm="ä", item="i/1", repeat=3, attempt=2))
    assert seen["path"] == "/v1/chat/completions?api-version=2"
    assert seen["headers"]["Authorization"] == f"Bearer {KEY}"
    assert seen["headers"]["X-Org"] == "o"
    assert decode_cell(seen["headers"][CELL_HEADER]) == CellName("ä", 3, "i/1", 2)
    assert seen["body"]["messages"][0]["content"] == "lone \ud83d half"


async def test_without_a_key_or_a_simulator_neither_header_is_sent(served, provider, ask, json_reply):
    async def handler(request: web.Request) -> web.Response:
        return json_reply(str({"Authorization", CELL_HEADER} & set(request.headers)))

    assert (await provider(await served(handler), api_key=None).complete(ask())).text == "set()"


async def test_cookies_do_not_travel_from_item_to_item(served, provider, ask, json_reply):
    async def handler(request: web.Request) -> web.Response:
        return json_reply(request.headers.get("Cookie", "none"), headers={"Set-Cookie": "session=1; Path=/"})

    endpoint = provider((await served(handler)).replace("127.0.0.1", "localhost"))
    assert [(await endpoint.complete(ask())).text for _ in range(3)] == ["none"] * 3


async def test_a_proxy_of_the_environment_is_not_used_for_loopback(served, provider, ask, json_reply, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)

    async def handler(request: web.Request) -> web.Response:
        return json_reply()

    assert (await provider(await served(handler)).complete(ask())).status is Status.OK


async def test_a_proxy_of_the_environment_is_used_elsewhere(served, provider, ask, json_reply, monkeypatch):
    async def handler(request: web.Request) -> web.Response:
        return json_reply(f"by proxy to {request.host}")

    monkeypatch.setenv("http_proxy", (await served(handler)).removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "")
    assert (await provider("http://model.invalid/v1").complete(ask())).text == "by proxy to model.invalid"


async def test_more_calls_than_any_default_pool_are_in_flight_at_once(served, provider, ask, json_reply):
    everyone = asyncio.Barrier(150)

    async def handler(request: web.Request) -> web.Response:
        await everyone.wait()
        return json_reply()

    endpoint = provider(await served(handler))
    outcomes = await asyncio.gather(*(endpoint.complete(ask()) for _ in range(150)))
    assert {outcome.status for outcome in outcomes} == {Status.OK}


async def test_a_deadline_around_the_call_ends_a_body_that_trickles(served, provider, ask):
    dropped = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b" ")
                await asyncio.sleep(0.01)
        except ConnectionResetError:
            dropped.set()
            raise

    endpoint = provider(await served(handler))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await endpoint.complete(ask())
    await dropped.wait()


async def test_nobody_there_is_a_network_error_that_names_the_address(provider, ask):
    server, url = await raw_server(b"")
    server.close()
    await server.wait_closed()
    failure = await provider(url).complete(ask())
    assert (failure.status, failure.retry, failure.pause) == (Status.NETWORK_ERROR, True, False)
    assert url.removeprefix("http://").removesuffix("/v1") in failure.message
    assert "Connection refused" in failure.message


async def test_a_host_name_that_does_not_exist_is_a_network_error(provider, ask, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    failure = await provider("http://model.invalid:1/v1").complete(ask())
    assert failure.status is Status.NETWORK_ERROR
    assert "could not be resolved" in failure.message


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (b"", Status.NETWORK_ERROR, "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", Status.SERVER_ERROR, "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 100_000 + b"\r\n\r\n", Status.SERVER_ERROR, "not valid HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", Status.NETWORK_ERROR, "cut off"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
            Status.SERVER_ERROR,
            "compression is broken",
        ),
    ],
    ids=["closed", "no-http", "header", "cut", "gzip"],
)
async def test_broken_http_is_a_failure_to_retry_that_does_not_tell_the_key(provider, ask, reply, status, said):
    server, url = await raw_server(reply)
    async with server:
        failure = await provider(url).complete(ask())
    assert (failure.status, failure.retry) == (status, True)
    assert said in failure.message
    assert KEY not in repr(failure)


async def test_https_against_a_plain_server_is_a_sentence(served, provider, ask, json_reply):
    async def handler(request: web.Request) -> web.Response:
        return json_reply()

    url = (await served(handler)).replace("http://", "https://")
    failure = await provider(url).complete(ask())
    assert failure.status is Status.NETWORK_ERROR
    assert "https" in failure.message


async def test_a_redirect_is_not_followed_with_the_key(served, provider, ask, json_reply):
    visited = []

    async def handler(request: web.Request) -> web.Response:
        visited.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    failure = await provider(await served(handler)).complete(ask())
    assert (failure.status, failure.pause) == (Status.REQUEST_ERROR, True)
    assert visited == ["/v1/chat/completions"]


async def test_a_compressed_answer_is_read_and_a_bomb_is_not(served, provider, ask, monkeypatch):
    monkeypatch.setattr(http, "BODY_LIMIT", 2**20)
    bodies = [json.dumps({"choices": [{"message": {"content": text}}]}) for text in ("4", "4" * 5_000_000)]

    async def handler(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(bodies.pop(0).encode()), headers={"Content-Encoding": "gzip"})

    endpoint = provider(await served(handler))
    assert (await endpoint.complete(ask())).text == "4"
    bomb = await endpoint.complete(ask())
    assert (bomb.status, bomb.retry) == (Status.SERVER_ERROR, False)
    assert "larger than 1 MB" in bomb.message


async def test_a_key_echoed_in_an_answer_is_masked_too_however_it_is_escaped(served, provider, ask):
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)

    async def handler(request: web.Request) -> web.Response:
        return web.Response(body=f'{{"choices": [{{"message": {{"content": "{KEY} {escaped}"}}}}]}}'.encode())

    assert (await provider(await served(handler)).complete(ask())).text == "••••6789 ••••6789"


async def test_a_key_at_the_cut_of_a_long_message_is_masked_before_the_cut(served, provider, ask):
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=500, body=b"x" * 250 + KEY.encode())

    failure = await provider(await served(handler)).complete(ask())
    assert failure.message.endswith("x••••6789")


async def test_debug_logging_does_not_tell_the_key(served, provider, ask, caplog):
    caplog.set_level(logging.DEBUG)

    async def handler(request: web.Request) -> web.Response:
        raise web.HTTPUnauthorized

    await provider(await served(handler)).complete(ask())
    assert "CANARY" not in caplog.text


@pytest.mark.parametrize(
    ("key", "headers"), [("CANARY\x00\n0123", {}), ("CANARYé", {}), ("k", {"X-Key": "CANARY\r\nX: y"})]
)
def test_a_key_that_cannot_be_sent_is_refused_without_quoting_it(key, headers):
    with pytest.raises(EvaltuiError, match="cannot be sent") as caught:
        OpenAIProvider("http://127.0.0.1:1/v1", Connection(key, headers))
    assert "CANARY" not in str(caught.value)


async def test_a_request_that_is_not_json_pauses_with_a_sentence(provider, ask):
    failure = await provider("http://127.0.0.1:1/v1").complete(ask(extra_body={"top_k": float("nan")}))
    assert (failure.status, failure.pause) == (Status.REQUEST_ERROR, True)
    assert "cannot be written as JSON" in failure.message


@pytest.mark.parametrize("text", ["", "{}", "[1]", "%7B", '{"arm": "a", "repeat": 1, "item": "i", "attempt": 0}'])
def test_a_header_that_names_no_cell_is_refused_with_a_sentence(text):
    with pytest.raises(ValueError, match=CELL_HEADER):
        decode_cell(text)
