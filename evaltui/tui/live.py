"""The live path: a plain thread follows one study and posts whole snapshots; the screen never waits for it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from textual.message import Message

from evaltui.core.delta import Delta
from evaltui.core.errors import EvaltuiError
from evaltui.core.records import Event, Item
from evaltui.report.summary import Summary
from evaltui.tui.heat import Heat, HeatFrame, Order, ordered
from evaltui.tui.history import History, TracePoint, in_slices

if TYPE_CHECKING:
    from evaltui.report.live import Live
    from evaltui.store import Follower

TICK_S: Final = 0.25
MOST_EVENTS: Final = 300


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a monitor shows, as of one moment; nothing in it changes any more.

    ``rows`` are item positions in the order of the heatmap; ``events`` are the latest, oldest first; ``traces`` belong
    to ``summary.comparisons``.
    """

    number: int
    at: float
    summary: Summary
    items: tuple[Item, ...]
    heat: HeatFrame
    order: Order
    rows: NDArray[np.intp]
    events: tuple[Event, ...]
    traces: tuple[tuple[TracePoint, ...], ...]


class Arrived(Message):
    """A newer snapshot is there."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot


class Unreadable(Message):
    """The study cannot be read at the moment; the thread goes on trying."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class Feed:
    """Follows a study from a thread of its own.

    The thread works once per ``tick`` and only after the screen has called ``applied`` for the snapshot before, so
    slow drawing skips ticks instead of queueing them.
    """

    def __init__(self, path: Path, study_id: str, post: Callable[[Message], object]) -> None:
        self._path = path
        self._study_id = study_id
        self._post = post
        self._ticked = threading.Event()
        self._applied = threading.Event()
        self._applied.set()
        self._closing = False
        self._order = Order.FLIP
        self._thread = threading.Thread(target=self._run, name=f"follow-{study_id}", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.tick()

    def tick(self) -> None:
        """Let the thread look once."""
        self._ticked.set()

    def applied(self) -> None:
        """The screen has taken in the last snapshot."""
        self._applied.set()

    def sort(self, order: Order) -> None:
        """Sort the rows of later snapshots like this."""
        self._order = order

    def close(self) -> None:
        """End the thread; it stops at its next look."""
        self._closing = True
        self._ticked.set()
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        following: _Following | None = None
        said = ""
        while self._wait():
            try:
                if following is not None and following.gone:
                    following.close()
                    following = None
                following = following or _Following(self._path, self._study_id)
                snapshot = following.look(self._order)
            except EvaltuiError as error:
                if str(error) != said:
                    said = str(error)
                    self._send(Unreadable(said))
            except Exception as error:  # the outermost edge of this thread: said on screen, not lost
                self._send(Unreadable(f"following the study failed ({type(error).__name__}: {error})"))
                break
            else:
                said = ""
                if snapshot is not None:
                    self._applied.clear()
                    self._send(Arrived(snapshot))
        if following is not None:
            following.close()

    def _wait(self) -> bool:
        while True:
            self._ticked.wait()
            self._ticked.clear()
            if self._closing:
                return False
            if self._applied.is_set():
                return True

    def _send(self, message: Message) -> None:
        with suppress(RuntimeError):  # the application's loop is gone: nobody is looking any more
            self._post(message)


class _Following:
    """What the thread holds: the follower, the arrays and the history. Used by that thread only."""

    def __init__(self, path: Path, study_id: str) -> None:
        from evaltui import store
        from evaltui.report.build import primary_scorer
        from evaltui.report.live import Live

        self._path = path
        self._file = store.file_at(path)
        info = store.resolve(path, study_id)
        self._items = store.items(path, info.id)
        self._follower: Follower = store.Follower(path, info.id)
        self._live: Live = Live(info, self._items)
        self._heat = Heat([item.category for item in self._items], primary_scorer(info.design).score_range)
        self._history = History()
        self._events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._number = 0

    @property
    def gone(self) -> bool:
        """Whether the path leads to another file by now, or to none: an open file outlives its name."""
        from evaltui import store

        return store.file_at(self._path) != self._file

    def look(self, order: Order) -> Snapshot | None:
        """The next snapshot, None when there is nothing new."""
        delta = self._follower.poll()
        if delta is None and self._number:
            return None
        summary = self._take(delta) if delta is not None else self._live.summary(time.time())
        self._number += 1
        frame = self._heat.frame()
        return Snapshot(
            number=self._number,
            at=time.time(),
            summary=summary,
            items=self._items,
            heat=frame,
            order=order,
            rows=ordered(frame, order),
            events=tuple(self._events),
            traces=self._history.points(),
        )

    def _take(self, delta: Delta) -> Summary:
        for part in in_slices(delta):
            self._live.apply(part)
            summary = self._live.summary(time.time())
            self._history.add(summary)
        self._heat.update(self._live.grid, delta.cells.position)
        self._events.extend(delta.events)
        return summary

    def close(self) -> None:
        self._follower.close()
