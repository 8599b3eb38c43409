"""``evaltui report``: what a study found."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from evaltui.cli.group import VERBS
from evaltui.cli.options import db_option, json_option, study_argument
from evaltui.core.errors import EvaltuiError


@click.command(short_help=VERBS["report"])
@study_argument
@db_option
@json_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file, not stdout.")
def report(study: str, db: Path, as_json: bool, form: str, output: Path | None) -> None:
    """Print the report of STUDY: runs, bands, flips, comparisons and warnings."""
    from evaltui.cli.output import print_report

    as_json = as_json or form == "json"
    if output is None:
        print_report(db, study, as_json=as_json)
        return
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_report(db, study, as_json=as_json)
    try:
        output.write_text(printed.getvalue(), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise EvaltuiError(f"{output}: cannot be written: {error.strerror}") from None
