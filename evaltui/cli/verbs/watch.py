"""``evaltui watch``: follow a study, read-only."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, study_argument


@click.command(short_help=VERBS["watch"])
@study_argument
@db_option
def watch(study: str, db: Path) -> None:
    """Follow STUDY on screen, whether it runs here, elsewhere or has finished. Nothing is written."""
    from evaltui import store
    from evaltui.cli.output import print_report, talk
    from evaltui.cli.screen import can_draw, open_screen

    study_id = store.resolve(db, study).id
    if can_draw():
        open_screen(db, study_id=study_id, owner=False)
    else:
        talk("no terminal to draw on; this is the report as it stands")
        print_report(db, study_id, as_json=False)
