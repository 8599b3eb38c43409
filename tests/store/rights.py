"""What an account that owns nothing may do, also where the tests run as root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@contextmanager
def without_rights() -> Iterator[None]:
    """Act as an account that owns nothing where the tests run as root; any other account has no more rights already."""
    if not ROOT:
        yield
        return
    os.setresgid(NOBODY, NOBODY, 0)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
