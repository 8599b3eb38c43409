"""The command group. Commands load when they are called, so that ``--help`` costs no more than click itself."""

from __future__ import annotations

import click

from evaltui import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evaltui")
def main() -> None:
    """Watch the noise of an LLM evaluation."""
