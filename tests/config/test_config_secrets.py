"""Keys are refused in a study file, and no fault ever shows one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Faults = Callable[..., list[str]]
CANARY = "sk-test-CANARY0123456789"


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('kind = "openai"', f'kind = "openai"\napi_key = "{CANARY}"', "endpoints.main.api_key"),
        ('kind = "openai"', 'kind = "openai"\ntoken = "CANARY"', "endpoints.main.token"),
        ('kind = "openai"', 'kind = "openai"\npassword = "CANARY"', "endpoints.main.password"),
        ('kind = "openai"', f'kind = "openai"\napi_key_env = "{CANARY}"', "endpoints.main.api_key_env"),
        ('kind = "openai"', 'kind = "openai"\napi_key_env = "canary0123456789canary0123456789"', "api_key_env"),
        ('kind = "openai"', 'kind = "openai"\nheaders = { Authorization = "Basic CANARY" }', "headers.Authorization"),
        ('kind = "openai"', 'kind = "openai"\nheaders = { api-key = "CANARY" }', "endpoints.main.headers.api-key"),
        ('kind = "openai"', f'kind = "openai"\nheaders = {{ X-Custom = "{CANARY}" }}', "headers.X-Custom"),
        ("http://127", "http://user:CANARYPW@127", "endpoints.main.base_url"),
        (":8000/v1", ":8000/v1?api_key=CANARY", "endpoints.main.base_url"),
        (":8000/v1", ":8000/v1?sv=2026&sig=CANARY", "endpoints.main.base_url"),
        ("temperature = 0", f'extra_body = {{ auth = "{CANARY}" }}', "arms.baseline.extra_body.auth"),
        ("temperature = 0", 'api_key = "CANARY"', "arms.baseline.api_key"),
        ("temperature = 0", f'temperature = "{CANARY}"', "arms.baseline.temperature"),
        ("[study]", f'api_key = "{CANARY}"\n[study]', "api_key"),
        ("[study]", f'[pins]\nnote = "{CANARY}"\n[study]', "pins.note"),
        ("[study]", f'[study]\nname2 = "{CANARY}"', "study.name2"),
    ],
)
def test_a_key_in_the_file_is_refused_and_not_shown(faults: Faults, old: str, new: str, where: str) -> None:
    found = faults((old, new))
    assert any(where in fault and ("api_key_env" in fault or "environment variable" in fault) for fault in found)
    assert "CANARY" not in "\n".join(found).upper()


def test_a_syntax_error_in_a_line_with_a_key_does_not_show_it(faults: Faults) -> None:
    assert "CANARY" not in "\n".join(faults(('kind = "openai"', f'kind = "openai"\napi_key = "{CANARY}')))


def test_names_that_only_resemble_secrets_are_fine(load: Callable[..., object]) -> None:
    load(
        ("temperature = 0", "max_tokens = 5\nextra_body = { top_k = 5, return_tokens = true }"),
        ('kind = "openai"', 'kind = "openai"\napi_key_env = "OPENAI_API_KEY"\nheaders = { X-Team = "noise" }'),
        more='[pins]\ntokenizer = "cl100k"\ncorpus = "sha256 of the corpus: 0123"\n',
    )
