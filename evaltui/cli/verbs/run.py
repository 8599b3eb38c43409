"""``evaltui run``: start or go on with a study."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import config_argument, db_option, headless_option, json_option


@click.command(short_help=VERBS["run"])
@config_argument
@db_option
@headless_option
@json_option
@click.option("--detach", is_flag=True, help="Start the engine and return; `evaltui watch` follows it.")
@click.option("--new", is_flag=True, help="Start another study although one of this name is unfinished.")
@click.option("--repeats", type=click.IntRange(min=1), help="Repeats per arm, instead of the file's.")
@click.option("--max-cost", type=float, metavar="MONEY", help="Stop before this is spent, instead of the file's.")
@click.option("--max-errors", type=float, metavar="SHARE", help="Share of the last 50 calls that pauses the study.")
@click.option("--concurrency", type=int, metavar="N", help="Calls in flight, instead of the file's.")
def run(
    config: Path,
    db: Path,
    headless: bool,
    as_json: bool,
    detach: bool,
    new: bool,
    repeats: int | None,
    max_cost: float | None,
    max_errors: float | None,
    concurrency: int | None,
) -> None:
    """Start the study of CONFIG, or go on with the unfinished one of the same name and pins.

    The engine is a process of its own: closing the screen leaves the study running.
    """
    from evaltui import store
    from evaltui.cli import running
    from evaltui.cli.launch import check
    from evaltui.cli.output import talk
    from evaltui.cli.patience import once_unlocked

    checked = check(config, repeats=repeats, max_cost=max_cost, max_errors=max_errors, concurrency=concurrency)
    checked.insist_keys()
    checked = checked.tried()
    for notice in checked.notices:
        talk(notice)
    opened = once_unlocked(lambda: store.open_study(db, checked.plan, new=new))
    if opened.changed:
        what = "these settings are not applied to a finished study" if opened.finished else "changed settings"
        talk(f"{what}:")
        for change in opened.changed:
            talk(f"  {change}")
    planned = store.resolve(db, opened.study_id).design.repeats
    if planned > checked.plan.design.repeats:
        talk(f"the study was begun with {planned} repeats and keeps them; --new starts another with fewer")
    if detach:
        running.detach(db, opened, as_json=as_json)
    else:
        running.follow(db, opened, headless=headless or as_json, as_json=as_json)
