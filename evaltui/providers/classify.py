"""The one table from what an endpoint did to what that means: a completion, or a failure that says what to do next."""

from __future__ import annotations

from collections.abc import Mapping
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

BY_CODE: Final[Mapping[str, Rule]] = {
    "content_filter": _REFUSED,
    "content_policy_violation": _REFUSED,
    "responsibleaipolicyviolation": _REFUSED,
    "insufficient_quota": _QUOTA,
    "billing_hard_limit_reached": _QUOTA,
    "billing_not_active": _QUOTA,
    "rate_limit_exceeded": _RATE,
    "invalid_api_key": _NO_KEY,
    "authentication_error": _NO_KEY,
    "model_not_found": _NO_MODEL,
    "context_length_exceeded": _ITEM,
}
"""What an error's own code or type decides, whatever the HTTP status."""

BY_HTTP: Final[Mapping[int, Rule]] = {
    401: _NO_KEY,
    402: _QUOTA,
    403: _NO_KEY,
    404: _NO_MODEL,
    405: _NO_ENDPOINT,
    408: _SERVER,
    409: _SERVER,
    410: _NO_MODEL,
    425: _SERVER,
    429: _RATE,
    501: _NO_ENDPOINT,
}
"""What the status decides where no code does. Other 4xx are the item's errors, 5xx the server's, 3xx the address's."""

BY_FINISH: Final[Mapping[str, Status]] = {
    "length": Status.TRUNCATED,
    "max_tokens": Status.TRUNCATED,
    "content_filter": Status.REFUSED,
}


def of_reply(reply: Reply, now: float) -> Completion | Failure:
    """What an HTTP answer means; any bytes whatever give a result. ``now`` is seconds since the epoch."""
    try:
        value = parse(reply.body)
        if not 200 <= reply.status < 300:
            error = read_error(value) or BodyError(str(value)[:MESSAGE_LIMIT])
            return _failure(error, reply, now)
        error_in_200 = read_error(value) or choice_error(value)
        if error_in_200 is not None:
            return _failure(error_in_200, reply, now)
        return _completion(read_answer(value))
    except NotAnAnswerError as error:
        return _failure(BodyError(str(error)), reply, now)


def _completion(answer: Answer) -> Completion:
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
    )


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
        wait_s=wait_seconds(reply.headers, now) if rule.retry else None,
        http_status=reply.status,
        pause=rule.pause,
    )


def _rule(error: BodyError, http: int) -> Rule:
    for word in (error.code, *error.kind.split()):
        if word in BY_CODE:
            return BY_CODE[word]
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
