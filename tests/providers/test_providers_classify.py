"""The table from an HTTP answer to what it means."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.records import Completion, Failure, Usage
from evaltui.core.status import Status
from evaltui.providers.classify import MESSAGE_LIMIT, Reply, of_reply
from evaltui.providers.retry_after import wait_seconds

NOW = 1_700_000_000.0


def of(status: int, body: object, headers: dict[str, str] | None = None) -> Completion | Failure:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return of_reply(Reply(status, headers or {}, raw), NOW)


def error(message: str = "no", **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "expected", "retry", "pause"),
    [
        (400, error(code="context_length_exceeded"), Status.REQUEST_ERROR, False, False),
        (400, {"object": "error", "message": "too long", "code": 400}, Status.REQUEST_ERROR, False, False),
        (400, error(code="model_not_found"), Status.REQUEST_ERROR, False, True),
        (401, error(code="invalid_api_key"), Status.REQUEST_ERROR, False, True),
        (402, error(), Status.QUOTA, False, True),
        (403, error(), Status.REQUEST_ERROR, False, True),
        (404, {"detail": "Not Found"}, Status.REQUEST_ERROR, False, True),
        (404, error(type="NotFoundError", code=404), Status.REQUEST_ERROR, False, True),
        (405, b"", Status.REQUEST_ERROR, False, True),
        (408, b"", Status.SERVER_ERROR, True, False),
        (409, error(), Status.SERVER_ERROR, True, False),
        (413, b"<html>413</html>", Status.REQUEST_ERROR, False, False),
        (422, {"detail": [{"loc": ["body"], "msg": "bad"}]}, Status.REQUEST_ERROR, False, False),
        (429, error(code="rate_limit_exceeded"), Status.RATE_LIMITED, True, False),
        (429, b"slow down", Status.RATE_LIMITED, True, False),
        (429, error(code="insufficient_quota"), Status.QUOTA, False, True),
        (429, error(type="insufficient_quota"), Status.QUOTA, False, True),
        (500, error(), Status.SERVER_ERROR, True, False),
        (502, b"<html><h1>Bad Gateway</h1></html>", Status.SERVER_ERROR, True, False),
        (503, error("Loading model", code=503), Status.SERVER_ERROR, True, False),
        (529, error(type="overloaded_error"), Status.SERVER_ERROR, True, False),
        (301, b"", Status.REQUEST_ERROR, False, True),
        (200, b"", Status.SERVER_ERROR, True, False),
        (200, b"<html>502 Bad Gateway</html>", Status.SERVER_ERROR, True, False),
        (200, b'{"choices": [{"mess', Status.SERVER_ERROR, True, False),
        (200, b"[" * 100_000, Status.SERVER_ERROR, True, False),
        (200, [1], Status.SERVER_ERROR, True, False),
        (200, {"choices": []}, Status.SERVER_ERROR, True, False),
        (200, {"choices": None, "usage": None}, Status.SERVER_ERROR, True, False),
        (200, error(code=429), Status.RATE_LIMITED, True, False),
        (200, {"error": "model is loading"}, Status.SERVER_ERROR, True, False),
        (200, {"choices": [{"error": {"code": 502}, "message": {}}]}, Status.SERVER_ERROR, True, False),
        (200, {"choices": [{"message": {"content": 7}}]}, Status.SERVER_ERROR, True, False),
    ],
)
def test_failures(status, body, expected, retry, pause):
    failure = of(status, body)
    assert isinstance(failure, Failure)
    assert (failure.status, failure.retry, failure.pause) == (expected, retry, pause)
    assert failure.http_status == status


@pytest.mark.parametrize(
    ("message", "choice", "expected", "text"),
    [
        ({"content": "4"}, {"finish_reason": "stop"}, Status.OK, "4"),
        ({"content": "4"}, {}, Status.OK, "4"),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}]}, {}, Status.OK, "42"),
        ({"content": "The total is"}, {"finish_reason": "length"}, Status.TRUNCATED, "The total is"),
        ({"content": None}, {"finish_reason": "length"}, Status.TRUNCATED, ""),
        ({"content": None}, {"finish_reason": "stop"}, Status.EMPTY, ""),
        ({"content": " \n"}, {"finish_reason": "stop"}, Status.EMPTY, " \n"),
        ({}, {"finish_reason": "stop"}, Status.EMPTY, ""),
        ({"content": None}, {"finish_reason": "content_filter"}, Status.REFUSED, ""),
        ({"content": None, "refusal": "I can't"}, {"finish_reason": "stop"}, Status.REFUSED, "I can't"),
        ({"content": "I can't help with that."}, {"finish_reason": "stop"}, Status.OK, "I can't help with that."),
    ],
)
def test_completions(message, choice, expected, text):
    completion = of(200, {"choices": [{"message": message, **choice}]})
    assert isinstance(completion, Completion)
    assert (completion.status, completion.text) == (expected, text)


@pytest.mark.parametrize("status", [400, 403])
@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_content_filter_is_a_refusal_whatever_the_http_status(status, code):
    assert of(status, error(code=code)).status is Status.REFUSED


def test_a_completion_keeps_what_the_server_said_about_itself():
    body = {
        "model": "m-2026-05-01",
        "system_fingerprint": "fp_1",
        "choices": [{"message": {"content": "4", "reasoning_content": "2+2"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
    }
    assert of(200, body) == Completion(
        "4", Status.OK, "stop", reasoning="2+2", model="m-2026-05-01", fingerprint="fp_1", usage=Usage(12, 3, 8)
    )


@pytest.mark.parametrize("count", [-1, 1.5, True, "12", None, 10**30])
def test_a_token_count_that_cannot_be_one_is_left_out(count):
    body = {"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": count}}
    assert of(200, body).usage == Usage()


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, error("The model `x` does not exist."), "HTTP 404: The model `x` does not exist."),
        (404, {"detail": "Not Found"}, "HTTP 404: Not Found"),
        (
            502,
            b"<html><body><h1>502 Bad\n Gateway</h1></body></html>",
            "HTTP 502: an HTML page instead of JSON: 502 Bad Gateway",
        ),
        (200, {"choices": []}, "HTTP 200: the answer has no choices"),
    ],
)
def test_the_message_is_the_bodys_own_in_one_line(status, body, message):
    assert of(status, body).message.startswith(message)


def test_a_long_message_is_cut_and_its_hint_is_kept():
    message = of(401, error("x" * 10_000)).message
    assert len(message) == MESSAGE_LIMIT
    assert message.endswith("check the key named by api_key_env")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "300"}, 0.3),
        ({"retry-after": "1", "retry-after-ms": "300"}, 0.3),
        ({"retry-after": formatdate(NOW + 3, usegmt=True)}, 3.0),
        ({"retry-after": formatdate(NOW + 903, usegmt=True), "date": formatdate(NOW + 900, usegmt=True)}, 3.0),
        ({"retry-after": formatdate(NOW - 60, usegmt=True)}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
        ({"retry-after": "99999999999"}, 86_400.0),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert wait_seconds(headers, NOW) == seconds


def test_a_failure_that_is_not_retried_has_no_wait():
    assert of(401, error(), {"retry-after": "5"}).wait_s is None
    assert of(503, error(), {"retry-after": "5"}).wait_s == 5.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
MESSAGE = st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON, "reasoning_content": JSON})
CHOICE = st.fixed_dictionaries({}, optional={"message": MESSAGE | JSON, "finish_reason": JSON, "error": JSON})
ANSWER = st.fixed_dictionaries(
    {},
    optional={"choices": st.lists(CHOICE | JSON) | JSON, "usage": JSON, "error": JSON, "model": JSON, "detail": JSON},
)
STATUS = st.integers(100, 599)


@given(status=STATUS, body=st.binary(), headers=st.dictionaries(st.sampled_from(["retry-after", "date"]), st.text()))
def test_any_bytes_are_a_completion_or_a_failure(status, body, headers):
    assert isinstance(of_reply(Reply(status, headers, body), NOW), Completion | Failure)


@given(status=STATUS, answer=ANSWER)
def test_any_json_in_the_shape_of_an_answer_is_a_completion_or_a_failure(status, answer):
    outcome = of(status, answer)
    assert isinstance(outcome, Completion | Failure)
    if isinstance(outcome, Failure):
        assert len(outcome.message) <= MESSAGE_LIMIT
