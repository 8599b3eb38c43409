"""What an exception from the transport means. Its repr and args are never shown: they can hold the request's headers.

The transport maps refused, unresolved, reset, closed and timed-out connections all to ``httpx.ConnectTimeout``, so the
original aiohttp exception, kept as ``__cause__``, decides.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import aiohttp
import httpx

from evaltui.core.records import Failure
from evaltui.core.status import Status
from evaltui.providers.classify import Rule, sentence

_UNUSABLE: Final = Rule(Status.REQUEST_ERROR, pause=True, hint="the URL cannot be used")


def _network(hint: str) -> Rule:
    return Rule(Status.NETWORK_ERROR, retry=True, hint=hint)


BY_TYPE: Final[Mapping[type[BaseException], Rule]] = {
    aiohttp.ClientConnectorCertificateError: Rule(
        Status.NETWORK_ERROR, pause=True, hint="the server's certificate is not trusted"
    ),
    aiohttp.ClientConnectorSSLError: _network("no secure connection could be made; is it https at all?"),
    aiohttp.ClientConnectorDNSError: _network("the host name could not be resolved"),
    aiohttp.ClientProxyConnectionError: _network("no connection to the proxy"),
    aiohttp.ClientHttpProxyError: _network("the proxy refused the connection"),
    aiohttp.ConnectionTimeoutError: _network("no connection within the time allowed for connecting"),
    aiohttp.ServerTimeoutError: _network("the connection timed out"),
    aiohttp.ClientConnectorError: _network("no connection"),
    aiohttp.ServerDisconnectedError: _network("the server closed the connection without an answer"),
    aiohttp.ClientOSError: _network("the connection broke"),
    aiohttp.ClientConnectionError: _network("the connection broke"),
    aiohttp.ClientPayloadError: _network("the answer was cut off before its end"),
    aiohttp.ClientResponseError: Rule(Status.SERVER_ERROR, retry=True, hint="the answer is not valid HTTP"),
    aiohttp.InvalidURL: _UNUSABLE,
    httpx.UnsupportedProtocol: _UNUSABLE,
    httpx.DecodingError: Rule(Status.SERVER_ERROR, retry=True, hint="the answer's compression is broken"),
    httpx.TimeoutException: _network("the connection timed out"),
    httpx.TransportError: _network("the connection broke"),
    OSError: _network("the connection broke"),
}
"""Most particular first: the first type that fits decides."""


def of_exception(error: Exception, where: str) -> Failure:
    """The failure that an exception raised during a call stands for; one that is not known counts as the network's.

    ``where`` names the endpoint (host and port) in the message.
    """
    chain = [link for link in (error.__cause__, error) if isinstance(link, Exception)]
    fitting = ((rule, link) for link in chain for known, rule in BY_TYPE.items() if isinstance(link, known))
    rule, link = next(fitting, (_network(f"the call failed ({type(error).__name__})"), error))
    return Failure(rule.status, sentence(f"{where}: {rule.hint}{_reason(link)}"), rule.retry, pause=rule.pause)


def _reason(error: Exception) -> str:
    """The operating system's own words for an error number: nothing from the request can be in them."""
    number = error.errno if isinstance(error, OSError) else None
    return f" ({os.strerror(number)})" if number is not None and number > 0 else ""
