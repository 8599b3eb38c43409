"""A command as an endpoint: a process for each call, or long-lived ones that speak JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable

from evaltui.core.records import Completion, Failure, Request
from evaltui.core.status import Status
from evaltui.outside.commands import Command, CommandError, LineProcesses
from evaltui.providers.chat_body import plain_answer
from evaltui.providers.classify import completion_of, sentence
from evaltui.providers.secrets import Redactor
from evaltui.providers.spoken import plain_prompt, read_json, read_result, request_document


class CommandProvider:
    """Runs ``command`` once per call; cancelling a call kills it with all that it started.

    Plain text in (the prompt) and out (the answer, without the line feed at its end), or with ``as_json`` a document in
    and one out (:mod:`evaltui.providers.spoken`). ``secrets`` are masked in all that it prints.
    """

    def __init__(self, command: Command, *, as_json: bool, secrets: Iterable[str] = ()) -> None:
        self._command = command
        self._as_json = as_json
        self._redactor = Redactor(secrets)

    async def complete(self, request: Request) -> Completion | Failure:
        """Run the command. Raises nothing but CancelledError."""
        try:
            said = self._redactor.body(await self._command.call(self._question(request)))
        except (CommandError, TypeError, ValueError) as error:
            return self._redactor.outcome(_failure(error))
        if self._as_json:
            return read_json(said, self._command.argv[0])
        return completion_of(plain_answer(said.decode("utf-8", "replace").removesuffix("\n")))

    async def close(self) -> None:
        """Nothing runs between calls."""

    def _question(self, request: Request) -> bytes:
        if self._as_json:
            return json.dumps(request_document(request), allow_nan=False).encode()
        return plain_prompt(request).encode("utf-8", "replace")


class LineProvider:
    """Asks long-lived processes of ``command``, one JSON line per call and answer, which carries the call's ``id``."""

    def __init__(self, command: Command, secrets: Iterable[str] = ()) -> None:
        self._processes = LineProcesses(command)
        self._name = command.argv[0]
        self._redactor = Redactor(secrets)

    async def complete(self, request: Request) -> Completion | Failure:
        """Ask one process. Raises nothing but CancelledError; a cancelled call kills that process."""
        try:
            answer = await self._processes.call(request_document(request))
        except (CommandError, TypeError, ValueError) as error:
            return self._redactor.outcome(_failure(error))
        return self._redactor.outcome(read_result(answer, self._name))

    async def close(self) -> None:
        await self._processes.close()


def _failure(error: Exception) -> Failure:
    if isinstance(error, CommandError):
        status = Status.REQUEST_ERROR if error.permanent else Status.SERVER_ERROR
        return Failure(status, sentence(str(error)), retry=not error.permanent, pause=error.permanent)
    return Failure(Status.REQUEST_ERROR, sentence(f"the request cannot be written as JSON: {error}"), pause=True)
