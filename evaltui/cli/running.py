"""From an opened study to its end: in this process, detached, or with a screen."""

from __future__ import annotations

from pathlib import Path

from evaltui import store
from evaltui.cli import process
from evaltui.cli.output import print_json, print_report, talk
from evaltui.cli.progress import ProgressLine
from evaltui.cli.screen import can_draw, open_screen


def detach(db: Path, opened: store.Opened, *, as_json: bool) -> None:
    """Start the engine of an opened study and return."""
    if not opened.finished:
        process.spawn(db, opened.study_id)
    info = store.resolve(db, opened.study_id)
    if as_json:
        print_json({"study": info.id, "name": info.design.name, "status": info.state})
    elif opened.finished:
        talk(f"study {info.id} is finished already; --new starts another")
    else:
        talk(f"study {info.id} runs; evaltui watch {info.id} follows it")


def follow(db: Path, opened: store.Opened, *, headless: bool, as_json: bool) -> None:
    """Run an opened study and show it; without a terminal to draw on, headless.

    Raises:
        StudyStoppedError: it ended before its last cell (headless only).
    """
    if not headless and not can_draw():
        talk("no terminal to draw on: running headless")
        headless = True
    if opened.finished:
        talk(f"study {opened.study_id} is finished already; --new starts another")
        if headless:
            print_report(db, opened.study_id, as_json=as_json)
            return
    elif headless:
        run_headless(db, opened.study_id, as_json=as_json)
        return
    else:
        process.spawn(db, opened.study_id)
    open_screen(db, study_id=opened.study_id, owner=True)


def run_headless(db: Path, study_id: str, *, as_json: bool) -> None:
    """Run a stored study in this process: progress on stderr, the report on stdout."""
    progress = ProgressLine()
    talk(f"study {study_id} in {db}")
    try:
        ending = process.run_here(db, study_id, progress=progress)
    finally:
        progress.close()
    try:
        print_report(db, study_id, as_json=as_json)
    finally:
        # Also where nobody reads the report any more: whoever waits for this process learns how the study ended.
        process.insist_finished(ending, study_id)
