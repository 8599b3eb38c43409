"""Commands of the user's: one process per call, or long-lived ones that speak JSON lines. None outlives its caller."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

OUTPUT_LIMIT: Final = 32 * 2**20
COMPLAINT_LIMIT: Final = 2000


class CommandError(Exception):
    """The command did not do its work; the message is a sentence. ``permanent``: it would not do the next time."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        self.permanent = permanent
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, started in ``folder`` in a process group of its own."""

    argv: tuple[str, ...]
    folder: Path

    @property
    def files(self) -> list[Path]:
        """The files of the study's folder that the command line names, such as its script."""
        found = [self.folder / word for word in self.argv if word and not word.startswith("-")]
        return [path for path in found if _is_file(path) and path.resolve().is_relative_to(self.folder.resolve())]

    async def start(self) -> Process:
        """Raises CommandError when there is no such program or folder."""
        try:
            return await asyncio.create_subprocess_exec(
                *self.argv,
                cwd=self.folder,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
                limit=OUTPUT_LIMIT,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise CommandError(f"{self.argv[0]} cannot be started: {why}", permanent=True) from None

    async def call(self, given: bytes) -> bytes:
        """Start the command, give it ``given`` as its standard input, and return its standard output.

        Cancelling the call kills its whole process group. Raises CommandError: it cannot be started, ends with another
        code than 0, or prints more than 32 MB.
        """
        process = await self.start()
        try:
            complaint = asyncio.create_task(_tail(process))
            said, _ = await asyncio.gather(_read(process), _feed(process, given))
            code = await process.wait()
            why = await complaint
        finally:
            await kill(process)
        if code != 0:
            raise CommandError(f"{self.argv[0]} ended with {_ending(code)}{f': {why}' if why else ''}")
        return said


class LineProcesses:
    """Long-lived processes of one command: a line goes in, a line comes out. One call at a time each.

    Every call has an ``id``, which its answer has to carry: a program that says a line too many would otherwise answer
    each call with the answer to the one before. As many are started as are called at once. One that is cut off, breaks
    or says anything else is killed, and another takes its place.
    """

    def __init__(self, command: Command) -> None:
        self._command = command
        self._idle: list[Process] = []
        self._tails: dict[int, asyncio.Task[str]] = {}
        self._ids = itertools.count(1)

    async def call(self, given: Mapping[str, object]) -> dict[str, Any]:
        """What the process answers to ``given``, which goes to it as one line of JSON with an ``id``.

        Raises CommandError: the process cannot be started, ends, writes a line of more than 32 MB, or one that is no
        JSON object with that ``id``. TypeError, ValueError: ``given`` cannot be written as JSON.
        """
        number = next(self._ids)
        line = json.dumps({**given, "id": number}, allow_nan=False).encode()
        process = await self._take()
        done = False
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(ConnectionError):
                process.stdin.write(line + b"\n")
                await process.stdin.drain()
            answer = b"\n"
            while answer.endswith(b"\n") and not answer.strip():
                answer = await _line(process.stdout, self._command.argv[0])
            if not answer.endswith(b"\n"):
                code = await process.wait()
                why = await self._tails.pop(process.pid)
                raise CommandError(
                    f"{self._command.argv[0]} ended ({_ending(code)}) without an answer{f': {why}' if why else ''}"
                )
            read = _answer_to(number, answer, self._command.argv[0])
            done = True
            return read
        finally:
            if done:
                self._idle.append(process)
            else:
                await self._end(process)

    async def close(self) -> None:
        while self._idle:
            await self._end(self._idle.pop())

    async def _take(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            await self._end(process)
        process = await self._command.start()
        self._tails[process.pid] = asyncio.create_task(_tail(process))
        return process

    async def _end(self, process: Process) -> None:
        await kill(process)
        tail = self._tails.pop(process.pid, None)
        if tail is not None:
            tail.cancel()


async def kill(process: Process) -> None:
    """Kill the process with its group, which is all that it started and did not send away; nothing when it has ended.

    The group keeps its number while anything of it lives, which whoever still holds the output shows.
    """
    if process.returncode is not None and (process.stdout is None or process.stdout.at_eof()):
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    waiting = asyncio.ensure_future(process.wait())
    # A second cancellation must not leave a process behind that nobody waits for.
    await asyncio.shield(waiting)
    # Whoever left the group may hold the pipes for ever; left open, they complain when the loop has long been closed.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    # A program need not read what it is given.
    with contextlib.suppress(ConnectionError):
        process.stdin.write(given)
        await process.stdin.drain()
    with contextlib.suppress(ConnectionError):
        process.stdin.close()


async def _read(process: Process) -> bytes:
    assert process.stdout is not None
    said = bytearray()
    while chunk := await process.stdout.read(2**16):
        said += chunk
        if len(said) > OUTPUT_LIMIT:
            raise CommandError(f"the command printed more than {OUTPUT_LIMIT // 2**20} MB")
    return bytes(said)


async def _line(stream: asyncio.StreamReader, program: str) -> bytes:
    try:
        return await stream.readline()
    except ValueError:
        raise CommandError(f"{program} wrote a line of more than {OUTPUT_LIMIT // 2**20} MB") from None


def _answer_to(number: int, line: bytes, program: str) -> dict[str, Any]:
    said = line.decode("utf-8", "replace").strip()
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise CommandError(f"{program} wrote a line that is no answer (its output is for answers alone): {said[:200]}")
    if answer.get("id") != number or isinstance(answer["id"], bool):
        told = "without an id" if "id" not in answer else f"with the id {str(answer['id'])[:40]}"
        raise CommandError(
            f'{program} wrote an answer {told} to the call with "id": {number}; each carries its call\'s'
        )
    return answer


async def _tail(process: Process) -> str:
    """The end of what the process says on its standard error, read all along so that it never blocks there."""
    assert process.stderr is not None
    kept = b""
    while chunk := await process.stderr.read(2**14):
        kept = (kept + chunk)[-COMPLAINT_LIMIT:]
    lines = kept.decode("utf-8", "replace").split("\n")
    return " ".join(next((line for line in reversed(lines) if line.strip()), "").split())[:300]


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
