"""Endpoints: where answers come from, how long to wait, what they cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import AfterValidator, Field, model_validator

from evaltui.config.secrets import USE_ENVIRONMENT, is_secret_name, looks_like_key
from evaltui.config.tables import Table, function_name
from evaltui.core.simulation import SimulatorSettings

SIGNED: Final = frozenset({"sig", "code", "sas"})
"""Query parameters that hold a secret in signed URLs and function URLs, whatever it looks like."""

LONGEST_CALL_S: Final = 7 * 86_400
"""A deadline beyond a week is a slip of the pen."""

NOT_STORED: Final = "(not stored)"
"""Stands for the value of a header in a stored study: a header may hold a secret whatever it is called."""

VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _url(url: str) -> str:
    url = url.strip()
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"the URL holds a user name or password; {USE_ENVIRONMENT}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the URL needs a scheme and a host, such as http://127.0.0.1:8000/v1")
    if "\\" in url or any(character.isspace() or not character.isprintable() for character in url):
        raise ValueError("the URL holds blanks, backslashes or control characters")
    query = parse_qsl(parts.query, keep_blank_values=True)
    if any(is_secret_name(name) or name.lower() in SIGNED or looks_like_key(value) for name, value in query):
        raise ValueError(f"the URL's query holds a key; {USE_ENVIRONMENT}")
    if _port(parts) == 0:
        raise ValueError("the port of the URL is not a number from 1 to 65535")
    path = parts.path.rstrip("/")
    if path.endswith("/completions") and not path.endswith("/chat/completions"):
        raise ValueError("the URL leads to plain completions; evaltui speaks chat completions: end it with /v1")
    return url


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        return 0


def _variable(name: str) -> str:
    if looks_like_key(name) or not VARIABLE.fullmatch(name):
        raise ValueError("this is the NAME of an environment variable, such as OPENAI_API_KEY, never the key itself")
    return name


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError(f"{name!r} is not a header name")
        if not re.fullmatch(r"[\t\x20-\x7e]*", value):
            raise ValueError(f"the header {name!r} holds characters that HTTP does not carry")
    return headers


class Price(Table):
    """Money per million tokens, in one currency of the user's choice."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


def _key_header(name: str) -> str:
    _headers({name: ""})
    return name


Omitted = Literal["temperature", "top_p", "max_tokens", "seed"]

BELONGS: Final[Mapping[str, tuple[str, ...]]] = {
    "base_url": ("openai", "anthropic", "simulator"),
    "api_key_env": ("openai", "anthropic", "simulator"),
    "headers": ("openai", "anthropic", "simulator"),
    "key_header": ("openai", "anthropic"),
    "ca_bundle": ("openai", "anthropic"),
    "trust_env": ("openai", "anthropic"),
    "omit": ("openai", "anthropic"),
    "probe": ("openai", "anthropic"),
    "token_limit": ("openai",),
    "command": ("command",),
    "mode": ("command",),
    "format": ("command",),
    "function": ("python",),
    "path": ("replay",),
    "simulator": ("simulator",),
}
"""Keys that only some kinds of endpoint have."""

NEEDED: Final[Mapping[str, tuple[str, str]]] = {
    "openai": ("base_url", "http://127.0.0.1:8000/v1"),
    "anthropic": ("base_url", "https://api.anthropic.com"),
    "command": ("command", '["python3", "agent.py"]'),
    "python": ("function", "package.module:function"),
    "replay": ("path", "answers.jsonl"),
}
"""The key without which a kind of endpoint cannot be, with an example."""


class EndpointConfig(Table):
    """One endpoint. A ``simulator`` without ``base_url`` runs in the engine's own process.

    ``token_limit`` is the name under which ``max_tokens`` is sent; ``omit`` are settings that are not sent at all. Both
    hold for every arm of the endpoint and are pinned. ``probe`` says whether `run` tries the endpoint out before it
    starts; None: unless it is on this machine. ``format`` is what a command is given and prints, text unless said
    otherwise, and ``mode`` "lines" keeps it running, a JSON line for each call. ``folder`` is where commands and
    functions start: the study file's.
    """

    kind: Literal["openai", "anthropic", "command", "python", "replay", "simulator"]
    base_url: Annotated[str, AfterValidator(_url)] | None = None
    api_key_env: Annotated[str, AfterValidator(_variable)] | None = None
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(default_factory=dict)
    key_header: Annotated[str, AfterValidator(_key_header)] | None = None
    ca_bundle: Path | None = None
    trust_env: bool = True
    token_limit: Literal["max_tokens", "max_completion_tokens"] | None = None
    omit: list[Omitted] = Field(default_factory=list)
    probe: bool | None = None
    command: Annotated[list[str], Field(min_length=1)] | None = None
    mode: Literal["call", "lines"] = "call"
    format: Literal["text", "json"] | None = None
    function: Annotated[str, AfterValidator(function_name)] | None = None
    path: Path | None = None
    folder: Path | None = None
    timeout_s: float = Field(60.0, gt=0, le=LONGEST_CALL_S)
    retries: int = Field(3, ge=0, le=100)
    retry_timeouts: bool = True
    price: Price | None = None
    simulator: SimulatorSettings | None = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        strange = [
            f"{name} belongs to kind {' or '.join(map(repr, kinds))}, and this endpoint is {self.kind!r}"
            for name, kinds in BELONGS.items()
            if self.kind not in kinds
            and getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True)
        ]
        if strange:
            raise ValueError("; ".join(strange))
        needed, example = NEEDED.get(self.kind, (None, ""))
        if needed is not None and getattr(self, needed) is None:
            raise ValueError(f"an endpoint of kind {self.kind!r} needs {needed}, such as {example}")
        if self.mode == "lines" and self.format == "text":
            raise ValueError('mode = "lines" speaks JSON; format = "text" does not go with it')
        if self.key_header is not None and self.api_key_env is None:
            raise ValueError("key_header names the header of a key, and there is no api_key_env to take the key from")
        return self
