"""The address that is really called, from whatever form of base URL was pasted."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from evaltui.core.errors import EvaltuiError

_CHAT: Final = "/chat/completions"
_MESSAGES: Final = "/messages"


def chat_url(base_url: str) -> str:
    """The chat completions URL of an endpoint, in canonical form.

    Accepted: the bare host (``/v1`` is added), any path with or without ``/v1`` and slashes, the whole path, blanks
    around it, doubled slashes; a query stays a query. Raises EvaltuiError, never quoting a password, for a URL without
    scheme or host, with another scheme, with credentials, or that leads to the plain-prompt endpoint.
    """
    text, parts, path = _read(base_url)
    if not path:
        path = f"/v1{_CHAT}"
    elif not path.endswith(_CHAT):
        if path.endswith("/completions"):
            meant = path.removesuffix("/completions") + _CHAT
            raise EvaltuiError(f"base URL {text!r} is the plain-prompt endpoint; did you mean …{meant}?")
        path += _CHAT
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, parts.query, ""))


def messages_url(base_url: str) -> str:
    """The messages URL of an Anthropic endpoint, from the same forms of base URL. Raises as :func:`chat_url` does."""
    _, parts, path = _read(base_url)
    if not path:
        path = f"/v1{_MESSAGES}"
    elif not path.endswith(_MESSAGES):
        path += _MESSAGES
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, parts.query, ""))


def _read(base_url: str) -> tuple[str, SplitResult, str]:
    """The text without blanks around it, its parts, and its path without doubled or closing slashes."""
    text = base_url.strip()
    if "@" in text.partition("?")[0]:
        raise EvaltuiError(
            "the base URL holds a user name or password; take them out and name the environment variable that holds "
            "the key in api_key_env"
        )
    parts = _split(text)
    return text, parts, re.sub(r"/{2,}", "/", parts.path).rstrip("/")


def _split(text: str) -> SplitResult:
    if not text:
        raise EvaltuiError("the base URL is empty; write something like http://127.0.0.1:8000/v1")
    if "://" not in text:
        raise EvaltuiError(f"base URL {text!r} has no scheme; did you mean http://{text.lstrip('/')}?")
    if re.search(r"[\s\x00-\x1f\x7f\\]", text):
        raise EvaltuiError(f"base URL {text!r} has a blank, backslash or control character in it")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise EvaltuiError(f"base URL {text!r} cannot be read: {error}") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise EvaltuiError(f"base URL {text!r} must begin with http:// or https://")
    if not host or port == 0:
        raise EvaltuiError(f"base URL {text!r} names no {'host' if not host else 'port that can be called'}")
    return parts


def is_loopback(url: str) -> bool:
    """Whether ``url`` leads to this machine by name or number, so that no proxy may come between."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
