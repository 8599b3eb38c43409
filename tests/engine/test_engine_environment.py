from __future__ import annotations

import platform
from importlib import metadata

import pytest

from evaltui import __version__
from evaltui.engine.environment import environment


def test_it_names_interpreter_machine_and_packages() -> None:
    found = environment()
    assert list(found) == ["python", "platform", "host", "evaltui", "httpx", "aiohttp", "numpy"]
    assert (found["python"], found["host"]) == (platform.python_version(), platform.node())
    assert (found["evaltui"], found["numpy"]) == (__version__, metadata.version("numpy"))
    assert found == environment()


def test_a_package_that_is_not_there_is_said_to_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert environment()["aiohttp"] == "not installed"
