"""What every test may use: the folder of real cases, where there is one, and the endpoint that plays them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CASES = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--count", type=int, default=100, help="kills in tests/cli/test_cli_hundred_kills.py (-m slow)")


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of real logs and scripts beside the checkout; skips where it is absent."""
    if not CASES.is_dir():
        pytest.skip("the folder of real cases is not beside this checkout")
    return CASES


@pytest.fixture
def scripted(cases: Path) -> Iterator[Callable[[str], str]]:
    """``scripted("C_truncated")``: the base URL of the scripted server playing that file, a process of its own."""
    running = []

    def start(script: str) -> str:
        command = [sys.executable, str(cases / "scripted_server.py"), str(cases / "repro" / f"{script}.json")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        running.append(process)
        return process.stdout.readline().strip()

    yield start
    for process in running:
        process.terminate()
        process.communicate()
