"""From a TOML file, or data of the same shape, to a checked study; every fault at once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from evaltui.config.arms import ArmConfig
from evaltui.config.crosscheck import absent, arm_faults, primary_faults, simulator_faults
from evaltui.config.endpoints import EndpointConfig
from evaltui.config.faults import NEEDED, checked, key_path, kind_fault, shown, unknown_key
from evaltui.config.files import UnreadableError, read_prompt, read_schema, read_text, resolved
from evaltui.config.inheritance import Inherited, inherit
from evaltui.config.scorers import SCORERS
from evaltui.config.secrets import take_secrets
from evaltui.config.simulator import SimulatorTable
from evaltui.config.study import DatasetConfig, FreeForm, StudyConfig, StudySection
from evaltui.config.tables import name_fault
from evaltui.core.errors import Fault, InputError
from evaltui.core.simulation import SimulatorSettings

Raw = dict[str, Any]
FILE_KEYS: Final = ("prompt", "system", "extends")


def load(path: Path) -> StudyConfig:
    """Read and check a study file; the files it names are found beside it.

    Raises:
        InputError: every fault of the file, each with its key path; a syntax error with its line.
    """
    try:
        data = tomllib.loads(read_text(path))
    except UnreadableError as error:
        hint = "; evaltui init writes a study file to start from" if not path.exists() else ""
        raise InputError(str(path), [Fault("", f"{error}{hint}")]) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), [Fault("", f"not TOML: {error}")]) from None
    except ValueError:
        # Python refuses to read thousands of digits, in a sentence about its own settings.
        raise InputError(
            str(path), [Fault("", "a number has thousands of digits; write it as text in quotes")]
        ) from None
    except RecursionError:
        raise InputError(str(path), [Fault("", "not a study file: nested too deeply")]) from None
    return from_mapping(data, path.parent, source=str(path))


def from_mapping(data: Mapping[str, object], base_dir: Path, source: str) -> StudyConfig:
    """Check a study given as data; relative paths start at ``base_dir``, and ``source`` names it in faults.

    Raises:
        InputError: every fault, each with its key path.
    """
    raw, faults = take_secrets(data)
    known = list(StudyConfig.model_fields)
    faults += [Fault(key_path(name), unknown_key(name, known)) for name in raw if name not in known]
    tables = {name: _tables(raw, name, faults) for name in ("endpoints", "arms", "scorers")}
    parts: Raw = {
        "study": _study(_section(raw, "study", faults), list(tables["arms"]), faults),
        "dataset": _dataset(_section(raw, "dataset", faults), base_dir, faults),
        "endpoints": {name: _endpoint(name, table, base_dir, faults) for name, table in tables["endpoints"].items()},
        "arms": _arms(tables["arms"], list(tables["endpoints"]), base_dir, faults),
        "scorers": _scorers(tables["scorers"], base_dir, faults),
    }
    free = checked(FreeForm, {name: raw[name] for name in ("pins", "gate") if name in raw}, key_path, faults)
    faults += simulator_faults(parts["endpoints"], list(tables["arms"]))
    faults += arm_faults(parts["endpoints"], parts["arms"])
    faults += primary_faults(tables["scorers"])
    if faults or free is None:
        raise InputError(source, list(dict.fromkeys(faults)))
    return StudyConfig(**parts, pins=free.pins, gate=free.gate)


def _section(raw: Raw, name: str, faults: list[Fault]) -> Raw | None:
    """One table of the file, or None with a fault."""
    table = raw.get(name)
    if isinstance(table, dict):
        return dict(table)
    faults.append(Fault(name, f"the table [{name}] is needed" if table is None else f"{shown(table)} is not a table"))
    return None


def _tables(raw: Raw, section: str, faults: list[Fault]) -> dict[str, Raw]:
    """The named tables of a section, such as ``[arms.NAME]``."""
    outer = raw.get(section)
    if not isinstance(outer, dict) or not outer:
        faults.append(Fault(section, f"at least one table [{section}.NAME] is needed"))
        return {}
    found: dict[str, Raw] = {}
    for name, table in outer.items():
        where = key_path(section, name)
        if not isinstance(table, dict):
            faults.append(Fault(where, f"{shown(table)} is not a table; [{section}.NAME] is one"))
            continue
        refused = name_fault(name)
        if refused is not None:
            faults.append(Fault(where, refused))
        found[name] = dict(table)
    return found


def _study(raw: Raw | None, arms: list[str], faults: list[Fault]) -> StudySection | None:
    if raw is None:
        return None
    if raw.get("baseline") is None:
        raw["baseline"] = "baseline" if "baseline" in arms else next(iter(arms), "")
    study = checked(StudySection, raw, partial(key_path, "study"), faults)
    if study is not None and arms and study.baseline not in arms:
        faults.append(Fault("study.baseline", absent("arm", study.baseline, arms)))
    return study


def _dataset(raw: Raw | None, base_dir: Path, faults: list[Fault]) -> DatasetConfig | None:
    if raw is None:
        return None
    if isinstance(raw.get("path"), str):
        raw["path"] = resolved(raw["path"], base_dir)
    return checked(DatasetConfig, raw, partial(key_path, "dataset"), faults)


def _endpoint(name: str, raw: Raw, base_dir: Path, faults: list[Fault]) -> EndpointConfig | None:
    where = partial(key_path, "endpoints", name)
    _find_files(raw, base_dir, ("path", "ca_bundle"), ("command", "python"))
    settings = raw.get("simulator")
    if settings is not None:
        table = checked(SimulatorTable, settings, partial(where, "simulator"), faults)
        raw["simulator"] = table.settings() if table is not None else SimulatorSettings()
    elif raw.get("kind") == "simulator":
        raw["simulator"] = SimulatorSettings()
    return checked(EndpointConfig, raw, where, faults)


def _find_files(raw: Raw, base_dir: Path, keys: Sequence[str], with_folder: Sequence[object]) -> None:
    """Resolve the names of files from the study file's folder, which commands and functions start in."""
    for key in keys:
        if isinstance(raw.get(key), str):
            raw[key] = resolved(raw[key], base_dir)
    if raw.get("kind") in with_folder:
        folder = raw.get("folder") or "."
        raw["folder"] = resolved(folder, base_dir) if isinstance(folder, str) else folder


def _arms(tables: dict[str, Raw], endpoints: list[str], base_dir: Path, faults: list[Fault]) -> Raw:
    arms = {}
    for name, inherited in inherit(tables, faults).items():
        own: list[Fault] = []
        where = partial(_written, name, inherited)
        values = dict(inherited.values)
        for key, text_key in (("prompt", "prompt_text"), ("system", "system_text")):
            _inline(values, key, text_key, base_dir, where, own)
        arms[name] = arm = checked(ArmConfig, values, where, own, also=FILE_KEYS)
        if arm is not None and endpoints and arm.endpoint not in endpoints:
            own.append(Fault(where("endpoint"), absent("endpoint", arm.endpoint, endpoints)))
        faults += [fault for fault in own if inherited.whole or fault.message != NEEDED]
    return arms


def _written(arm: str, inherited: Inherited, *parts: object) -> str:
    """The key path where a setting of an arm was written: in itself, or in the arm that it extends."""
    key, *inner = map(str, parts) if parts else ("",)
    short = key.removesuffix("_text")
    written = next((name for name in (key, short) if name in inherited.origin), short)
    return key_path("arms", inherited.origin.get(written, arm), *filter(None, (written, *inner)))


def _inline(
    values: Raw, key: str, text_key: str, base_dir: Path, where: Callable[..., str], faults: list[Fault]
) -> None:
    """Replace the name of a prompt file by the file's text."""
    name = values.pop(key, None)
    if name is None:
        return
    if values.get(text_key) is not None:
        faults.append(Fault(where(key), f"{key} and {text_key} are both given; one of them is the text to use"))
        return
    values[text_key] = ""
    if not isinstance(name, str):
        faults.append(Fault(where(key), f"{shown(name)} is not the name of a file"))
        return
    try:
        values[text_key] = read_prompt(resolved(name, base_dir))
    except UnreadableError as error:
        faults.append(Fault(where(key), str(error)))


def _scorers(tables: dict[str, Raw], base_dir: Path, faults: list[Fault]) -> Raw:
    scorers = {}
    for name, raw in tables.items():
        where = partial(key_path, "scorers", name)
        kind = raw.get("kind")
        if not isinstance(kind, str) or kind not in SCORERS:
            missing = f"this key is needed; available now: {', '.join(SCORERS)}"
            faults.append(Fault(where("kind"), missing if kind is None else kind_fault(kind, SCORERS)))
            continue
        if len(tables) == 1:
            raw["primary"] = True
        _find_files(raw, base_dir, (), ("python", "command"))
        if kind == "json_schema" and isinstance(raw.get("schema"), str):
            try:
                raw["schema"] = read_schema(resolved(raw["schema"], base_dir))
            except UnreadableError as error:
                faults.append(Fault(where("schema"), str(error)))
                continue
        scorers[name] = checked(SCORERS[kind], raw, where, faults)
    return scorers
