"""The one table from what an endpoint did to what that means: a completion, or a failure that says what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evaltui.core.records import Completion, Failure
from evaltui.core.status import Status
from evaltui.providers.chat_body import (
    Answer,
    BodyError,
    NotAnAnswerError,
    choice_error,
    parse,
    read_answer,
    read_error,
)
from evaltui.providers.retry_after import wait_seconds

MESSAGE_LIMIT: Final = 300
ReadAnswer = Callable[[object], Answer]
"""From the JSON of a good reply to its answer; raises NotAnAnswerError."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer that arrived whole. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Rule:
    """``retry``: the call may pass later. ``pause``: every other call would end the same way. ``hint``: what to do."""

    status: Status
    retry: bool = False
    pause: bool = False
    hint: str = ""


_ITEM: Final = Rule(Status.REQUEST_ERROR)
_REFUSED: Final = Rule(Status.REFUSED)
_QUOTA: Final = Rule(Status.QUOTA, pause=True, hint="the account has no credit left")
_NO_KEY: Final = Rule(Status.REQUEST_ERROR, pause=True, hint="check the key named by api_key_env")
_NO_MODEL: Final = Rule(Status.REQUEST_ERROR, pause=True, hint="check the model's name and the base URL")
_NO_ENDPOINT: Final = Rule(Status.REQUEST_ERROR, pause=True, hint="check the base URL")
_SERVER: Final = Rule(Status.SERVER_ERROR, retry=True)
_RATE: Final = Rule(Status.RATE_LIMITED, retry=True)
_PARAMETER: Final = Rule(
    Status.REQUEST_ERROR,
    pause=True,
    hint="name the parameter in omit of the endpoint, which then holds for all of its arms",
)
_PROXY: Final = Rule(Status.NETWORK_ERROR, pause=True, hint="the proxy of the environment wants a name and password")

BY_CODE: Final[Mapping[str, Rule]] = {
    "content_filter": _REFUSED,
    "content_policy_violation": _REFUSED,
    "responsibleaipolicyviolation": _REFUSED,
    "moderation_blocked": _REFUSED,
    "invalid_prompt": _REFUSED,
    "insufficient_quota": _QUOTA,
    "billing_hard_limit_reached": _QUOTA,
    "billing_not_active": _QUOTA,
    "billing_error": _QUOTA,
    "rate_limit_exceeded": _RATE,
    "rate_limit_error": _RATE,
    "overloaded_error": _SERVER,
    "invalid_api_key": _NO_KEY,
    "authentication_error": _NO_KEY,
    "permission_error": _NO_KEY,
    "model_not_found": _NO_MODEL,
    "context_length_exceeded": _ITEM,
    "unsupported_parameter": _PARAMETER,
    "unsupported_value": _PARAMETER,
    "unknown_parameter": _PARAMETER,
}
"""What an error's own code or type decides, whatever the HTTP status."""

BY_HTTP: Final[Mapping[int, Rule]] = {
    401: _NO_KEY,
    402: _QUOTA,
    403: _NO_KEY,
    404: _NO_MODEL,
    405: _NO_ENDPOINT,
    407: _PROXY,
    408: _SERVER,
    409: _SERVER,
    410: _NO_MODEL,
    425: _SERVER,
    429: _RATE,
    499: _SERVER,
    501: _NO_ENDPOINT,
}
"""What the status decides where no code does. Other 4xx are the item's errors, 5xx the server's, 3xx the address's."""

BY_WORDS: Final[Mapping[str, Rule]] = {"credit balance is too low": _QUOTA}
"""What is only said in words: lower case, anywhere in the error's message."""

BY_FINISH: Final[Mapping[str, Status]] = {
    "length": Status.TRUNCATED,
    "max_tokens": Status.TRUNCATED,
    "max_output_tokens": Status.TRUNCATED,
    "model_length": Status.TRUNCATED,
    "model_context_window_exceeded": Status.TRUNCATED,
    "content_filter": Status.REFUSED,
    "refusal": Status.REFUSED,
    "safety": Status.REFUSED,
    "recitation": Status.REFUSED,
    "prohibited_content": Status.REFUSED,
    "sensitive": Status.REFUSED,
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete"), Status.OK),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call", "pause_turn"), Status.OK),
}
"""What a finish reason says of the answer. One that is not here leaves it as it is: scored, and told as an event."""


def of_reply(reply: Reply, now: float, read: ReadAnswer = read_answer) -> Completion | Failure:
    """What an HTTP answer means; any bytes whatever give a result. ``now`` is seconds since the epoch."""
    try:
        value = parse(reply.body)
        if not 200 <= reply.status < 300:
            error = read_error(value) or BodyError(str(value)[:MESSAGE_LIMIT])
            return _failure(error, reply, now)
        error_in_200 = read_error(value) or choice_error(value)
        if error_in_200 is not None:
            return _failure(error_in_200, reply, now)
        return completion_of(read(value))
    except NotAnAnswerError as error:
        return _failure(BodyError(str(error)), reply, now)


def completion_of(answer: Answer) -> Completion:
    """The completion that an answer is: whole, cut off, refused or empty."""
    status = BY_FINISH.get((answer.finish_reason or "").lower(), Status.OK)
    text = answer.text
    if answer.refusal:
        status, text = Status.REFUSED, text or answer.refusal
    elif status is Status.OK and not text.strip():
        status = Status.EMPTY
    return Completion(
        text=text,
        status=status,
        finish_reason=answer.finish_reason,
        reasoning=answer.reasoning,
        model=answer.model,
        fingerprint=answer.fingerprint,
        usage=answer.usage,
        oddities=tuple(_oddities(answer)),
    )


def _oddities(answer: Answer) -> Iterator[str]:
    if answer.choices > 1:
        yield f"sends {answer.choices} choices with an answer; the first one counts"
    if answer.finish_reason is not None and answer.finish_reason.lower() not in BY_FINISH:
        yield f"ends answers with {answer.finish_reason!r}, which is not known here; they count as whole answers"


def _failure(error: BodyError, reply: Reply, now: float) -> Completion | Failure:
    http = reply.status if not 200 <= reply.status < 300 else error.http or reply.status
    rule = _rule(error, http)
    if rule is _REFUSED:
        return Completion(text="", status=Status.REFUSED, finish_reason=error.code or None)
    said = error.message or "no reason given"
    return Failure(
        status=rule.status,
        message=sentence(f"HTTP {reply.status}: {said}", rule.hint),
        retry=rule.retry,
        wait_s=wait_seconds(reply.headers, now, limited=rule is _RATE) if rule.retry else None,
        http_status=reply.status,
        pause=rule.pause,
    )


def _rule(error: BodyError, http: int) -> Rule:
    for word in (error.code, *error.kind.split()):
        if word in BY_CODE:
            return BY_CODE[word]
    said = error.message.lower()
    for words, rule in BY_WORDS.items():
        if words in said:
            return rule
    if http in BY_HTTP:
        return BY_HTTP[http]
    if 300 <= http < 400:
        return _NO_ENDPOINT
    return _ITEM if 400 <= http < 500 else _SERVER


def sentence(what: str, hint: str = "") -> str:
    """One line of at most ``MESSAGE_LIMIT`` characters, with the hint kept whole."""
    what = " ".join(what.split())
    room = MESSAGE_LIMIT - (len(hint) + 2 if hint else 0)
    what = what if len(what) <= room else what[: room - 1] + "…"
    return f"{what}; {hint}" if hint else what
