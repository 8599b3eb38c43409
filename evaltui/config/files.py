"""The files that a study file names: prompts, system texts and JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class UnreadableError(ValueError):
    """A named file cannot be used; the message is a sentence."""


def resolved(name: str, base_dir: Path) -> Path:
    """The absolute path of a file named in a study file that lies in ``base_dir``."""
    return (base_dir / name).absolute()


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte-order mark, with line feeds only.

    Raises:
        UnreadableError: there is no such file, it cannot be read, or it is not UTF-8.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise UnreadableError(f"{path} is a device and no file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UnreadableError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise UnreadableError(f"{path} is a folder") from None
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(
            f"{path} is not UTF-8: line {line} holds the byte 0x{data[error.start]:02x}; save it as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_prompt(path: Path) -> str:
    """A prompt: the file's text without the line break that editors put at the end.

    Raises:
        UnreadableError: see :func:`read_text`; an empty file is refused too.
    """
    text = read_text(path).removesuffix("\n")
    if not text.strip():
        raise UnreadableError(f"{path} is empty")
    return text


def read_schema(path: Path) -> Mapping[str, Any]:
    """A JSON Schema from its file.

    Raises:
        UnreadableError: see :func:`read_text`; a file that holds no JSON object is refused too.
    """
    try:
        schema = json.loads(read_text(path))
    except UnreadableError:
        raise
    except json.JSONDecodeError as error:
        raise UnreadableError(f"{path} is not JSON: {error}") from None
    except RecursionError:
        raise UnreadableError(f"{path} is nested too deeply") from None
    except ValueError:
        # Python refuses to read thousands of digits, in a sentence about its own settings.
        raise UnreadableError(f"{path} holds a number of thousands of digits") from None
    if not isinstance(schema, dict):
        raise UnreadableError(f"{path} does not hold a JSON object")
    return schema
