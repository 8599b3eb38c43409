"""The files that ``init`` writes, and the samples that are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltui import config as configs
from evaltui import datasets
from evaltui.config.starter import starter_files

SAMPLES = Path(__file__).resolve().parents[2] / "sample_configs"


def test_the_starter_files_are_a_complete_study(tmp_path: Path) -> None:
    for name, text in starter_files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    config = configs.load(tmp_path / "study.toml")
    data = datasets.read(config.dataset.path, **config.dataset.model_dump(exclude={"path"}))
    configs.insist_templates(config, data.items)
    assert config.endpoints["main"].kind == "simulator"
    assert len(data.items) >= 10
    assert data.notices == ()


def test_the_starter_study_explains_every_key() -> None:
    settings = [line for line in starter_files()["study.toml"].splitlines() if " = " in line and line[0] not in "#["]
    assert [line for line in settings if "#" not in line] == []


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_every_sample_loads(path: Path) -> None:
    config = configs.load(path)
    assert len(config.arms) == 2
    if path.name != "gsm8k.toml":
        data = datasets.read(config.dataset.path, **config.dataset.model_dump(exclude={"path"}))
        configs.insist_templates(config, data.items)


def test_the_gsm8k_sample_fits_the_published_questions(cases: Path) -> None:
    config = configs.load(SAMPLES / "gsm8k.toml")
    data = datasets.read(cases / "gsm8k" / "test.jsonl", **config.dataset.model_dump(exclude={"path"}))
    configs.insist_templates(config, data.items)
    assert (len(data.items), config.study.repeats, len(config.arms)) == (1319, 3, 2)


def test_the_local_model_sample_has_forty_balanced_items() -> None:
    config = configs.load(SAMPLES / "local_model.toml")
    data = datasets.read(config.dataset.path, **config.dataset.model_dump(exclude={"path"}))
    yes = sum(item.gold == "yes" for item in data.items)
    assert len(data.items) == 40
    assert 15 <= yes <= 25
    schema = config.arms["examples"].extra_body["response_format"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["yes", "no"]
