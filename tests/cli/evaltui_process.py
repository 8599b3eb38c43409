"""evaltui as a real process, in the environment of a bare terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Evaltui = Callable[..., "subprocess.CompletedProcess[str]"]


def environment() -> dict[str, str]:
    """Nothing of the developer's own settings, and a width that does not depend on the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVALTUI")}
    return kept | {"COLUMNS": "120", "NO_COLOR": "1"}


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """``evaltui ARGUMENTS`` in ``folder``, still running, its output thrown away."""
    return subprocess.Popen(
        [sys.executable, "-m", "evaltui", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
