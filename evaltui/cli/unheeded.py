"""stderr for a study that is to outlive its terminal: what nobody reads any more is no error."""

from __future__ import annotations

import contextlib
import io
import os
from typing import TextIO


class _Unheeded(io.RawIOBase):
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return os.isatty(self._fd)

    def write(self, data: object, /) -> int:
        assert isinstance(data, bytes | memoryview)
        with contextlib.suppress(OSError):
            return os.write(self._fd, data)
        return len(data)


def unheeded(stream: TextIO | None) -> TextIO:
    """``stream`` without its errors of writing (a closed pipe, a terminal that has gone, a full disk).

    What the user's own code prints goes the same way, and must not fail its call either. None: stderr was closed from
    the start; all goes nowhere.
    """
    try:
        fd = os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()
    except (OSError, ValueError):
        # Something that is no file stands in for it, in a test.
        assert stream is not None
        return stream
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return io.TextIOWrapper(io.BufferedWriter(_Unheeded(fd)), encoding, line_buffering=True)
