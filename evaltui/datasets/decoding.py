"""From the bytes of a file to its text, or a sentence about what the file is instead."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from evaltui.core.errors import Fault, InputError

MAGIC: Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "a zip archive (.xlsx and .eval files are such); save the table as CSV, or import the log"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstandard; unpack it first"),
    (b"BZh", "compressed with bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed with xz; unpack it first"),
    (b"PAR1", "a Parquet file; write it as JSONL or CSV"),
    (b"ARROW1", "an Arrow file; write it as JSONL or CSV"),
    (b"SQLite format 3\x00", "an SQLite database; export the rows as JSONL or CSV"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file; save the table as CSV"),
)
BOMS: Final[tuple[tuple[bytes, str], ...]] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_bytes(path: Path) -> bytes:
    """The bytes of a data set file.

    Raises:
        InputError: there is no such file, it cannot be read, it is empty, or it is plainly something else.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise _refused(path, "a device, where one data set file is expected")
        data = path.read_bytes()
    except FileNotFoundError:
        raise _refused(path, "no such file; [dataset] path is relative to the study file") from None
    except IsADirectoryError:
        raise _refused(path, "a folder, where one data set file is expected") from None
    except (OSError, ValueError) as error:
        raise _refused(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not data.strip():
        raise _refused(path, "the file is empty" if not data else "the file holds nothing but blanks")
    for magic, meaning in MAGIC:
        if data.startswith(magic):
            raise _refused(path, f"not a data set but {meaning}")
    return data


def decode(path: Path, data: bytes, encoding: str | None) -> tuple[str, str]:
    """The text without its byte-order mark, and the name of the encoding that was used.

    Raises:
        InputError: the bytes are not text in that encoding; the fault names line and byte.
    """
    used = encoding or next((name for mark, name in BOMS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(used)
    except UnicodeDecodeError as error:
        raise InputError(str(path), [_undecodable(data, error, used, given=encoding is not None)]) from None
    except (LookupError, UnicodeError):
        raise InputError(
            str(path), [Fault("encoding", f"{encoding!r} is no encoding of texts that Python knows")]
        ) from None
    if encoding is None and "\x00" in text[:4]:
        raise _refused(path, 'every other byte is zero: this looks like UTF-16; say encoding = "utf-16-le" (or -be)')
    return text.removeprefix("\ufeff"), used


def _undecodable(data: bytes, error: UnicodeDecodeError, used: str, *, given: bool) -> Fault:
    line = data.count(b"\n", 0, error.start) + 1
    place = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
    advice = "say the encoding it was saved in" if given else 'save the file as UTF-8 or say encoding = "cp1252"'
    return Fault(f"line {line}", f"byte {place} is 0x{data[error.start]:02x}, which is not {used}; {advice}")


def _refused(path: Path, message: str) -> InputError:
    return InputError(str(path), [Fault("", message)])
