"""``evaltui check``: what a study file asks for, before anything is spent."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import config_argument, json_option


@click.command(short_help=VERBS["check"])
@config_argument
@json_option
@click.option("--ping", is_flag=True, help="Try each endpoint out with a few short calls.")
def check(config: Path, as_json: bool, ping: bool) -> None:
    """Validate CONFIG and its data set; print pins, warnings, requests, tokens and price."""
    from dataclasses import asdict

    from evaltui.cli.launch import check as checked_file
    from evaltui.cli.output import print_json, print_text
    from evaltui.engine.plan import preview
    from evaltui.engine.probe import all_used, probe

    checked = checked_file(config)
    shown = preview(checked.config, checked.plan, notices=checked.notices)
    probes = probe(checked.config, checked.plan, all_used(checked.config)) if ping else ()
    if as_json:
        document = asdict(shown)
        if ping:
            document["ping"] = [asdict(result) for result in probes]
        print_json(document)
    else:
        from evaltui.report.preview import render_preview

        print_text(render_preview(shown, probes))
    failed = [result for result in probes if not result.ok]
    if failed:
        from evaltui.core.errors import StudyStoppedError

        raise StudyStoppedError("; ".join(f"{result.endpoint}: {result.message}" for result in failed))
