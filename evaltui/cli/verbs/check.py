"""``evaltui check``: what a study file asks for, before anything is spent."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import config_argument, json_option


@click.command(short_help=VERBS["check"])
@config_argument
@json_option
@click.option("--ping", is_flag=True, help="Send one request per endpoint.")
def check(config: Path, as_json: bool, ping: bool) -> None:
    """Validate CONFIG and its data set; print pins, warnings, requests, tokens and price."""
    from dataclasses import asdict

    from evaltui.cli.launch import check as checked_file
    from evaltui.cli.output import print_json, print_text
    from evaltui.engine.ping import ping as send_pings
    from evaltui.engine.plan import preview

    checked = checked_file(config)
    shown = preview(checked.config, checked.plan, notices=checked.notices)
    pings = send_pings(checked.config, checked.plan, shown) if ping else ()
    if as_json:
        document = asdict(shown)
        if ping:
            document["ping"] = [asdict(result) for result in pings]
        print_json(document)
    else:
        from evaltui.report.preview import render_preview

        print_text(render_preview(shown, pings))
    failed = [result for result in pings if not result.ok]
    if failed:
        from evaltui.core.errors import StudyStoppedError

        raise StudyStoppedError("; ".join(f"{result.endpoint}: {result.message}" for result in failed))
