"""One HTTP endpoint, whatever it speaks: a body goes out, a whole reply or a typed failure comes back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import httpx

from evaltui import __version__
from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Completion, Failure
from evaltui.core.status import Status
from evaltui.providers.classify import ReadAnswer, Reply, of_reply
from evaltui.providers.connection import of_exception
from evaltui.providers.secrets import Redactor
from evaltui.providers.transport import make_client

BODY_LIMIT: Final = 32 * 2**20
NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Connection:
    """How an endpoint is reached. None of the values is ever shown.

    ``headers`` win over those that evaltui sends; ``key_header`` carries the key instead of the usual header, as it
    stands. ``ca_bundle`` is a PEM file of authorities to trust instead of the common ones. Without ``trust_env``
    neither proxies nor certificates of the environment are used.
    """

    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    key_header: str | None = None
    ca_bundle: Path | None = None
    trust_env: bool = True


class HttpEndpoint:
    """Posts JSON to one URL. ``read`` turns the JSON of a good reply into an answer.

    The caller owns the deadline: cancelling a call frees its connection. Raises EvaltuiError for a key or header that
    cannot be sent, and for a proxy or certificates that cannot be used; no secret is ever quoted.
    """

    def __init__(self, url: str, connection: Connection, own: Mapping[str, str], read: ReadAnswer) -> None:
        self.url = url
        self._read = read
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"evaltui/{__version__}",
            **own,
            **connection.headers,
        }
        given = {name.lower() for name in connection.headers}
        for name, value in sent.items():
            if not (name.isascii() and value.isascii() and name.isprintable() and value.isprintable()):
                what = f"header {name!r}" if name.lower() in given else "the key"
                raise EvaltuiError(f"{what} for {url} holds characters that cannot be sent in an HTTP header")
        self._client, proxy = make_client(url, sent, connection.ca_bundle, trust_env=connection.trust_env)
        self._where = urlsplit(url).netloc + (f" through the proxy that {proxy} names" if proxy else "")
        self._redactor = Redactor([connection.key or "", *connection.headers.values()])

    async def post(self, body: Mapping[str, object], headers: Mapping[str, str] = NO_HEADERS) -> Completion | Failure:
        """Send one request. Raises nothing but CancelledError."""
        try:
            content = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            return Failure(Status.REQUEST_ERROR, f"the request cannot be written as JSON: {error}", pause=True)
        try:
            reply = await self._reply(content, headers)
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
        return self._redactor.outcome(of_reply(reply, time.time(), self._read))

    async def close(self) -> None:
        await self._client.aclose()

    async def _reply(self, content: bytes, headers: Mapping[str, str]) -> Reply | None:
        """The whole reply, or None when its body is larger than the limit."""
        async with self._client.stream("POST", self.url, content=content, headers=dict(headers)) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > BODY_LIMIT:
                    return None
            return Reply(response.status_code, dict(response.headers), self._redactor.body(bytes(body)))


def key_headers(connection: Connection, usual: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """The header that carries the key: the usual one, or the one that the study file names."""
    key = (connection.key or "").strip()
    if not key:
        return {}
    return {connection.key_header: key} if connection.key_header else usual(key)
