"""A Python function as an endpoint: ``module:function``, sync or async."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.outside import functions
from evaltui.providers.classify import sentence
from evaltui.providers.secrets import Redactor
from evaltui.providers.spoken import read_result, request_document


class FunctionProvider:
    """Calls ``function`` with one document and reads what it returns (:mod:`evaltui.providers.spoken`).

    What it raises is a failed call and is tried again. ``secrets`` are masked in all that it returns.

    Raises:
        EvaltuiError: there is no such function.
    """

    def __init__(self, name: str, folder: Path, secrets: Iterable[str] = ()) -> None:
        self._name = name
        self._function = functions.load(name, folder)
        self._redactor = Redactor(secrets)

    async def complete(self, request: Request) -> Completion | Failure:
        """Call the function. Raises nothing but CancelledError."""
        try:
            value = await functions.call(self._function, request_document(request))
        except Exception as error:
            said = self._redactor.text(f"{self._name} raised {type(error).__name__}: {error}")
            return Failure(Status.SERVER_ERROR, sentence(said), retry=True)
        return self._redactor.outcome(read_result(value, self._name))

    async def close(self) -> None:
        """A function holds nothing that evaltui opened."""
