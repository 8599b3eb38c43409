"""What is said about a study file that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evaltui import config as configs
from evaltui.core.errors import InputError

Faults = Callable[..., list[str]]


def test_every_fault_is_told_at_once_with_its_key_path(faults: Faults) -> None:
    assert faults(
        ('name = "s"', 'name = "s"\nrepeats = 0\nconcurrency = "8"'),
        ("[arms.candidate]", "temprature = 1\n[arms.candidate]"),
        ('gold = "answer"', 'gold = "answer"\ndelimiter = ";;"'),
        ('kind = "exact"', 'kind = "exat"'),
    ) == [
        "study.repeats: 0 does not fit; it must be 1 or more",
        'study.concurrency: "8" is not a whole number',
        "dataset.delimiter: ';;' is no delimiter; it is one character, such as ';' or '\\t'",
        "arms.baseline.temprature: unknown key; did you mean 'temperature'?",
        'scorers.match.kind: "exat" is not a kind; available now: exact, contains, regex, choice, numeric, json, '
        "json_schema, python, command; did you mean 'exact'?",
    ]


def test_a_syntax_error_is_told_with_its_line(faults: Faults) -> None:
    (fault,) = faults(('model = "m-1"', "model = m-1"))
    assert fault.startswith("not TOML: Invalid value (at line 14, column")


def test_a_file_that_is_not_there_points_to_init(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        configs.load(tmp_path / "absent.toml")
    assert "does not exist; evaltui init writes a study file" in str(refused.value)


def test_an_empty_study_says_which_tables_are_needed() -> None:
    with pytest.raises(InputError) as refused:
        configs.from_mapping({}, Path(), source="s.toml")
    assert [str(fault) for fault in refused.value.faults] == [
        "endpoints: at least one table [endpoints.NAME] is needed",
        "arms: at least one table [arms.NAME] is needed",
        "scorers: at least one table [scorers.NAME] is needed",
        "study: the table [study] is needed",
        "dataset: the table [dataset] is needed",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[scorers.match]", "[scorer.match]", "scorer: unknown key; did you mean 'scorers'?"),
        ('gold = "answer"', 'glod = "answer"', "dataset.glod: unknown key; did you mean 'gold'?"),
        ('gold = "answer"', 'encoding = "utf-9"', "dataset.encoding: 'utf-9' is no text encoding"),
        ('gold = "answer"', 'encoding = "undefined"', "dataset.encoding: 'undefined' is no text encoding"),
        ("temperature = 0", f"seed = {'9' * 5000}", "a number has thousands of digits; write it as text in quotes"),
        ('name = "s"', 'name = "s"\nschedule = "random"', 'study.schedule: "random" does not fit; it must be one of'),
        ('name = "s"', 'name = "s"\nmissing = { ok = "fail" }', "study.missing: 'ok' is not a status"),
        ('name = "s"', 'name = "s"\nmissing = { timeout = "drop" }', 'study.missing.timeout: "drop" does not fit'),
        ('name = "s"', 'name = "s"\nbaseline = "basline"', 'study.baseline: there is no arm "basline"; did you mean'),
        ('name = "s"', 'name = "s"\nmax_cost = nan', "study.max_cost: nan is not a finite number"),
        ('name = "s"', 'name = "a:b"', "study.name: a name starts with a letter or digit"),
        ('name = "s"', 'name = "a\\u0007"', "study.name: a name starts with a letter or digit"),
        ('name = "s"', 'name = "latest"', "study.name: 'latest' always means the newest study"),
        ("[arms.candidate]", '[arms."v#2"]', 'arms."v#2": a name starts with a letter or digit'),
        (
            'endpoint = "main"',
            'endpoint = "mian"',
            "arms.baseline.endpoint: there is no endpoint \"mian\"; did you mean 'main'?",
        ),
        ('extends = "baseline"', 'extends = "base"', 'arms.candidate.extends: there is no arm "base"'),
        ('extends = "baseline"', 'extends = "candidate"', "arms.candidate.extends: goes round in a circle"),
        ('prompt_text = "Q: {{question}}"', "", "arms.baseline.prompt: this key is needed"),
        ('prompt_text = "Q: {{question}}"', 'prompt = "absent.txt"', "arms.baseline.prompt: "),
        ("temperature = 0", 'prompt = "p.txt"', "prompt and prompt_text are both given"),
        ("temperature = 0", "temperature = true", "arms.baseline.temperature: true is not a number"),
        (
            "temperature = 0",
            'seed = "always"',
            'arms.baseline.seed: a seed is "none", "per-repeat", "per-item" or a whole number',
        ),
        (
            "temperature = 0",
            "extra_body = { stream = true }",
            "arms.baseline.extra_body: 'stream' does not belong here",
        ),
        (
            "temperature = 0",
            "extra_body = { day = 2026-01-02 }",
            "arms.baseline.extra_body: day is 2026-01-02, which JSON",
        ),
        (
            'kind = "openai"',
            'kind = "antropic"',
            '"antropic" is not a kind; available now: openai, anthropic, command, python, replay, simulator',
        ),
        ('base_url = "http://127.0.0.1:8000/v1"', "", "endpoints.main: an endpoint of kind 'openai' needs base_url"),
        ("http://127", "127", "endpoints.main.base_url: the URL needs a scheme and a host"),
        (":8000/v1", ":8000/v1/completions", "endpoints.main.base_url: the URL leads to plain completions"),
        (":8000/v1", ":99999/v1", "endpoints.main.base_url: the port of the URL"),
        (
            'kind = "openai"',
            'kind = "openai"\nprice = { input = -1, output = 0 }',
            "endpoints.main.price.input: -1 does not fit",
        ),
        (
            'kind = "openai"',
            'kind = "openai"\nprice = { input = 1, outptu = 0 }',
            "price.outptu: unknown key; did you mean 'output'?",
        ),
        (
            'kind = "openai"',
            'kind = "openai"\nsimulator = { seed = 1 }',
            "simulator belongs to kind 'simulator', and this endpoint is 'openai'",
        ),
        ('kind = "exact"', 'kind = "judge"', 'scorers.match.kind: "judge" comes with a later version'),
        ('kind = "exact"', 'kind = "regex"\npattern = "("', "scorers.match.pattern: not a regular expression"),
        ('kind = "exact"', 'kind = "regex"\npattern = "a"\ngroup = 1', "scorers.match: the pattern has no group 1"),
        (
            'kind = "exact"',
            'kind = "json_schema"\nschema = { type = "objct" }',
            "scorers.match.schema: not a JSON Schema",
        ),
        ('kind = "exact"', 'kind = "numeric"\ntolerance = -1', "scorers.match.tolerance: -1 does not fit"),
        ('kind = "exact"', 'kind = "exact"\ntolerance = 1', "scorers.match.tolerance: unknown key; known here: "),
        ("[study]", "[pins]\nday = 2026-01-02\n[study]", "pins: a pin is a text, a number, true or false; not so: day"),
    ],
)
def test_one_fault_is_one_sentence(faults: Faults, old: str, new: str, said: str) -> None:
    assert any(said in fault for fault in faults((old, new)))


def test_a_fault_is_told_where_it_was_written_and_once(faults: Faults) -> None:
    assert faults(("temperature = 0", "temperature = -1")) == [
        "arms.baseline.temperature: -1 does not fit; it must be 0 or more"
    ]


def test_several_scorers_need_exactly_one_primary(faults: Faults) -> None:
    second = '[scorers.second]\nkind = "contains"\n'
    assert faults(more=second) == [
        "scorers: none of match, second is primary; say primary = true in the one to compare"
    ]
    both = faults(('kind = "exact"', 'kind = "exact"\nprimary = true'), more=second + "primary = true\n")
    assert both == ["scorers: only one scorer can be primary, and match, second all say so"]


def test_simulator_settings_name_arms_of_the_study(faults: Faults) -> None:
    found = faults(
        ('kind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"', 'kind = "simulator"'),
        more='[endpoints.main.simulator]\neffects = { candidat = 0.1 }\nweather = { candidate = 1, "other#1" = 1 }\n',
    )
    assert found == [
        "endpoints.main.simulator.effects.candidat: there is no arm \"candidat\"; did you mean 'candidate'?",
        'endpoints.main.simulator.weather.candidate: "candidate" is not a run; '
        "a run is written ARM#REPEAT, such as baseline#2",
        'endpoints.main.simulator.weather."other#1": there is no arm "other"; there is baseline, candidate',
    ]


def test_simulator_settings_have_types_and_ranges(faults: Faults) -> None:
    found = faults(
        ('kind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"', 'kind = "simulator"'),
        more='[endpoints.main.simulator]\nseed = "1"\nspeed = 0\n'
        'faults = { timeot = 0.1, empty = 2 }\nrun_faults = { "candidate#1" = { timeout = 0.7, empty = 0.7 } }\n',
    )
    assert found == [
        'endpoints.main.simulator.seed: "1" is not a whole number',
        "endpoints.main.simulator.faults.empty: 2 does not fit; it must be 1 or less",
        "endpoints.main.simulator.faults.timeot: unknown key; did you mean 'timeout'?",
        'endpoints.main.simulator.run_faults."candidate#1": the probabilities add up to 1.4, more than 1',
        "endpoints.main.simulator.speed: 0 does not fit; it must be more than 0",
    ]


def test_a_prompt_in_another_encoding_is_named_with_line_and_byte(faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes(b"one\ncaf\xe9")
    (fault,) = faults(('prompt_text = "Q: {{question}}"', 'prompt = "p.txt"'))
    assert fault.endswith("p.txt is not UTF-8: line 2 holds the byte 0xe9; save it as UTF-8")


def test_an_empty_prompt_file_is_refused(faults: Faults, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes(b"\n")
    (fault,) = faults(('prompt_text = "Q: {{question}}"', 'prompt = "p.txt"'))
    assert fault.endswith("p.txt is empty")


def test_every_fault_of_an_extra_body_is_told_at_once(faults: Faults) -> None:
    (fault,) = faults(("temperature = 0", "temperature = 0\nextra_body = { n = 2, stream = true, x = nan }"))
    assert all(said in fault for said in ("'n' does not belong here", "'stream' does not belong", "x is nan"))


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (('endpoint = "main"', 'endpoint = "main"\nmax_tokens = 99999999999'), "it must be 1e+07 or less"),
        (('kind = "openai"', 'kind = "openai"\ntimeout_s = 1e300'), "it must be 604800 or less"),
    ],
)
def test_absurd_sizes_are_refused(faults: Faults, slip: tuple[str, str], said: str) -> None:
    (fault,) = faults(slip)
    assert said in fault
