"""``evaltui resume``: go on with a study."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, headless_option, json_option, study_argument


@click.command(short_help=VERBS["resume"])
@study_argument
@db_option
@headless_option
@json_option
def resume(study: str, db: Path, headless: bool, as_json: bool) -> None:
    """Go on with STUDY: a live engine resumes; a stopped or crashed one is started again from the database."""
    from evaltui import store
    from evaltui.cli.launch import control
    from evaltui.cli.output import print_report, talk
    from evaltui.cli.running import run_headless
    from evaltui.core.status import Command, StudyState

    info = store.resolve(db, study)
    if info.state is StudyState.FINISHED:
        talk(f"{info.design.name} ({info.id}) is finished: there is nothing left to run")
        if headless or as_json:
            print_report(db, info.id, as_json=as_json)
    elif headless or as_json:
        run_headless(db, info.id, as_json=as_json)
    else:
        talk(control(db, info.id, Command.RESUME))
