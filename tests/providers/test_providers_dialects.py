"""What servers say in their own ways: limits that reset, reasons for ending, choices, refused parameters."""

from __future__ import annotations

import json

import pytest

from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Completion, Failure
from evaltui.core.status import Status
from evaltui.providers.classify import Reply, of_reply
from evaltui.providers.openai import Dialect, OpenAIProvider, request_body
from evaltui.providers.retry_after import wait_seconds
from evaltui.providers.transport import make_client

NOW = 1_800_000_000.0


def reply(http: int = 200, headers: dict[str, str] | None = None, **body: object) -> Completion | Failure:
    return of_reply(Reply(http, headers or {}, json.dumps(body).encode()), NOW)


def choice(text: str = "4", reason: str | None = "stop", **more: object) -> dict[str, object]:
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason, **more}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-reset-requests": "1s"}, 1),
        ({"x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "2m59.56s"}, 179.56),
        ({"x-ratelimit-reset-requests": "1h0m1s"}, 3601),
        ({"ratelimit-reset": "30"}, 30),
        ({"x-ratelimit-reset": str(int(NOW) + 12)}, 12),
        ({"x-ratelimit-reset": str(int(NOW * 1000) + 1500)}, 1.5),
        ({"anthropic-ratelimit-requests-reset": "2027-01-15T08:00:45Z"}, 45),
        (
            {
                "x-ratelimit-reset-requests": "10s",
                "x-ratelimit-remaining-requests": "5",
                "x-ratelimit-reset-tokens": "20s",
                "x-ratelimit-remaining-tokens": "0",
            },
            20,
        ),
        (
            {
                "anthropic-ratelimit-requests-reset": "2027-01-15T08:10:00Z",
                "anthropic-ratelimit-requests-remaining": "7",
                "anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:05Z",
                "anthropic-ratelimit-tokens-remaining": "0",
            },
            5,
        ),
        ({"x-ratelimit-reset-requests": "8s", "x-ratelimit-reset-tokens": "23h"}, 8),
        ({"x-ratelimit-reset-requests": "10s", "retry-after": "3"}, 3),
        ({"x-ratelimit-reset-requests": "10s", "retry-after-ms": "300"}, 0.3),
        ({"x-ratelimit-reset-requests": "9999h"}, 86_400),
        ({"x-ratelimit-reset-requests": "0s"}, None),
        ({"x-ratelimit-reset-requests": "soon"}, None),
        ({"x-ratelimit-reset-requests": ""}, None),
        ({"x-ratelimit-limit-requests": "10"}, None),
    ],
)
def test_a_limit_is_waited_for_until_it_is_lifted(headers, wait):
    assert wait_seconds(headers, NOW, limited=True) == (None if wait is None else pytest.approx(wait))


def test_reset_headers_say_nothing_about_other_failures():
    assert wait_seconds({"x-ratelimit-reset-requests": "10s"}, NOW) is None
    failure = reply(503, {"x-ratelimit-reset-requests": "10s"}, error={"message": "busy"})
    assert failure.wait_s is None
    limited = reply(429, {"x-ratelimit-reset-requests": "10s"}, error={"message": "slow down"})
    assert (limited.status, limited.wait_s) == (Status.RATE_LIMITED, 10)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (None, Status.OK),
        ("stop", Status.OK),
        ("eos", Status.OK),
        ("tool_calls", Status.OK),
        ("length", Status.TRUNCATED),
        ("MAX_TOKENS", Status.TRUNCATED),
        ("model_length", Status.TRUNCATED),
        ("content_filter", Status.REFUSED),
        ("SAFETY", Status.REFUSED),
        ("abort", Status.SERVER_ERROR),
        ("insufficient_system_resource", Status.SERVER_ERROR),
    ],
)
def test_known_finish_reasons(reason, status):
    outcome = reply(choices=[choice(reason=reason)])
    assert outcome.status is status
    if isinstance(outcome, Completion):
        assert outcome.oddities == ()


def test_an_unknown_finish_reason_is_scored_and_told():
    outcome = reply(choices=[choice(reason="galactic")])
    assert (outcome.status, outcome.text) == (Status.OK, "4")
    assert outcome.oddities == ("ends answers with 'galactic', which is not known here; they count as whole answers",)


def test_of_several_choices_the_first_counts_and_that_is_told():
    outcome = reply(choices=[choice("5", index=1), choice("4", index=0)])
    assert outcome.text == "4"
    assert outcome.oddities == ("sends 2 choices with an answer; the first one counts",)


@pytest.mark.parametrize(
    ("http", "code", "status", "pause"),
    [
        (400, "unsupported_parameter", Status.REQUEST_ERROR, True),
        (400, "unsupported_value", Status.REQUEST_ERROR, True),
        (400, "invalid_prompt", Status.REFUSED, False),
        (407, "", Status.NETWORK_ERROR, True),
        (499, "", Status.SERVER_ERROR, False),
    ],
)
def test_errors_by_their_code(http, code, status, pause):
    outcome = reply(http, error={"message": "said", "code": code})
    assert outcome.status is status
    assert (isinstance(outcome, Failure) and outcome.pause) is pause


def test_a_refused_parameter_says_what_to_do():
    said = "Unsupported parameter: 'max_tokens' is not supported with this model."
    outcome = reply(400, error={"message": said, "code": "unsupported_parameter"})
    assert "max_tokens" in outcome.message
    assert "omit of the endpoint" in outcome.message


def test_a_stream_of_events_is_no_answer():
    outcome = of_reply(Reply(200, {}, b'data: {"choices": []}\n\ndata: [DONE]\n'), NOW)
    assert (outcome.status, "a stream of events" in outcome.message) == (Status.SERVER_ERROR, True)


def test_the_token_limit_goes_by_its_name_and_what_is_omitted_is_not_sent(ask):
    request = ask("hi", max_tokens=9, temperature=0.5, seed=3)
    assert request_body(request)["max_tokens"] == 9
    body = request_body(request, Dialect("max_completion_tokens", frozenset({"temperature"})))
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "seed": 3,
        "max_completion_tokens": 9,
    }


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HTTPS_PROXY", "socks5://127.0.0.1:1", "HTTPS_PROXY names a socks5 proxy, and only http proxies"),
        ("https_proxy", "http://user:CANARYPW@host:port", "https_proxy is no address of a proxy"),
        ("ALL_PROXY", "http://", "ALL_PROXY is no address of a proxy"),
        (
            "SSL_CERT_FILE",
            "no-such-file.pem",
            "SSL_CERT_FILE names no-such-file.pem, which cannot be used: No such file",
        ),
        (
            "SSL_CERT_FILE",
            "pyproject.toml",
            "SSL_CERT_FILE names pyproject.toml, which cannot be used: it holds no cert",
        ),
    ],
)
def test_a_variable_at_fault_is_named_before_anything_is_sent(monkeypatch, request, variable, value, said):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(request.config.rootpath)
    monkeypatch.setenv(variable, value)
    with pytest.raises(EvaltuiError, match=said) as raised:
        make_client("https://api.example.com/v1", {})
    assert "CANARY" not in str(raised.value)


async def test_without_trust_in_the_environment_its_variables_do_not_matter(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", "no-such-file.pem")
    client, variable = make_client("https://api.example.com/v1", {}, trust_env=False)
    assert variable is None
    await client.aclose()


async def test_a_proxy_that_is_not_there_is_named_by_its_variable(monkeypatch, ask):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    provider = OpenAIProvider("http://api.example.invalid/v1")
    failure = await provider.complete(ask())
    await provider.close()
    assert failure.status is Status.NETWORK_ERROR
    assert "the proxy that HTTP_PROXY names" in failure.message
