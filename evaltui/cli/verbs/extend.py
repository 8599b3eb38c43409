"""``evaltui extend``: more repeats of a study."""

from __future__ import annotations

import re
from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, headless_option, json_option, study_argument


def _more(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    if not re.fullmatch(r"\+[1-9]\d{0,3}", value):
        raise click.BadParameter(f"{value!r} is not a number of repeats to add; write +5 for five more")
    return int(value)


@click.command(short_help=VERBS["extend"])
@study_argument
@click.option("--repeats", metavar="+N", required=True, callback=_more, help="How many repeats of every arm to add.")
@db_option
@headless_option
@json_option
def extend(study: str, repeats: int, db: Path, headless: bool, as_json: bool) -> None:
    """Add repeats to STUDY and go on with it, from the database alone.

    A running study takes them up when it has done what it began with.
    """
    from evaltui import store
    from evaltui.cli.launch import control
    from evaltui.cli.output import talk
    from evaltui.cli.running import run_headless
    from evaltui.core.status import Command

    info = store.resolve(db, study)
    total = store.extend(db, info.id, repeats)
    talk(f"{info.design.name} ({info.id}) has {total} repeats now")
    if info.live:
        talk(f"its engine goes on with them; evaltui watch {info.id} follows it")
    elif headless or as_json:
        run_headless(db, info.id, as_json=as_json)
    else:
        talk(control(db, info.id, Command.RESUME))
