"""How texts are folded before they are compared, and how long a label may be."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

LABEL_LIMIT: Final = 120
_QUOTES: Final = "\"'`“”‘’«»*_"


def fold(text: str) -> str:
    """White space runs become one blank, ends are trimmed, case is folded."""
    return " ".join(text.split()).casefold()


def normalised(text: str) -> str:
    """NFKC, white space folded, quotes, asterisks and underscores around it and full stops at its end removed."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    return text.strip(_QUOTES).rstrip(".。").strip(_QUOTES).strip()


def as_label(text: str) -> str:
    """``text`` when it is short, else its beginning and a digest of the whole: equal labels mean equal texts."""
    if len(text) <= LABEL_LIMIT:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{text[: LABEL_LIMIT - 10]}… {digest}"
