"""``evaltui simulate``: the simulator as an HTTP server."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import config_argument
from evaltui.core.errors import EvaltuiError


@click.command(short_help=VERBS["simulate"])
@config_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 picks a free one.")
@click.option("--endpoint", help="Which simulator endpoint of CONFIG; needed where it has several.")
def simulate(config: Path, host: str, port: int, endpoint: str | None) -> None:
    """Serve the simulator of CONFIG as an OpenAI-compatible endpoint, until interrupted.

    Its answers depend on the seed and on what is asked (arm, item, repeat, attempt), never on who asks first.
    """
    import asyncio
    import contextlib
    import signal

    from evaltui.cli.launch import check
    from evaltui.cli.output import talk
    from evaltui.engine.wiring import simulator
    from evaltui.providers.simulator.server import serve

    if not _is_loopback(host):
        raise EvaltuiError(f"--host {host} is not a loopback address: the simulator answers anyone who asks it")
    checked = check(config)
    served = simulator(checked.config, checked.plan, endpoint)

    async def until_ended() -> None:
        serving = asyncio.ensure_future(
            serve(served, host, port, lambda url: talk(f"simulating at {url} (Ctrl-C ends it)"))
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    asyncio.run(until_ended())


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
