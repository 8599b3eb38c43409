"""The HTTP client of one endpoint: httpx's API over aiohttp's connections.

httpx's own pool collapses above about a hundred calls in flight. Concurrency is the engine's, so nothing is limited
here: waiting for a connection would be counted as the model's time.
"""

from __future__ import annotations

import http.cookiejar
import os
import ssl
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import proxy_bypass

import aiohttp
import certifi
import httpx
from httpx_aiohttp import AiohttpTransport

from evaltui.core.errors import EvaltuiError
from evaltui.providers.address import is_loopback

CONNECT_S: Final = 15.0
_KEEPALIVE_S: Final = 30.0


class _Transport(AiohttpTransport):
    """Without a limit on connections, and without the cookies that would carry state from item to item."""

    def get_client(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, ssl=self.ssl_context, keepalive_timeout=_KEEPALIVE_S)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def make_client(
    url: str, headers: dict[str, str], ca_bundle: Path | None = None, *, trust_env: bool = True
) -> tuple[httpx.AsyncClient, str | None]:
    """A client for calls to ``url``, and the name of the environment variable whose proxy it goes through, if any.

    No deadline but for connecting, no redirects, no cookies. With ``trust_env`` a proxy of the environment is used
    except for loopback, and so are the authorities of SSL_CERT_FILE or SSL_CERT_DIR; ``ca_bundle`` goes before these.

    Raises:
        EvaltuiError: a proxy or a file of certificates cannot be used; it names the variable or key at fault.
    """
    variable = None if is_loopback(url) or not trust_env else _proxy_variable(urlsplit(url))
    no_cookies = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=()))
    client = httpx.AsyncClient(
        transport=_Transport(
            verify=_authorities(url, ca_bundle, trust_env=trust_env),
            proxy=None if variable is None else _proxy_of(variable),
        ),
        headers=headers,
        cookies=no_cookies,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
        follow_redirects=False,
    )
    return client, variable


def _proxy_variable(parts: SplitResult) -> str | None:
    """The variable that names the proxy for a URL: the scheme's before the common one, lower case before upper."""
    if proxy_bypass(parts.hostname or ""):
        return None
    # HTTP_PROXY in upper case is a request header in CGI programs; evaltui is none, and curl's caution is not needed.
    names = [f"{scheme}_proxy" for scheme in (parts.scheme, "all")]
    return next((name for lower in names for name in (lower, lower.upper()) if os.environ.get(name, "").strip()), None)


def _proxy_of(variable: str) -> httpx.Proxy:
    text = os.environ[variable].strip()
    text = text if "://" in text else f"http://{text}"
    scheme = text.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        raise EvaltuiError(
            f"the environment variable {variable} names a {scheme[:20]} proxy, and only http proxies can be used; set "
            "NO_PROXY for the endpoint's host, another proxy, or trust_env = false in the endpoint"
        )
    try:
        # urlsplit looks at a port only when it is asked for.
        if not urlsplit(text).hostname or urlsplit(text).port == 0:
            raise ValueError
        return httpx.Proxy(text)
    except (ValueError, httpx.InvalidURL):
        raise EvaltuiError(
            f"the environment variable {variable} is no address of a proxy; one looks like http://proxy.example:3128"
        ) from None


def _authorities(url: str, ca_bundle: Path | None, *, trust_env: bool) -> ssl.SSLContext:
    """Whom to believe: the endpoint's own bundle, else the environment's, else the common authorities."""
    if urlsplit(url).scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_bundle is not None:
        return _trusting("ca_bundle", ca_bundle)
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR") if trust_env else ():
        if os.environ.get(variable):
            return _trusting(f"the environment variable {variable}", Path(os.environ[variable]))
    return ssl.create_default_context(cafile=certifi.where())


def _trusting(said_by: str, path: Path) -> ssl.SSLContext:
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except (OSError, ssl.SSLError) as error:
        why = "it holds no certificates in PEM form" if isinstance(error, ssl.SSLError) else error.strerror
        raise EvaltuiError(f"{said_by} names {path}, which cannot be used: {why}") from None
