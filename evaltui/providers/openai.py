"""OpenAI-compatible chat completions: hosted, vLLM, llama.cpp, Ollama, Azure and whoever speaks the same."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import httpx

from evaltui import __version__
from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.providers.address import chat_url
from evaltui.providers.cell_header import CELL_HEADER, encode_cell, name_of
from evaltui.providers.classify import Reply, of_reply
from evaltui.providers.connection import of_exception
from evaltui.providers.secrets import Redactor
from evaltui.providers.transport import make_client

__all__ = ["OpenAIProvider", "chat_url", "request_body"]

BODY_LIMIT: Final = 32 * 2**20
_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class OpenAIProvider:
    """One endpoint. The caller owns the deadline: cancelling a call frees its connection.

    ``cell_header`` names the cell in each request, for simulator endpoints. Raises EvaltuiError for a base URL that
    cannot be used, and for a key or header that cannot be sent; none of them is ever quoted.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        headers: Mapping[str, str] = _NO_HEADERS,
        cell_header: bool = False,
    ) -> None:
        self.url = chat_url(base_url)
        self._where = urlsplit(self.url).netloc
        self._cell_header = cell_header
        key = (api_key or "").strip()
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"evaltui/{__version__}",
        }
        if key:
            sent["Authorization"] = f"Bearer {key}"
        for name, value in {**sent, **headers}.items():
            if not (name.isascii() and value.isascii() and name.isprintable() and value.isprintable()):
                what = "the key" if name == "Authorization" else f"header {name!r}"
                raise EvaltuiError(f"{what} for {self.url} holds characters that cannot be sent in an HTTP header")
        self._client = make_client(self.url, {**sent, **headers})
        self._redactor = Redactor([key, *headers.values()])

    async def complete(self, request: Request) -> Completion | Failure:
        """Sends one request. Raises nothing but CancelledError."""
        try:
            content = json.dumps(request_body(request), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            return Failure(Status.REQUEST_ERROR, f"the request cannot be written as JSON: {error}", pause=True)
        extra = {CELL_HEADER: encode_cell(name_of(request))} if self._cell_header else {}
        try:
            reply = await self._post(content, extra)
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.StreamError,
            aiohttp.ClientError,
            OSError,
            ValueError,
        ) as error:
            return of_exception(error, self._where)
        if reply is None:
            return Failure(Status.SERVER_ERROR, f"the answer is larger than {BODY_LIMIT // 2**20} MB")
        return self._redactor.outcome(of_reply(reply, time.time()))

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, content: bytes, headers: dict[str, str]) -> Reply | None:
        """The whole reply, or None when its body is larger than the limit."""
        async with self._client.stream("POST", self.url, content=content, headers=headers) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > BODY_LIMIT:
                    return None
            return Reply(response.status_code, dict(response.headers), self._redactor.body(bytes(body)))


def request_body(request: Request) -> dict[str, object]:
    """The body as sent: only parameters that are set, then the arm's extra fields, which win."""
    decoding = request.decoding
    optional = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "seed": decoding.seed,
    }
    return {
        "model": decoding.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        **{name: value for name, value in optional.items() if value is not None},
        **decoding.extra_body,
    }
