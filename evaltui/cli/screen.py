"""Opens the screen, and says on leaving what goes on without it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evaltui.core.errors import EvaltuiError


def can_draw() -> bool:
    """Whether there is a terminal that can show the screen; Textual draws on stderr."""
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)) and os.environ.get(
        "TERM", "dumb"
    ) not in ("", "dumb")


def open_ledger(given: str | None) -> None:
    """The app on the ledger of studies."""
    from evaltui.cli.options import database_path

    open_screen(database_path(given), study_id=None, owner=True)


def open_screen(db: Path, *, study_id: str | None, owner: bool) -> None:
    """Show one study, or the ledger; blocks until the screen is left.

    Raises:
        EvaltuiError: there is no terminal to draw on.
    """
    if not can_draw():
        raise EvaltuiError("this terminal cannot show the screen: use --headless, or evaltui report STUDY")
    from evaltui.cli.launch import EngineLauncher
    from evaltui.cli.output import talk
    from evaltui.tui.app import EvaltuiApp

    app = EvaltuiApp(db, study_id=study_id, launcher=EngineLauncher(db) if owner else None)
    app.run()
    for sentence in app.farewell():
        talk(sentence)
    if app.return_code:
        raise EvaltuiError("the screen ended with an error; the study and its results are untouched")
