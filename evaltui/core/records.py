"""What flows from an endpoint to the store: requests, completions, failures, verdicts, attempts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaltui.core.status import Status


@dataclass(frozen=True, slots=True)
class Item:
    """One example. ``fields`` is the whole row as read; ``hash`` is 16 bytes over its canonical content.

    ``position`` is its place in the study's random order, from 0; -1 before an order is drawn.
    """

    id: str
    fields: Mapping[str, object]
    gold: str | None
    category: str | None
    cluster: str | None
    hash: bytes
    position: int = -1


@dataclass(frozen=True, slots=True)
class Cell:
    """One planned verdict: (arm, repeat, item). ``repeat`` counts from 1; up to 0 it only warms up."""

    arm: str
    repeat: int
    position: int
    item_id: str


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the answer is sampled. ``seed`` is a hint to the provider, never a promise."""

    model: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra_body: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One call to an endpoint; ``attempt`` counts from 1 within the cell."""

    cell: Cell
    attempt: int
    messages: tuple[Message, ...]
    decoding: Decoding


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. ``status`` is OK, TRUNCATED, EMPTY or REFUSED; only OK goes on to be scored.

    A TRUNCATED text is shown to the scorer for its would-be label, never for a score. ``oddities`` are sentences
    about what its endpoint does that nobody asked for, without the endpoint's name.
    """

    text: str
    status: Status = Status.OK
    finish_reason: str | None = None
    reasoning: str = ""
    model: str | None = None
    fingerprint: str | None = None
    usage: Usage = Usage()
    oddities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that brought no completion.

    ``retry``: the same call may succeed later. ``wait_s``: what the server asked for, else None.
    ``pause``: every other call to this endpoint would end the same way (key refused, unknown model): the study pauses.
    ``message`` holds no key and is cut to a sensible length; it is still hostile text.
    """

    status: Status
    message: str
    retry: bool = False
    wait_s: float | None = None
    http_status: int | None = None
    pause: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The scored outcome of one cell by one scorer. ``score`` is None unless ``status`` is OK."""

    scorer: str
    status: Status
    label: str | None = None
    score: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One call as it happened. Times are seconds since the epoch, durations seconds.

    ``wait_s`` is what was slept before it (back-off, Retry-After); ``queue_wait_s`` planned start to first byte sent.
    ``in_flight`` counts the calls that its endpoint was answering when it was sent, itself included.
    """

    cell: Cell
    number: int
    status: Status
    started: float
    latency_s: float
    wait_s: float = 0.0
    queue_wait_s: float = 0.0
    http_status: int | None = None
    message: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    model: str | None = None
    fingerprint: str | None = None
    seed: int | None = None
    request_hash: bytes | None = None
    in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class CellRecord:
    """The terminal outcome of a cell: one verdict per scorer, the primary one first."""

    cell: Cell
    verdicts: tuple[Verdict, ...]
    text: str | None
    reasoning: str
    attempts: int
    latency_s: float
    finished: float
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth a line in the feed. ``level`` is info, warning or error."""

    at: float
    kind: str
    text: str
    level: str = "info"
    arm: str | None = None
    repeat: int | None = None
