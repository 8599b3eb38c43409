"""One module per kind of scorer: an item and a completion in, a verdict out. No I/O."""

from evaltui.scorers.registry import KINDS, build

__all__ = ["KINDS", "build"]
