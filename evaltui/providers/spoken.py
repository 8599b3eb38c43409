"""What commands, functions and recordings are asked and answer: a document, or plain text."""

from __future__ import annotations

import json
from typing import Any

from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.providers.chat_body import Answer, as_name, as_text, read_usage
from evaltui.providers.classify import completion_of, sentence


def request_document(request: Request) -> dict[str, object]:
    """A call as data: the messages, the decoding settings that are set, and which cell it is for."""
    decoding, cell = request.decoding, request.cell
    settings = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        "seed": decoding.seed,
    }
    return {
        "prompt": plain_prompt(request),
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "model": decoding.model,
        **{name: value for name, value in settings.items() if value is not None},
        **decoding.extra_body,
        "cell": {"arm": cell.arm, "repeat": cell.repeat, "item": cell.item_id, "attempt": request.attempt},
    }


def plain_prompt(request: Request) -> str:
    """All messages as one text, the system prompt first."""
    return "\n\n".join(message.content for message in request.messages)


def read_result(value: object, who: str) -> Completion | Failure:
    """The outcome of what a command or function answered: a text, or a table with a ``text`` or an ``error``.

    The other keys of a table are ``finish_reason``, ``model``, ``fingerprint``, ``reasoning``, ``usage`` (as an
    OpenAI-compatible server reports it) and, beside an error, ``retry``.
    """
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        return Failure(Status.SERVER_ERROR, f"{who} answered neither a text nor a table: {str(value)[:100]}")
    if value.get("error"):
        said = value["error"] if isinstance(value["error"], str) else json.dumps(value["error"], default=str)
        return Failure(Status.SERVER_ERROR, sentence(f"{who}: {said}"), retry=value.get("retry") is True)
    if not isinstance(value.get("text"), str):
        return Failure(Status.SERVER_ERROR, f"{who} answered a table without a text")
    return completion_of(
        Answer(
            text=value["text"],
            reasoning=as_text(value.get("reasoning")),
            refusal="",
            finish_reason=as_name(value.get("finish_reason")),
            model=as_name(value.get("model")),
            fingerprint=as_name(value.get("fingerprint")),
            usage=read_usage(value.get("usage")),
        )
    )


def read_json(text: bytes, who: str) -> Completion | Failure:
    """The outcome of a line or a whole output of JSON; anything else is the command's failure."""
    try:
        value: Any = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        said = text.decode("utf-8", "replace")[:200]
        return Failure(Status.SERVER_ERROR, sentence(f"{who} did not answer JSON: {said}"), retry=True)
    return read_result(value, who)
