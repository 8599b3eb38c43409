"""Text as it is stored: any Python string comes back unchanged, whatever a model or a file put in it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from evaltui.core.pins import short_hash

COMPRESS_ABOVE: Final = 512
PLAIN: Final = 0
ZLIB: Final = 1
PARAMETERS_AT_ONCE: Final = 500

_T = TypeVar("_T")


def storable(text: str) -> str | bytes:
    """What to bind for a TEXT column: the text, or its bytes where a lone surrogate makes it no valid Unicode.

    SQLite keeps the bytes as a BLOB, so that other programs' readers do not fail on the column.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return encode(text)
    return text


def restored(value: str | bytes) -> str:
    """The text that :func:`storable` was given."""
    return decode(value) if isinstance(value, bytes) else value


def encode(text: str) -> bytes:
    """UTF-8 that lets lone surrogates through."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """The inverse of :func:`encode`."""
    return data.decode("utf-8", "surrogatepass")


def pack(data: bytes) -> tuple[int, bytes]:
    """(coding, body) as the table ``texts`` holds them: compressed above 512 bytes, where that makes it shorter."""
    if len(data) > COMPRESS_ABOVE:
        packed = zlib.compress(data)
        if len(packed) < len(data):
            return ZLIB, packed
    return PLAIN, data


def unpack(coding: int, body: bytes) -> str:
    """The text of a row of ``texts``."""
    return decode(zlib.decompress(body) if coding == ZLIB else body)


def store_bodies(connection: sqlite3.Connection, bodies: Iterable[tuple[bytes, tuple[int, bytes]]]) -> dict[bytes, int]:
    """Store texts, given as (hash, (coding, body)), that are not there yet; their keys by hash.

    Must run inside the transaction that stores the rows that refer to them.
    """
    rows = [(digest, coding, body) for digest, (coding, body) in bodies]
    connection.executemany("INSERT OR IGNORE INTO texts (hash, coding, body) VALUES (?, ?, ?)", rows)
    keys: dict[bytes, int] = {}
    for some in _slices([row[0] for row in rows]):
        marks = ",".join("?" * len(some))
        keys.update(connection.execute(f"SELECT hash, key FROM texts WHERE hash IN ({marks})", some))
    return keys


def store_texts(connection: sqlite3.Connection, texts: Iterable[str]) -> dict[str, int]:
    """Store texts that are not there yet; their keys by text. See :func:`store_bodies`."""
    encoded = {text: encode(text) for text in set(texts)}
    digests = {text: short_hash(data) for text, data in encoded.items()}
    keys = store_bodies(connection, ((digests[text], pack(data)) for text, data in encoded.items()))
    return {text: keys[digest] for text, digest in digests.items()}


def read_texts(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str]:
    """Texts by key; keys that are not there are left out."""
    found: dict[int, str] = {}
    for some in _slices(list(keys)):
        marks = ",".join("?" * len(some))
        rows = connection.execute(f"SELECT key, coding, body FROM texts WHERE key IN ({marks})", some).fetchall()
        found.update((key, unpack(coding, body)) for key, coding, body in rows)
    return found


def _slices(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), PARAMETERS_AT_ONCE):
        yield values[start : start + PARAMETERS_AT_ONCE]
