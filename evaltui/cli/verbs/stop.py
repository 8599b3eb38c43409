"""``evaltui stop``: ask a running study to stop."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, study_argument


@click.command(short_help=VERBS["stop"])
@study_argument
@db_option
def stop(study: str, db: Path) -> None:
    """Ask STUDY to stop once the calls in flight have ended; `evaltui resume` goes on with it."""
    from evaltui.cli.launch import control
    from evaltui.cli.output import talk
    from evaltui.core.status import Command

    talk(control(db, study, Command.STOP))
