"""The design of a study: what was pinned, which arms, which items, how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaltui.core.records import Item
from evaltui.core.status import Status, StudyState

PinValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class MissingPolicy:
    """What a cell without a score counts as, by status: ``exclude`` or ``fail``."""

    default: str = "exclude"
    by_status: Mapping[Status, str] = field(default_factory=dict)
    limit: float = 0.02

    def of(self, status: Status) -> str:
        return self.by_status.get(status, self.default)


@dataclass(frozen=True, slots=True)
class ArmDesign:
    """One configuration under test, with its pins (flat, JSON-able) and their hash."""

    name: str
    pins: Mapping[str, PinValue]
    pin_hash: str


@dataclass(frozen=True, slots=True)
class ScorerDesign:
    """A named scorer. ``score_range`` is the declared (lowest, highest) score, or None when it has none."""

    name: str
    kind: str
    version: str
    primary: bool
    score_range: tuple[float, float] | None = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Design:
    """Everything about a study that is fixed before the first call, except its items' text.

    ``warmup`` runs of each arm come before the first repeat. They are repeats 0, -1 and so on, the last of them 0, and
    are in no number.
    """

    name: str
    arms: tuple[ArmDesign, ...]
    scorers: tuple[ScorerDesign, ...]
    repeats: int
    n_items: int
    order_seed: int
    schedule: str
    concurrency: int
    baseline: str
    pin_hash: str
    missing: MissingPolicy = MissingPolicy()
    disclosure: str = ""
    max_cost: float | None = None
    warmup: int = 0

    @property
    def arm_names(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms)

    @property
    def n_cells(self) -> int:
        """How many cells count; those of warm-up runs do not."""
        return len(self.arms) * self.repeats * self.n_items

    @property
    def warmups(self) -> range:
        """The repeats that only warm up, in the order in which they are run."""
        return range(1 - self.warmup, 1)

    @property
    def all_repeats(self) -> range:
        """The repeats in the order in which they are run, those that only warm up first."""
        return range(1 - self.warmup, self.repeats + 1)


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A design with its items (in random order, ``items[p].position == p``) and the config that made it.

    ``config`` is the normalised study file as JSON-able data, prompts inlined, so that the study can be run from the
    database alone. It holds names of environment variables, never keys.
    """

    design: Design
    items: tuple[Item, ...]
    config: Mapping[str, object]
    config_path: str | None = None


@dataclass(frozen=True, slots=True)
class EarlierSessions:
    """What earlier sessions of a study leave to the next: what they spent on how many calls, and who answered.

    ``models`` and ``fingerprints`` map an arm to the values its endpoint reported, oldest first.
    """

    cost: float = 0.0
    calls: int = 0
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fingerprints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lease:
    """Who runs a study. ``alive`` and ``saving`` are the observer's judgement.

    ``saving``: its heartbeat, which is saved like everything else, has risen lately.
    """

    pid: int
    host: str
    heartbeat: int
    alive: bool
    saving: bool = True


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """A stored study as a reader sees it. ``created`` is seconds since the epoch."""

    id: str
    design: Design
    state: StudyState
    reason: str
    created: float
    lease: Lease | None = None

    @property
    def live(self) -> bool:
        return self.lease is not None and self.lease.alive

    @property
    def stuck(self) -> bool:
        """An engine runs the study and cannot save: the disk is full, or another program holds the file locked."""
        return self.lease is not None and self.lease.alive and not self.lease.saving

    @property
    def crashed(self) -> bool:
        return self.state is StudyState.RUNNING and not self.live

    @property
    def status(self) -> str:
        """The state that people and programs read: a running study without an engine has crashed."""
        return "crashed" if self.crashed else self.state.value
