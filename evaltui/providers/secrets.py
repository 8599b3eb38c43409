"""Keeps keys out of everything that leaves a provider, should a server echo them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from evaltui.core.records import Completion, Failure

SHORTEST: Final = 6
_MASK: Final = "••••"
_TAIL_FROM: Final = 18


class Redactor:
    """Replaces each secret by ``••••`` and its last four characters, by ``••••`` alone where it is short.

    Values of fewer than six characters are left alone: they would be found in ordinary text.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        distinct = {secret.strip() for secret in secrets if len(secret.strip()) >= SHORTEST}
        self._masks: dict[str, str] = {}
        for secret in sorted(distinct, key=len, reverse=True):
            mask = _MASK + (secret[-4:] if len(secret) >= _TAIL_FROM else "")
            escaped = json.dumps(secret)[1:-1]
            self._masks |= dict.fromkeys((secret, escaped, escaped.replace("/", r"\/")), mask)
        self._spelt = [(_spelt_out(secret), mask.encode()) for secret, mask in self._masks.items()]

    def body(self, body: bytes) -> bytes:
        """``body`` without a secret, before anything in it is cut to a length, however JSON may write it."""
        for secret, mask in self._masks.items():
            body = body.replace(secret.encode(), mask.encode())
        if rb"\u" in body:
            for pattern, spelt_mask in self._spelt:
                body = pattern.sub(spelt_mask, body)
        return body

    def text(self, text: str) -> str:
        for secret, mask in self._masks.items():
            text = text.replace(secret, mask)
        return text

    def outcome(self, outcome: Completion | Failure) -> Completion | Failure:
        """The same outcome without a secret in any of its texts, however it was escaped on its way."""
        if not self._masks:
            return outcome
        if isinstance(outcome, Failure):
            return replace(outcome, message=self.text(outcome.message))
        return replace(
            outcome,
            text=self.text(outcome.text),
            reasoning=self.text(outcome.reasoning),
            finish_reason=self._optional(outcome.finish_reason),
            model=self._optional(outcome.model),
            fingerprint=self._optional(outcome.fingerprint),
            oddities=tuple(map(self.text, outcome.oddities)),
        )

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)


def _spelt_out(secret: str) -> re.Pattern[bytes]:
    r"""A secret of which each character may stand as ``\uXXXX``."""
    return re.compile(b"".join(rb"(?:%b|(?i:\\u%04x))" % (re.escape(c.encode()), ord(c)) for c in secret))
