"""What a session runs on: interpreter, machine and the packages that calls and numbers go through (P7)."""

from __future__ import annotations

import platform
from typing import Final

from evaltui import __version__

PACKAGES: Final = ("httpx", "aiohttp", "numpy")
ABSENT: Final = "not installed"


def environment() -> dict[str, str]:
    """Readable values by name; the same on the same installation of the same machine."""
    # Here and not at the top: only a session that starts needs it.
    from importlib import metadata

    found = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "evaltui": __version__,
    }
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = ABSENT
    return found
