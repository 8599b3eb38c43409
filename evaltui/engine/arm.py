"""One arm while a study runs, with the failures that are not yet believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evaltui.config import ArmConfig
from evaltui.core.records import CellRecord
from evaltui.core.status import Status
from evaltui.engine.breaker import ENDPOINT_ERRORS, WINDOW
from evaltui.engine.endpoint import Endpoint
from evaltui.engine.identity import Identity

Write = Callable[[CellRecord], None]


@dataclass(slots=True)
class Arm:
    """An arm and where its finished cells go on their way to the store.

    A cell that fails for good while its endpoint may be down is held back. When the arm's endpoint answers again, the
    failure was the cell's own and is written; when the breaker pauses the study first, it is forgotten and its cell
    is done again on resume. So an outage costs no items, and a failure amid answers is recorded as one. At most the
    breaker's window is ever held.

    ``fresh``: no cell of this arm was terminal when the session began.
    """

    config: ArmConfig
    endpoint: Endpoint
    identity: Identity
    fresh: bool
    _held: list[CellRecord] = field(default_factory=list)

    def finish(self, record: CellRecord, write: Write) -> None:
        """Write the record, or hold it back while it may be the endpoint's fault."""
        if record.verdicts[0].status in ENDPOINT_ERRORS and record.text is None:
            self._held.append(record)
            # With so many failures the breaker would have tripped, had nothing else on this endpoint been answered.
            if len(self._held) > WINDOW:
                write(self._held.pop(0))
            return
        self.release(write)
        write(record)

    def release(self, write: Write) -> None:
        """Write what was held back."""
        for record in self._held:
            write(record)
        self._held.clear()

    @property
    def down(self) -> bool:
        """With no cells left: whether what is held says that the endpoint is down, not that those cells fail.

        It has answered nothing in this session, and either it never did or it cannot be reached at all. Fewer calls
        than trip the breaker are enough: a study of two items pauses too.
        """
        if not self._held or self.endpoint.answered:
            return False
        return self.fresh or any(record.verdicts[0].status is Status.NETWORK_ERROR for record in self._held)

    @property
    def complaint(self) -> str:
        """What the last failure said."""
        verdict = self._held[-1].verdicts[0]
        return f"endpoint {self.endpoint.name} has not answered once: {verdict.status}: {verdict.note}"
