"""Anthropic's messages: the same questions, asked and answered in another shape.

What is sent and what comes back follow the public reference of the Messages API (version 2023-06-01): the token limit
is required, the system prompt is a field of its own, there is no seed, and errors are typed.
"""

from __future__ import annotations

from typing import Final

from evaltui.core.records import Completion, Failure, Request, Usage
from evaltui.providers.address import messages_url
from evaltui.providers.chat_body import Answer, NotAnAnswerError, as_count, as_name, as_text
from evaltui.providers.http import Connection, HttpEndpoint, key_headers

VERSION: Final = "2023-06-01"
NOT_SENT: Final = frozenset({"seed"})
"""Decoding settings that the API has no parameter for."""


class AnthropicProvider:
    """One endpoint. ``omit`` are parameters that it is not to be sent.

    Raises EvaltuiError for a base URL that cannot be used, and as :class:`HttpEndpoint` does.
    """

    def __init__(self, base_url: str, connection: Connection, omit: frozenset[str] = frozenset()) -> None:
        own = {"anthropic-version": VERSION, **key_headers(connection, lambda key: {"x-api-key": key})}
        self._http = HttpEndpoint(messages_url(base_url), connection, own, read_message)
        self._omit = omit

    @property
    def url(self) -> str:
        """The URL that is really called."""
        return self._http.url

    async def complete(self, request: Request) -> Completion | Failure:
        """Send one request. Raises nothing but CancelledError."""
        return await self._http.post(message_body(request, self._omit))

    async def close(self) -> None:
        await self._http.close()


def message_body(request: Request, omit: frozenset[str] = frozenset()) -> dict[str, object]:
    """The body as sent: system messages apart, only parameters that are set and taken, extra fields last."""
    decoding = request.decoding
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    optional = {
        "system": system or None,
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
    }
    return {
        "model": decoding.model,
        "messages": [
            {"role": message.role, "content": message.content}
            for message in request.messages
            if message.role != "system"
        ],
        **{name: value for name, value in optional.items() if value is not None and name not in omit},
        **decoding.extra_body,
    }


def read_message(value: object) -> Answer:
    """Raises NotAnAnswerError when there is no list of content in it."""
    if not isinstance(value, dict):
        raise NotAnAnswerError(f"the body is JSON but no object: {str(value)[:100]}")
    content = value.get("content")
    if not isinstance(content, list):
        raise NotAnAnswerError("the answer has no content")
    parts = [part for part in content if isinstance(part, dict)]
    return Answer(
        text="".join(as_text(part.get("text")) for part in parts if part.get("type") == "text"),
        reasoning="".join(as_text(part.get("thinking")) for part in parts if part.get("type") == "thinking"),
        refusal="",
        finish_reason=as_name(value.get("stop_reason")),
        model=as_name(value.get("model")),
        fingerprint=None,
        usage=_usage(value.get("usage")),
    )


def _usage(usage: object) -> Usage:
    """``input_tokens`` leaves out what was read from or written to a cache; prompts are counted whole here."""
    if not isinstance(usage, dict):
        return Usage()
    cached = as_count(usage.get("cache_read_input_tokens"))
    parts = [as_count(usage.get("input_tokens")), cached, as_count(usage.get("cache_creation_input_tokens"))]
    prompt = None if parts[0] is None else sum(part or 0 for part in parts)
    return Usage(prompt, as_count(usage.get("output_tokens")), cached)
