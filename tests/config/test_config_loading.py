"""What a study file means once it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaltui import config as configs
from evaltui.config import StudyConfig
from evaltui.core.errors import InputError
from evaltui.core.status import Status

Load = Callable[..., StudyConfig]


def test_defaults_are_those_of_the_design(load: Load) -> None:
    config = load()
    assert (config.study.repeats, config.study.concurrency, config.study.order_seed) == (10, 8, 0)
    assert config.study.schedule == "interleaved"
    endpoint = config.endpoints["main"]
    assert (endpoint.timeout_s, endpoint.retries, endpoint.retry_timeouts, endpoint.price) == (60.0, 3, True, None)
    assert config.arms["baseline"].seed == "none"
    assert config.dataset.id == "id"


def test_paths_are_relative_to_the_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "v1.txt").write_bytes(b"\xef\xbb\xbfline one\r\nline {{question}}\r\n")
    config = load(('prompt_text = "Q: {{question}}"', 'prompt = "p/v1.txt"'))
    assert config.dataset.path == tmp_path / "items.jsonl"
    assert config.arms["baseline"].prompt_text == "line one\nline {{question}}"


def test_an_arm_takes_from_the_one_it_extends_what_it_does_not_say(load: Load, tmp_path: Path) -> None:
    (tmp_path / "v3.txt").write_text("from a file {{question}}")
    config = load(more='[arms.third]\nextends = "candidate"\nprompt = "v3.txt"\nmax_tokens = 5\n')
    third = config.arms["third"]
    assert (third.endpoint, third.model, third.temperature, third.max_tokens) == ("main", "m-1", 0.0, 5)
    assert third.prompt_text == "from a file {{question}}"


def test_the_baseline_is_named_else_called_so_else_first(load: Load) -> None:
    assert load().study.baseline == "baseline"
    assert load(('name = "s"', 'name = "s"\nbaseline = "candidate"')).study.baseline == "candidate"
    renamed = load(("[arms.baseline]", "[arms.v1]"), ('extends = "baseline"', 'extends = "v1"'))
    assert renamed.study.baseline == "v1"


def test_a_single_scorer_is_primary_by_itself(load: Load) -> None:
    assert load().primary == "match"
    assert load(more='[scorers.other]\nkind = "contains"\nprimary = true\n').primary == "other"


def test_the_missing_policy_is_by_status(load: Load) -> None:
    config = load(('name = "s"', 'name = "s"\nmissing = { default = "exclude", parse_failure = "fail" }'))
    policy = config.study.missing_policy()
    assert (policy.of(Status.TIMEOUT), policy.of(Status.PARSE_FAILURE)) == ("exclude", "fail")


def test_a_simulator_has_its_settings(load: Load) -> None:
    config = load(
        ('kind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"', 'kind = "simulator"'),
        more="[endpoints.main.simulator]\nseed = 9\nfaults = { timeout = 0.1 }\neffects = { candidate = 0.02 }\n"
        'run_faults = { "candidate#2" = { empty = 1 } }\n',
    )
    settings = config.endpoints["main"].simulator
    assert settings is not None
    assert (settings.seed, settings.faults.timeout, settings.effects) == (9, 0.1, {"candidate": 0.02})
    assert settings.run_faults["candidate#2"].empty == 1.0


def test_a_json_schema_can_lie_in_a_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "object"}')
    config = load(('kind = "exact"', 'kind = "json_schema"\nschema = "s.json"'))
    assert config.scorers["match"].options() == {"schema": {"type": "object"}}


def test_a_dumped_study_reads_back_without_its_files(load: Load, tmp_path: Path) -> None:
    (tmp_path / "v1.txt").write_text("{{question}}")
    (tmp_path / "s.json").write_text('{"enum": ["a", null]}')
    config = load(
        ('prompt_text = "Q: {{question}}"', 'prompt = "v1.txt"'),
        ("temperature = 0", 'temperature = 0\nextra_body = { stop = ["\\n"] }\nseed = "per-repeat"'),
        ('base_url = "http', 'api_key_env = "SOME_KEY"\nprice = { input = 1, output = 2 }\nbase_url = "http'),
        ('kind = "exact"', 'kind = "json_schema"\nschema = "s.json"'),
        more='[pins]\ngpu = "H100"\n[gate]\nrules = ["interval"]\n[endpoints.sim]\nkind = "simulator"\n',
    )
    stored = json.loads(json.dumps(configs.dump(config)))
    assert configs.from_mapping(stored, Path("/nowhere"), source="stored") == config


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/v1/",
        "http://127.0.0.1:8000/v1/chat/completions",
        " http://127.0.0.1:8000/v1 ",
        "http://127.0.0.1:8000/v1?api-version=2",
        "http://127.0.0.1:8000//v1",
        "https://[::1]:8000/v1",
    ],
)
def test_base_urls_are_taken_as_people_paste_them(load: Load, base_url: str) -> None:
    from evaltui.providers.address import chat_url

    config = load(("http://127.0.0.1:8000/v1", base_url))
    accepted = config.endpoints["main"].base_url
    assert accepted == base_url.strip()
    assert chat_url(accepted).partition("?")[0].endswith("/v1/chat/completions")


def test_a_study_can_be_narrowed_to_some_arms_and_repeats(load: Load) -> None:
    config = load(
        ('kind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"', 'kind = "simulator"'),
        more="[endpoints.main.simulator]\neffects = { baseline = 0.1, candidate = 0.02 }\n"
        'weather = { "baseline#3" = 1 }\n',
    )
    narrow = configs.narrowed(config, repeats=3, arms=("candidate",))
    assert (narrow.study.repeats, narrow.study.baseline, list(narrow.arms)) == (3, "candidate", ["candidate"])
    settings = narrow.endpoints["main"].simulator
    assert settings is not None
    assert (settings.effects, settings.weather) == ({"candidate": 0.02}, {})
    assert configs.from_mapping(configs.dump(narrow), Path(), source="stored") == narrow
    assert configs.narrowed(config) == config


def test_narrowing_to_what_is_not_there_is_refused(load: Load) -> None:
    with pytest.raises(InputError) as refused:
        configs.narrowed(load(), repeats=0, arms=("candidat",))
    assert [str(fault) for fault in refused.value.faults] == [
        "arms: there is no arm \"candidat\"; did you mean 'candidate'?",
        "repeats: 0 does not fit; it must be 1 or more",
    ]


def test_limits_can_be_set_when_a_study_is_launched(load: Load) -> None:
    config = load()
    study = configs.narrowed(config, max_cost=2.5, max_errors=0.5, concurrency=3).study
    assert (study.max_cost, study.max_errors, study.concurrency) == (2.5, 0.5, 3)
    assert study.repeats == config.study.repeats


@pytest.mark.parametrize(
    ("setting", "value"),
    [("concurrency", 0), ("concurrency", 5000), ("max_cost", 0.0), ("max_cost", float("nan")), ("max_errors", 1.5)],
)
def test_a_limit_that_cannot_be_is_refused_by_name(load: Load, setting: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{setting}: .*(must be|is not)"):
        configs.narrowed(load(), **{setting: value})
