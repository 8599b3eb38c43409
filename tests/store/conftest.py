"""Where the tests of the store keep their file, and the processes they run beside it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A workspace file that does not exist yet; its name needs quoting in a URI."""
    return tmp_path / "work space?#1.db"


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every account may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start one of the scripts beside this file; it is killed and reaped at the end of the test."""
    with ExitStack() as stack:

        def run(script: str, *arguments: object) -> subprocess.Popen[str]:
            command = [sys.executable, str(HERE / script), *map(str, arguments)]
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        yield run
