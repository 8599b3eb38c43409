"""Any bytes that an endpoint, a command or a function may answer: a status comes out, never an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.records import Completion, Failure
from evaltui.core.status import Status
from evaltui.providers.anthropic import read_message
from evaltui.providers.chat_body import read_answer
from evaltui.providers.classify import MESSAGE_LIMIT, Reply, of_reply
from evaltui.providers.retry_after import LONGEST_S, wait_seconds
from evaltui.providers.spoken import read_json, read_result

NAMES = st.sampled_from(
    ["choices", "message", "content", "text", "error", "code", "type", "finish_reason", "usage", "prompt_tokens"]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["stop", "length", "content_filter", "insufficient_quota", "text", "thinking", "error"])
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(), inner, max_size=5)
)
COMPLETION_LIKE = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": JSON}, optional={"finish_reason": JSON}), max_size=3)},
    optional={"usage": JSON, "model": JSON, "error": JSON},
)
MESSAGE_LIKE = st.fixed_dictionaries(
    {
        "content": st.lists(
            st.fixed_dictionaries({"type": LEAVES}, optional={"text": JSON, "thinking": JSON}), max_size=3
        )
    },
    optional={"stop_reason": JSON, "usage": st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), JSON)},
)
BODIES = st.binary() | st.builds(lambda value: json.dumps(value).encode(), JSON | COMPLETION_LIKE | MESSAGE_LIKE)
STATUSES = st.integers(100, 599)
HEADER_NAMES = st.sampled_from(
    [
        "retry-after",
        "retry-after-ms",
        "date",
        "x-ratelimit-reset-requests",
        "x-ratelimit-remaining-requests",
        "ratelimit-reset",
        "x-ratelimit-reset",
        "anthropic-ratelimit-tokens-reset",
    ]
)
HEADER_VALUES = (
    st.text()
    | st.integers().map(str)
    | st.floats().map(str)
    | st.sampled_from(["6m0s", "20ms", "1h", "Wed, 21 Oct 2015 07:28:00 GMT", "2026-01-01T00:00:00Z", "9" * 400])
)


def insist_named(outcome: object) -> None:
    assert isinstance(outcome, (Completion, Failure))
    assert isinstance(outcome.status, Status)
    if isinstance(outcome, Failure):
        assert outcome.status is not Status.OK
        assert len(outcome.message) <= MESSAGE_LIMIT
        assert outcome.wait_s is None or 0 < outcome.wait_s <= LONGEST_S
    else:
        assert isinstance(outcome.text, str)
        if outcome.status is Status.OK:
            assert outcome.text.strip()


@pytest.mark.parametrize("read", [read_answer, read_message])
@given(body=BODIES, http=STATUSES, headers=st.dictionaries(HEADER_NAMES, HEADER_VALUES))
def test_any_reply_has_a_status(read, body, http, headers):
    insist_named(of_reply(Reply(http, headers, body), 1.8e9, read))


@given(said=BODIES)
def test_any_output_of_a_command_has_a_status(said):
    insist_named(read_json(said, "agent"))


@given(value=JSON | st.binary() | st.sets(st.integers()))
def test_anything_a_function_returns_has_a_status(value):
    insist_named(read_result(value, "agent"))


@given(headers=st.dictionaries(HEADER_NAMES, HEADER_VALUES), now=st.floats(0, 4e9))
def test_any_header_gives_a_wait_within_a_day_or_none(headers, now):
    wait = wait_seconds(headers, now, limited=True)
    assert wait is None or 0 < wait <= LONGEST_S
