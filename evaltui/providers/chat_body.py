"""Reads the body of a chat completion, whatever a server or a gateway made of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from evaltui.core.records import Usage

_NAME_LIMIT: Final = 200
BROKEN_OFF: Final = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Finish reasons by which servers say that they failed part-way."""
_TAG = re.compile(r"<[^<>]*>")


class NotAnAnswerError(Exception):
    """The body is not a chat completion; the message says what it is instead."""


@dataclass(frozen=True, slots=True)
class BodyError:
    """An error as a body states it: ``code`` and ``kind`` are lower case, empty where absent; ``http`` is a status."""

    message: str
    code: str = ""
    kind: str = ""
    http: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the first of ``choices`` choices of a completion holds; ``text`` is empty where the content was null."""

    text: str
    reasoning: str
    refusal: str
    finish_reason: str | None
    model: str | None
    fingerprint: str | None
    usage: Usage
    choices: int = 1


def parse(body: bytes) -> object:
    """The JSON of a body; bytes that are not UTF-8 become replacement characters. Raises NotAnAnswerError."""
    text = body.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not text.strip():
        raise NotAnAnswerError("the body is empty")
    if text.lstrip().startswith("<"):
        raise NotAnAnswerError(f"an HTML page instead of JSON: {_without_tags(text)}")
    if text.lstrip().startswith(("data:", "event:")):
        raise NotAnAnswerError(f"a stream of events instead of one answer: {text[:200]}")
    raise NotAnAnswerError(f"the body is not JSON: {text[:2000]}")


def read_error(value: object) -> BodyError | None:
    """The error that a JSON body states, in any of the forms seen in public: None when it states none."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if isinstance(error, dict):
        return _error_of(error)
    if isinstance(error, str) and error:
        return BodyError(error)
    if value.get("object") == "error" or ("choices" not in value and ("message" in value or "detail" in value)):
        return _error_of(value)
    return None


def read_answer(value: object) -> Answer:
    """Raises NotAnAnswerError when there is no choice with a message in it."""
    if not isinstance(value, dict):
        raise NotAnAnswerError(f"the body is JSON but no object: {str(value)[:100]}")
    choices = value.get("choices")
    choice = _first_choice(choices)
    if choice is None:
        raise NotAnAnswerError("the answer has no choices")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NotAnAnswerError("the answer has a choice without a message")
    text, thought = _content(message.get("content"))
    return Answer(
        text=text,
        reasoning=as_text(message.get("reasoning_content")) or as_text(message.get("reasoning")) or thought,
        refusal=as_text(message.get("refusal")),
        finish_reason=as_name(choice.get("finish_reason")),
        model=as_name(value.get("model")),
        fingerprint=as_name(value.get("system_fingerprint")),
        usage=read_usage(value.get("usage")),
        choices=len(choices) if isinstance(choices, list) else 1,
    )


def choice_error(value: object) -> BodyError | None:
    """The error inside the first choice: a gateway's way to say that the upstream failed after status 200."""
    choice = _first_choice(value.get("choices") if isinstance(value, dict) else None)
    if choice is None:
        return None
    error = choice.get("error")
    if isinstance(error, dict):
        return _error_of(error)
    ended = choice.get("finish_reason")
    return BodyError("the upstream failed") if isinstance(ended, str) and ended in BROKEN_OFF else None


def _first_choice(choices: object) -> dict[str, object] | None:
    """The choice with index 0, else the first: one call gives one answer, whatever else was sent along."""
    found = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return next((choice for choice in found if choice.get("index") == 0), found[0] if found else None)


def _error_of(error: dict[str, object]) -> BodyError:
    code, kind = error.get("code"), error.get("type")
    inner = error.get("innererror")
    kinds = [kind, error.get("status"), inner.get("code") if isinstance(inner, dict) else None]
    message = next((error[key] for key in ("message", "detail", "error") if error.get(key)), "")
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    http = int(code) if isinstance(code, int | str) and re.fullmatch(r"[1-5]\d\d", str(code)) else None
    return BodyError(message, _lower(code), " ".join(filter(None, map(_lower, kinds))), http)


def _content(content: object) -> tuple[str, str]:
    """(answer, reasoning) of a message's content: text, null, or a list of parts."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        raise NotAnAnswerError(f"the message's content is neither text nor a list of parts: {str(content)[:100]}")
    parts = [part for part in content if isinstance(part, dict)]
    answer = "".join(as_text(part.get("text")) for part in parts if part.get("type") in ("text", "output_text", None))
    thought = "".join(as_text(part.get("thinking")) for part in parts if part.get("type") == "thinking")
    return answer, thought


def plain_answer(text: str) -> Answer:
    """An answer of which nothing but its text is known."""
    return Answer(text, "", "", None, None, None, Usage())


def read_usage(usage: object) -> Usage:
    """Token counts as an OpenAI-compatible server reports them; what is strange is not known."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens")), as_count(cached))


def as_count(value: object) -> int | None:
    """A token count that can be added up and stored, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else None


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_name(value: object) -> str | None:
    return value[:_NAME_LIMIT] if isinstance(value, str) and value else None


def _lower(value: object) -> str:
    return str(value).lower()[:_NAME_LIMIT] if isinstance(value, str | int) else ""


def _without_tags(text: str) -> str:
    return " ".join(_TAG.sub(" ", text[:4000]).split())[:2000]
