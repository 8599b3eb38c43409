"""What a signal handler calls: asked once, no new call starts; asked again, calls in flight are cut off."""

from __future__ import annotations

from collections.abc import Callable


class Stopper:
    """Hand :meth:`request` to ``loop.add_signal_handler``; requests made before the study starts are not lost."""

    def __init__(self) -> None:
        self._requests = 0
        self._heed: Callable[[], None] | None = None

    @property
    def requested(self) -> bool:
        """Whether anybody asked: a study that ended so was interrupted (exit code 130)."""
        return self._requests > 0

    def request(self) -> None:
        self._requests += 1
        if self._heed is not None:
            self._heed()

    def attach(self, heed: Callable[[], None]) -> None:
        """Call ``heed`` once for each request, those already made included."""
        self._heed = heed
        for _ in range(self._requests):
            heed()
