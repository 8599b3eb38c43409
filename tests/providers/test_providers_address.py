"""The URL that is called, from whatever was pasted."""

from __future__ import annotations

import pytest

from evaltui.core.errors import EvaltuiError
from evaltui.providers.address import is_loopback
from evaltui.providers.openai import chat_url


@pytest.mark.parametrize(
    ("pasted", "called"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1/chat/completions"),
        (" http://127.0.0.1:8000/v1 \n", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://127.0.0.1:8000//v1", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://h/v1?api-version=2", "http://h/v1/chat/completions?api-version=2"),
        (
            "https://h/openai/deployments/x?api-version=2",
            "https://h/openai/deployments/x/chat/completions?api-version=2",
        ),
        ("HTTP://Host/v1#part", "http://host/v1/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
    ],
)
def test_every_form_leads_to_the_chat_path(pasted: str, called: str):
    assert chat_url(pasted) == called


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("", "is empty"),
        ("127.0.0.1:8000/v1", "did you mean http://127.0.0.1:8000/v1?"),
        ("localhost:8000", "no scheme"),
        ("ftp://h/v1", "must begin with http"),
        ("http:///v1", "names no host"),
        ("http://h:99999/v1", "cannot be read"),
        ("http://h/v 1", "has a blank"),
        ("http://h/v1/completions", "did you mean …/v1/chat/completions?"),
    ],
)
def test_what_cannot_be_called_is_refused_with_a_sentence(pasted: str, said: str):
    with pytest.raises(EvaltuiError) as caught:
        chat_url(pasted)
    assert said in str(caught.value)


@pytest.mark.parametrize("pasted", ["http://user:CANARYPW@127.0.0.1:1/v1", "user:CANARYPW@h/v1", "http://CANARY@h"])
def test_credentials_in_the_url_are_refused_and_not_quoted(pasted: str):
    with pytest.raises(EvaltuiError, match="api_key_env") as caught:
        chat_url(pasted)
    assert "CANARY" not in str(caught.value)


def test_loopback_is_known_by_name_and_by_number():
    assert all(is_loopback(f"http://{host}:1/v1") for host in ("localhost", "127.0.0.1", "127.8.8.8", "[::1]"))
    assert not any(is_loopback(f"http://{host}/v1") for host in ("example.org", "10.0.0.1", "localhost.example.org"))
