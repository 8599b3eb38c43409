"""The command group. A verb's module loads when the verb is called, so that ``--help`` costs no more than click."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final, TextIO

import click

from evaltui import __version__
from evaltui.cli.unheeded import unheeded
from evaltui.core.errors import EvaltuiError

VERBS: Final = {
    "demo": "Watch a simulated model with known noise: nothing to configure.",
    "init": "Write a commented study file and a small data set to start from.",
    "check": "Validate a study file: pins, warnings, requests and price.",
    "run": "Start a study, or go on with an unfinished one.",
    "watch": "Follow a study on screen, read-only.",
    "studies": "List every study in the database.",
    "report": "Print what a study found.",
    "pause": "Ask a running study to pause.",
    "resume": "Go on with a paused, stopped or crashed study.",
    "stop": "Ask a running study to stop; it can be resumed.",
    "extend": "Give a study more repeats: a finished one goes on, a running one does them too.",
    "simulate": "Serve the simulator over HTTP on loopback.",
}
"""Every verb with its line of help; ``evaltui.cli.verbs.<verb>`` holds the command of the same name."""

INTERNAL_ERROR: Final = 70
"""The exit code of a bug, from sysexits.h (EX_SOFTWARE)."""


class ReaderGoneError(Exception):
    """Nobody reads stdout any more (`| head`)."""


class LazyGroup(click.Group):
    """A group that knows its verbs by name and imports one only to run it."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb. A broken pipe gets a name of its own: click would end the process with exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = getattr(import_module(f"evaltui.cli.verbs.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--db", metavar="PATH", help="The database; EVALTUI_DB or evaltui.db where not given.")
@click.version_option(__version__, prog_name="evaltui")
@click.pass_context
def group(ctx: click.Context, db: str | None) -> None:
    """Watch the noise of an LLM evaluation: repeats, flip rates and paired intervals, live.

    Without a verb, opens the ledger of studies.
    """
    ctx.obj = db
    if ctx.invoked_subcommand is None:
        from evaltui.cli.screen import open_ledger

        open_ledger(db)


def _print_safely(stream: TextIO) -> None:
    """Characters the console lacks are written as escapes: an error message must never raise a second error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _complain(message: str) -> None:
    from evaltui.core.text import clean

    for line in message.splitlines():
        click.echo(f"evaltui: {clean(line)}", err=True)


def _let_go() -> None:
    """Write out what stdout still holds; where nobody reads it, keep the interpreter's own flush at the end quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line. Every error ends here as a sentence on stderr and an exit code."""
    sys.stdout = sys.stdout or unheeded(None)
    sys.stderr = unheeded(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        _print_safely(stream)
    try:
        code = group.main(prog_name="evaltui", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except ReaderGoneError:
        code = 0
    except EvaltuiError as error:
        _complain(str(error))
        code = error.exit_code
    except OSError as error:
        if os.environ.get("EVALTUI_DEBUG"):
            raise
        _complain(f"{error.filename or 'the output'}: {error.strerror or error}")
        code = EvaltuiError.exit_code
    except Exception as error:
        if os.environ.get("EVALTUI_DEBUG"):
            raise
        _complain(f"this is a bug in evaltui: {type(error).__name__} (EVALTUI_DEBUG=1 shows where)")
        code = INTERNAL_ERROR
    _let_go()
    sys.exit(code if isinstance(code, int) else 0)
