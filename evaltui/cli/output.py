"""How a verb prints its answer: JSON for programs, text for people, and talk on stderr."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH_OF_A_FILE: Final = 140


def print_json(document: object) -> None:
    """One JSON document on stdout. Lone surrogates are escaped, so that any console can take it."""
    click.echo(json.dumps(document, ensure_ascii=True, indent=2, allow_nan=False))


def talk(sentence: str) -> None:
    """Something for the person, not for the pipe."""
    from evaltui.core.text import clean

    click.echo(clean(sentence), err=True)


def print_text(text: RenderableType) -> None:
    """A text for people on stdout: as wide as the terminal, and wide enough for its tables where there is none."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_OF_A_FILE
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    with console.capture() as drawn:
        console.print(text)
    # Printed by click: where the reader has gone, Rich would end the process there and then with exit code 1.
    click.echo(drawn.get(), nl=False)


def print_report(db: Path, study_id: str, *, as_json: bool) -> None:
    """The report of a study on stdout."""
    from evaltui.report.read import read

    summary = read(db, study_id)
    if as_json:
        from evaltui.report.document import to_document

        print_json(to_document(summary))
        return
    from evaltui.report.text import render

    print_text(render(summary))
