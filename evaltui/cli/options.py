"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

DEFAULT_DB: Final = "evaltui.db"

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _database(ctx: click.Context, _param: click.Parameter, value: str | None) -> Path:
    """``--db`` after the verb, else before it, else EVALTUI_DB, else ``evaltui.db`` here."""
    return database_path(value or ctx.find_root().obj)


def database_path(given: str | None) -> Path:
    """The workspace file that a command works on."""
    return Path(given or os.environ.get("EVALTUI_DB") or DEFAULT_DB)


db_option: Final[Decorator] = click.option(
    "--db", metavar="PATH", callback=_database, help="The database; EVALTUI_DB or evaltui.db where not given."
)
json_option: Final[Decorator] = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
headless_option: Final[Decorator] = click.option(
    "--headless", is_flag=True, help="No screen: progress on stderr, the report on stdout."
)
config_argument: Final[Decorator] = click.argument("config", type=click.Path(path_type=Path))
study_argument: Final[Decorator] = click.argument("study", default="latest", metavar="[STUDY]")
