"""What the screen may ask of the program around it. The screen itself starts nothing and writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from evaltui.core.preview import Preview
from evaltui.core.status import Command


class Launcher(Protocol):
    """Owner's actions. Every method may block and is called from a thread; faults come as ``EvaltuiError``."""

    def inspect(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> Preview:
        """Check a study file and price it. Raises InputError with every fault."""
        ...

    def start(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> str:
        """Start, or go on with, the study of a file; its id. The overrides are those the preview was made with."""
        ...

    def control(self, study_id: str, command: Command) -> str:
        """Pause, resume or stop a study; what was done, as a sentence."""
        ...
