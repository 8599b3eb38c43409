"""What the screen may ask of the rest of the program: inspect a study file, start it, control it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from evaltui import config as configs
from evaltui import datasets, store
from evaltui.cli import process
from evaltui.core.errors import EvaltuiError
from evaltui.core.preview import Preview
from evaltui.core.status import Command
from evaltui.core.study import StudyPlan
from evaltui.engine import probe as probing
from evaltui.engine.plan import build_plan, preview
from evaltui.engine.wiring import providers


@dataclass(frozen=True, slots=True)
class Checked:
    """A study file that passed every check that needs no endpoint."""

    config: configs.StudyConfig
    plan: StudyPlan
    notices: tuple[str, ...]
    dataset: datasets.Dataset
    path: Path

    def insist_keys(self) -> None:
        """Refuse a study that could not make its first call, before anything of it is stored.

        Raises:
            InputError: every environment variable that is named and not set.
            EvaltuiError: a key or header that cannot be sent.
        """
        providers(self.config, self.plan, os.environ)

    def tried(self) -> Checked:
        """The same study after its endpoints were tried out, as they take it; those on this machine only if asked to.

        Raises:
            StudyStoppedError: an endpoint does not answer; nothing was stored.
        """
        names = probing.wanted(self.config)
        if not names:
            return self
        results = probing.probe(self.config, self.plan, names)
        config, told = probing.amended(self.config, results)
        pins = {result.endpoint: probing.probe_pins(result) for result in results}
        plan = build_plan(config, self.dataset, config_path=self.path, probed=pins)
        return replace(self, config=config, plan=plan, notices=(*self.notices, *told))


def check(
    path: Path,
    *,
    repeats: int | None = None,
    arms: tuple[str, ...] | None = None,
    max_cost: float | None = None,
    max_errors: float | None = None,
    concurrency: int | None = None,
) -> Checked:
    """Read and check a study file and its data set; what is given overrides the file's.

    Raises:
        InputError: every fault of the study file, the data set or the templates.
    """
    config = configs.narrowed(
        configs.load(path),
        repeats=repeats,
        arms=arms,
        max_cost=max_cost,
        max_errors=max_errors,
        concurrency=concurrency,
    )
    source = config.dataset
    dataset = datasets.read(
        source.path,
        id=source.id,
        gold=source.gold,
        category=source.category,
        cluster=source.cluster,
        encoding=source.encoding,
        delimiter=source.delimiter,
    )
    configs.insist_templates(config, dataset.items)
    return Checked(config, build_plan(config, dataset, config_path=path), dataset.notices, dataset, path)


def control(db: Path, study_id: str, command: Command, *, patience: float = store.PATIENCE_S) -> str:
    """Ask a study to pause, resume or stop; what was done, as a sentence.

    An engine on another host is watched, for ``patience`` seconds at most, before it is believed alive.

    Raises:
        EvaltuiError: there is nothing to do that to.
    """
    info = store.resolve(db, study_id)
    if info.live:
        try:
            store.clear_lease(db, info.id, patience=patience)
        except store.LeaseHeldError:
            store.send(db, info.id, command)
            return f"asked {info.design.name} ({info.id}) to {command}"
    if command is not Command.RESUME:
        raise EvaltuiError(f"{info.design.name} ({info.id}) is not running, so there is nothing to {command}")
    process.spawn(db, info.id)
    return f"{info.design.name} ({info.id}) runs again; evaltui watch {info.id} follows it"


@dataclass(frozen=True, slots=True)
class EngineLauncher:
    """The screen's :class:`evaltui.tui.launcher.Launcher`, working on one database."""

    db: Path

    def inspect(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> Preview:
        checked = check(path, repeats=repeats, arms=arms)
        return preview(checked.config, checked.plan, notices=checked.notices)

    def start(self, path: Path, *, repeats: int | None = None, arms: tuple[str, ...] | None = None) -> str:
        checked = check(path, repeats=repeats, arms=arms)
        checked.insist_keys()
        opened = store.open_study(self.db, checked.tried().plan)
        if not opened.finished:
            process.spawn(self.db, opened.study_id)
        return opened.study_id

    def control(self, study_id: str, command: Command) -> str:
        return control(self.db, study_id, command)
