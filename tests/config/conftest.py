"""A study file that is right, to be made wrong in one place at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaltui import config as configs
from evaltui.config import StudyConfig
from evaltui.core.errors import InputError

STUDY = """\
[study]
name = "s"

[dataset]
path = "items.jsonl"
gold = "answer"

[endpoints.main]
kind = "openai"
base_url = "http://127.0.0.1:8000/v1"

[arms.baseline]
endpoint = "main"
model = "m-1"
prompt_text = "Q: {{question}}"
temperature = 0

[arms.candidate]
extends = "baseline"
prompt_text = "Think. {{question}}"

[scorers.match]
kind = "exact"
"""

Load = Callable[..., StudyConfig]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads the right study file with ``old`` replaced by ``new`` in turn, and ``more`` at its end."""

    def load(*changes: tuple[str, str], more: str = "") -> StudyConfig:
        text = STUDY + more
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        return configs.load(path)

    return load


@pytest.fixture
def faults(load: Load, tmp_path: Path) -> Callable[..., list[str]]:
    """Every fault of a changed study file, as ``key path: sentence``."""

    def faults(*changes: tuple[str, str], more: str = "") -> list[str]:
        with pytest.raises(InputError) as refused:
            load(*changes, more=more)
        assert refused.value.source == str(tmp_path / "study.toml")
        return [str(fault) for fault in refused.value.faults]

    return faults
