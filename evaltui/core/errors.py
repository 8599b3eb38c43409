"""The one family of errors that a user may see; each carries its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input: where it is and what to do about it.

    ``where`` is a key path (``arms.candidate.model``), a line (``line 12``) or empty.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class EvaltuiError(Exception):
    """A sentence for the person at the terminal; ``exit_code`` is what the process returns."""

    exit_code = 2


class InputError(EvaltuiError):
    """A file that cannot be used, with every fault in it listed at once."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{source}: {fault}" for fault in self.faults))


class StoreError(EvaltuiError):
    """The workspace database cannot be used as asked."""


class FaultsFoundError(EvaltuiError):
    """A database was read through and something in it is not as it was written."""

    exit_code = 3


class StudyStoppedError(EvaltuiError):
    """The study stopped early: budget reached or endpoint down."""

    exit_code = 4
