"""What every test may use: the folder of real cases, where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of real logs and scripts beside the checkout; skips where it is absent."""
    if not CASES.is_dir():
        pytest.skip("the folder of real cases is not beside this checkout")
    return CASES
