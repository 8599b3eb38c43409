"""The HTTP client of one endpoint: httpx's API over aiohttp's connections.

httpx's own pool collapses above about a hundred calls in flight. Concurrency is the engine's, so nothing is limited
here: waiting for a connection would be counted as the model's time.
"""

from __future__ import annotations

import http.cookiejar
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
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


def make_client(url: str, headers: dict[str, str]) -> httpx.AsyncClient:
    """A client for calls to ``url``: no deadline but for connecting, no redirects, no cookies.

    A proxy of the environment is used except for loopback. Raises EvaltuiError for one that cannot be used.
    """
    loopback = is_loopback(url)
    no_cookies = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=()))
    return httpx.AsyncClient(
        transport=_Transport(proxy=None if loopback else _proxy_of(url)),
        headers=headers,
        cookies=no_cookies,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
        follow_redirects=False,
    )


def _proxy_of(url: str) -> httpx.Proxy | None:
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise EvaltuiError(
            f"the environment names a {urlsplit(proxy).scheme} proxy for {parts.hostname}, and only http proxies can "
            "be used; set NO_PROXY for that host or another proxy"
        )
    return httpx.Proxy(proxy)
