"""The processes of the engine's benchmark: measurements, servers, screens. This one stays small and imports none of it.

Every measurement has a process of its own, so that none warms another up, and its peak memory is its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROWS, COLUMNS = 50, 160
FIRST_PICTURE_BYTES = 2_000
FIRST_PICTURE_S = 30.0

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Study:
    """A stored study of (roughly) so many verdicts, and how it is run."""

    db: Path
    id: str
    in_flight: int

    def run(self, *, sampled: bool = False) -> Result:
        """Run it to its end in a process of its own."""
        return child("study", db=str(self.db), study=self.id, sampled=sampled)


def child(mode: str, **given: object) -> Result:
    """What a measurement of engine_child.py gives; its complaints go to stderr."""
    return json_of([sys.executable, str(HERE / "engine_child.py"), mode, json.dumps(given)])


def json_of(command: list[str]) -> Result:
    """The JSON object on the last line of what a command prints."""
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: Result = json.loads(said.splitlines()[-1])
    return result


def stored(
    folder: Path, items: int, repeats: int, *, in_flight: int = 64, arms: int = 2, base_url: str | None = None
) -> Study:
    """A new study in a file of its own; without ``base_url`` its endpoint is the simulator inside the engine."""
    db = folder / f"{time.time_ns()}.db"
    made = child("make", db=str(db), items=items, repeats=repeats, arms=arms, in_flight=in_flight, base_url=base_url)
    return Study(db, made["study"], in_flight)


def fresh(folder: Path, items: int, repeats: int, in_flight: int, base_url: str) -> Result:
    """A new study made and run in one process."""
    given = {"items": items, "repeats": repeats, "arms": 2, "in_flight": in_flight, "base_url": base_url}
    return child("fresh", db=str(folder / f"{time.time_ns()}.db"), **given)


@contextmanager
def serving(delay_s: float) -> Iterator[str]:
    """A server that answers after ``delay_s``; its base URL."""
    command = [sys.executable, str(HERE / "engine_server.py"), str(delay_s)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


@contextmanager
def watching(study: Study) -> Iterator[list[int]]:
    """A screen that follows a study in a pseudo-terminal, once its first picture is there.

    Yields a list whose one number is how many bytes it has drawn so far.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "evaltui", "watch", study.id, "--db", str(study.db)]
    env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    screen = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    drawn = [0]
    reader = threading.Thread(target=_drain, args=(ours, drawn), daemon=True)
    reader.start()
    with closing(os.fdopen(ours, "wb", buffering=0, closefd=True)):
        try:
            _first_picture(screen, drawn)
            yield drawn
            if screen.poll() is not None:
                raise SystemExit(f"the screen ended by itself, with code {screen.returncode}")
        finally:
            screen.terminate()
            screen.wait()
            reader.join()


def headless_peak(study: Study) -> int:
    """The most memory, in bytes, of a whole ``evaltui resume --headless``, its report included."""
    command = [sys.executable, "-m", "evaltui", "resume", study.id, "--headless", "--db", str(study.db)]
    engine = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(engine.pid, 0)
    engine.returncode = os.waitstatus_to_exitcode(status)
    if engine.returncode:
        raise SystemExit(f"evaltui resume --headless ended with code {engine.returncode}")
    return usage.ru_maxrss if sys.platform == "darwin" else 1024 * usage.ru_maxrss


def _first_picture(screen: subprocess.Popen[bytes], drawn: list[int]) -> None:
    give_up = time.monotonic() + FIRST_PICTURE_S
    before = -1
    while drawn[0] < FIRST_PICTURE_BYTES or drawn[0] != before:
        if screen.poll() is not None or time.monotonic() > give_up:
            raise SystemExit(f"the screen drew {drawn[0]} bytes and no picture (exit code {screen.poll()})")
        before = drawn[0]
        time.sleep(0.5)


def _drain(terminal: int, drawn: list[int]) -> None:
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            # How Linux says that nobody has the other end open any more.
            return
        if not data:
            return
        drawn[0] += len(data)
