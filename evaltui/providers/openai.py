"""OpenAI-compatible chat completions: hosted, vLLM, llama.cpp, Ollama, Azure and whoever speaks the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evaltui.core.records import Completion, Failure, Request
from evaltui.providers.address import chat_url
from evaltui.providers.cell_header import CELL_HEADER, encode_cell, name_of
from evaltui.providers.chat_body import read_answer
from evaltui.providers.http import Connection, HttpEndpoint, key_headers

__all__ = ["Dialect", "OpenAIProvider", "chat_url", "request_body"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server calls the limit on an answer's tokens, and which parameters it is not to be sent."""

    token_limit: str = "max_tokens"
    omit: frozenset[str] = frozenset()


PLAIN: Final = Dialect()
NO_CONNECTION: Final = Connection()


class OpenAIProvider:
    """One endpoint. ``cell_header`` names the cell in each request, for simulator endpoints.

    Raises EvaltuiError for a base URL that cannot be used, and as :class:`HttpEndpoint` does.
    """

    def __init__(
        self,
        base_url: str,
        connection: Connection = NO_CONNECTION,
        dialect: Dialect = PLAIN,
        *,
        cell_header: bool = False,
    ) -> None:
        own = key_headers(connection, lambda key: {"Authorization": f"Bearer {key}"})
        self._http = HttpEndpoint(chat_url(base_url), connection, own, read_answer)
        self._dialect = dialect
        self._cell_header = cell_header

    @property
    def url(self) -> str:
        """The URL that is really called."""
        return self._http.url

    async def complete(self, request: Request) -> Completion | Failure:
        """Send one request. Raises nothing but CancelledError."""
        extra = {CELL_HEADER: encode_cell(name_of(request))} if self._cell_header else {}
        return await self._http.post(request_body(request, self._dialect), extra)

    async def close(self) -> None:
        await self._http.close()


def request_body(request: Request, dialect: Dialect = PLAIN) -> dict[str, object]:
    """The body as sent: only parameters that are set and taken, then the arm's extra fields, which win."""
    decoding = request.decoding
    optional = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "seed": decoding.seed,
    }
    sent = {name: value for name, value in optional.items() if value is not None and name not in dialect.omit}
    if "max_tokens" in sent:
        sent[dialect.token_limit] = sent.pop("max_tokens")
    return {
        "model": decoding.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        **sent,
        **decoding.extra_body,
    }
