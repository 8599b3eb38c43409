"""Whether new cells may start, and how a session ends: commands, signals, the breaker and the budget meet here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from evaltui.core.protocols import Sink
from evaltui.core.status import Command, StudyState
from evaltui.engine.feed import tell
from evaltui.engine.naps import Naps


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended: FINISHED, or PAUSED or STOPPED with the reason.

    ``resumable``: whether another session gets further with nothing changed.
    """

    state: StudyState
    reason: str = ""
    resumable: bool = True


class Control:
    """A session's switch.

    A pause that was asked for (:attr:`Command.PAUSE`) keeps the engine and its lease: calls in flight finish, new
    ones, retries too, wait for RESUME. :meth:`stop`, :meth:`out_of_money` and :meth:`give_up` are final for this
    session, and the first reason stands: no new cell starts, no cell is asked again, calls in flight finish. Stopping
    once more cuts those off too, through ``cut``. :meth:`hold` keeps new calls back too, for as long as it lasts.
    """

    def __init__(self, sink: Sink, cut: Callable[[], None]) -> None:
        self._sink = sink
        self._cut = cut
        self._open = asyncio.Event()
        self._open.set()
        self._paused = False
        self._held = False
        self._ending = asyncio.Event()
        self.outcome: Outcome | None = None
        self.naps = Naps()

    @property
    def waiting(self) -> bool:
        """Whether no new call may start for now: somebody asked for a pause that still lasts, or calls are held."""
        return not self._open.is_set()

    def obey(self, command: Command) -> None:
        """Do what a person asked, and answer with an event."""
        if command is Command.STOP:
            self.stop("stopped on request")
        elif command is Command.PAUSE and self.outcome is None and not self._paused:
            self._paused = True
            self._turn_gate()
            tell(self._sink, "paused", "paused: calls in flight finish, no new ones start")
            self._sink.state(StudyState.PAUSED, "paused on request")
        elif command is Command.RESUME and self.outcome is None and self._paused:
            tell(self._sink, "resumed", "resumed")
            self._sink.state(StudyState.RUNNING)
            self._paused = False
            self._turn_gate()

    def hold(self, held: bool) -> None:
        """Start no new call while ``held``: what it would bring could not be saved."""
        self._held = held
        self._turn_gate()

    def stop(self, reason: str) -> None:
        """Stop after the calls in flight; asked while already ending, cut them off."""
        if self.outcome is not None:
            self._cut()
            return
        tell(self._sink, "stopping", f"{reason}: calls in flight finish, no new ones start")
        self._end(StudyState.STOPPED, reason)

    def out_of_money(self, reason: str) -> None:
        """Stop because the budget allows no further call."""
        if self.outcome is None:
            tell(self._sink, "budget", reason, "warning")
            self._end(StudyState.STOPPED, reason, resumable=False)

    def give_up(self, reason: str) -> None:
        """Pause the study and end the session: calls would only fail until somebody mends what ``reason`` names."""
        if self.outcome is None:
            tell(self._sink, "paused", reason, "error")
            self._end(StudyState.PAUSED, reason)

    async def admits(self) -> bool:
        """Wait while paused or held; whether a new call may start."""
        while self.waiting:
            await self._open.wait()
        return self.outcome is None

    async def rest(self, seconds: float) -> bool:
        """Sleep; False, at once, when the session ends."""
        try:
            async with asyncio.timeout(seconds):
                await self._ending.wait()
        except TimeoutError:
            return self.outcome is None
        return False

    def _end(self, state: StudyState, reason: str, *, resumable: bool = True) -> None:
        self.outcome = Outcome(state, reason, resumable)
        self._ending.set()
        self._turn_gate()

    def _turn_gate(self) -> None:
        if self.outcome is None and (self._paused or self._held):
            self._open.clear()
        else:
            self._open.set()
