"""``evaltui init``: files to start from."""

from __future__ import annotations

from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.core.errors import EvaltuiError, Fault, InputError


@click.command(short_help=VERBS["init"])
@click.argument("folder", default=".", type=click.Path(path_type=Path, file_okay=False))
def init(folder: Path) -> None:
    """Write a commented study file, a small data set and a prompt into FOLDER. Nothing is overwritten."""
    from evaltui.cli.output import talk
    from evaltui.config.starter import starter_files

    files = starter_files()
    there = [name for name in files if (folder / name).exists()]
    if there:
        raise InputError(str(folder), [Fault(name, "exists already; choose another folder") for name in there])
    try:
        for name, text in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            talk(f"wrote {target}")
    except OSError as error:
        raise EvaltuiError(f"{folder}: cannot be written: {error.strerror}") from None
    study = next(name for name in files if name.endswith(".toml"))
    talk(f"next: evaltui check {folder / study}, then evaltui run {folder / study}")
