"""The command line: parses, calls one function, prints one result."""

from evaltui.cli.group import main

__all__ = ["main"]
