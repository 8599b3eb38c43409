"""``evaltui demo``: the main job with nothing to configure."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import headless_option, json_option
from evaltui.core.errors import EvaltuiError


def _demo_database(ctx: click.Context, _param: click.Parameter, value: str | None) -> Path:
    given = value or ctx.find_root().obj
    if given:
        return Path(given)
    from platformdirs import user_data_path

    folder = user_data_path("evaltui", appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaltuiError(f"{folder}: cannot be made: {error.strerror}; name a database with --db") from None
    return folder / "demo.db"


@click.command(short_help=VERBS["demo"])
@click.option("--items", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Items in the set.")
@click.option("--repeats", type=click.IntRange(1, 1000), default=8, show_default=True, help="Runs per arm.")
@click.option("--effect", type=float, default=0.0, show_default=True, help="True difference: -0.02 is two points down.")
@click.option("--seed", type=int, default=1, show_default=True, help="The simulated model's seed.")
@click.option("--speed", type=click.FloatRange(min=0.01), help="1 is real time; 8 where not given headless.")
@click.option("--db", metavar="PATH", callback=_demo_database, help="The database; demo.db in the user data folder.")
@headless_option
@json_option
def demo(
    items: int, repeats: int, effect: float, seed: int, speed: float | None, db: Path, headless: bool, as_json: bool
) -> None:
    """Watch two arms of a simulated model: same model, same items, other numbers.

    There is no difference between the arms unless --effect says so; one run has weather. Each demo is a new study.
    """
    from evaltui import store
    from evaltui.cli.running import follow
    from evaltui.engine.demo import demo_plan

    headless = headless or as_json
    plan = demo_plan(
        n_items=items, repeats=repeats, effect=effect, seed=seed, speed=speed or (HEADLESS_SPEED if headless else 1.0)
    )
    opened = store.open_study(db, plan, new=True)
    follow(db, opened, headless=headless, as_json=as_json)


HEADLESS_SPEED = 8.0
