"""Which process this is, and whether another one still runs, told without trusting a process id alone."""

from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
STATE_FIELD: Final = 3
START_TIME_FIELD: Final = 22
ENDED_STATES: Final = frozenset("ZX")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that cannot be taken for a later one with the same id.

    ``started`` is its start time as the system tells it, the boot included; empty where the system does not tell.
    ``namespace`` tells apart containers that share a host name, and with it the meaning of ``pid``.
    """

    pid: int
    started: str
    host: str
    namespace: str


def this_process() -> ProcessIdentity:
    """The identity of the calling process."""
    pid = os.getpid()
    return ProcessIdentity(pid, _started(pid) or "", socket.gethostname(), _namespace())


def runs(process: ProcessIdentity) -> bool | None:
    """Whether a process still runs; None where this host cannot tell (another host, another container)."""
    if process.host != socket.gethostname() or process.namespace != _namespace():
        return None
    if not process.started:
        return None
    return _started(process.pid) == process.started


def _namespace() -> str:
    try:
        return str((PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When a process started, in the system's own words; None when it is gone, or where the system does not tell."""
    if (PROC / "self/stat").exists():
        return _started_from_proc(pid)
    if os.name == "posix":
        return _started_from_ps(pid)
    return None


def _started_from_proc(pid: int) -> str | None:
    try:
        stat = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The command stands in brackets and may hold blanks and brackets itself; state is the first field after it.
    fields = stat.rpartition(")")[2].split()
    if fields[0] in ENDED_STATES:
        return None
    return f"{_boot()} {fields[START_TIME_FIELD - STATE_FIELD]}"


def _boot() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _started_from_ps(pid: int) -> str | None:
    plain = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    state, _, started = answer.stdout.strip().partition(" ")
    return started.strip() if started and state[0] not in ENDED_STATES else None
