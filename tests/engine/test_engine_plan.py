"""From a study file to the plan: order, pins, hashes, warnings and price."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evaltui import config as configs
from evaltui import datasets
from evaltui.config import StudyConfig
from evaltui.core.pins import differing
from evaltui.core.study import StudyPlan
from evaltui.datasets import Dataset, make_item
from evaltui.datasets.demo import arithmetic_items
from evaltui.engine.checkout import commit_of
from evaltui.engine.plan import build_plan, preview

ITEMS = datasets.from_items(arithmetic_items(12, seed=1), bytes_sha256="b" * 64)


def merged(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    whole = dict(base)
    for name, value in changes.items():
        whole[name] = merged(whole.get(name, {}), value) if isinstance(value, Mapping) else value
    return whole


def study(changes: Mapping[str, Any] | None = None) -> StudyConfig:
    """A study of two arms on a simulator, with ``changes`` merged in table by table."""
    base: dict[str, Any] = {
        "study": {"name": "s", "repeats": 8, "order_seed": 3},
        "dataset": {"path": "items.jsonl", "gold": "answer"},
        "endpoints": {"main": {"kind": "simulator", "price": {"input": 1.0, "output": 10.0}}},
        "arms": {
            "baseline": {
                "endpoint": "main",
                "model": "m-1",
                "prompt_text": "{{question}}",
                "temperature": 0.5,
                "max_tokens": 100,
            },
            "candidate": {"extends": "baseline", "prompt_text": "Think. {{question}}"},
        },
        "scorers": {"number": {"kind": "numeric"}},
    }
    return configs.from_mapping(merged(base, changes or {}), Path("/x"), source="s.toml")


def plan(changes: Mapping[str, Any] | None = None, dataset: Dataset = ITEMS) -> StudyPlan:
    return build_plan(study(changes), dataset)


def test_items_stand_in_the_seeded_order_with_their_positions() -> None:
    made = plan()
    assert [item.position for item in made.items] == list(range(12))
    assert [item.id for item in made.items] != [item.id for item in ITEMS.items]
    assert [item.id for item in made.items] == [item.id for item in plan().items]
    assert [item.id for item in made.items] != [item.id for item in plan({"study": {"order_seed": 4}}).items]


def test_an_arm_pins_what_was_held_fixed() -> None:
    pins = (
        plan({"pins": {"gpu": "H100"}, "arms": {"baseline": {"seed": 7, "extra_body": {"k": 1}}}}).design.arms[0].pins
    )
    assert pins["dataset_sha256"] == ITEMS.content_sha256
    assert pins["dataset_bytes_sha256"] == "b" * 64
    # printf '%s' '{{question}}' | sha256sum
    assert pins["prompt_sha256"] == "d3bcaf71c11c2678899be04d872718325f0916b3b0705e805ee29930663a42e2"
    assert (pins["model"], pins["temperature"], pins["max_tokens"], pins["seed"]) == ("m-1", 0.5, 100, 7)
    assert (pins["extra_body"], pins["pins.gpu"], pins["items"]) == ('{"k": 1}', "H100", 12)
    assert str(pins["scorer.number"]).startswith("numeric-")
    assert (pins["endpoint_kind"], pins["order_seed"], pins["schedule"]) == ("simulator", 3, "interleaved")
    assert str(pins["harness"]).startswith("evaltui ")


def test_arms_differ_in_the_pins_that_were_changed() -> None:
    baseline, candidate = plan().design.arms
    assert [name for name, _, _ in differing(baseline.pins, candidate.pins)] == ["prompt_sha256"]


@pytest.mark.parametrize(
    "changes",
    [
        {"arms": {"baseline": {"model": "m-2"}}},
        {"arms": {"baseline": {"temperature": 0.6}}},
        {"arms": {"baseline": {"max_tokens": 101}}},
        {"arms": {"baseline": {"extra_body": {"k": 1}}}},
        {"arms": {"baseline": {"system_text": "Be brief."}}},
        {"arms": {"third": {"extends": "baseline"}}},
        {"scorers": {"number": {"tolerance": 0.1}}},
        {"scorers": {"number": {"primary": True}, "second": {"kind": "contains"}}},
        {"study": {"order_seed": 4}},
        {"study": {"schedule": "sequential"}},
        {"endpoints": {"main": {"simulator": {"seed": 2}}}},
        {"endpoints": {"main": {"simulator": {"effects": {"candidate": 0.1}}}}},
        {"endpoints": {"main": {"simulator": {"faults": {"timeout": 0.1}}}}},
        {"pins": {"gpu": "H100"}},
    ],
    ids=str,
)
def test_another_configuration_has_another_hash(changes: dict[str, Any]) -> None:
    assert plan(changes).design.pin_hash != plan().design.pin_hash


@pytest.mark.parametrize(
    "changes",
    [
        {"study": {"repeats": 3}},
        {"study": {"name": "other", "concurrency": 2, "max_cost": 1.0, "disclosure": "ours"}},
        {"dataset": {"path": "elsewhere/items.csv"}},
        {"endpoints": {"main": {"timeout_s": 5, "retries": 0, "price": {"input": 9}, "api_key_env": "KEY"}}},
        {"endpoints": {"main": {"base_url": "http://127.0.0.1:9/v1"}}},
        {"endpoints": {"main": {"simulator": {"speed": 10}}}},
        {"arms": {"baseline": {"temperature": 0.5, "seed": "none"}}},
    ],
    ids=str,
)
def test_what_is_no_configuration_leaves_the_hash_alone(changes: dict[str, Any]) -> None:
    assert plan(changes).design.pin_hash == plan().design.pin_hash


def test_no_warm_up_is_no_pin_and_one_is() -> None:
    without, old, warmed = (plan(given).design for given in ({"study": {"warmup": 0}}, {}, {"study": {"warmup": 1}}))
    assert without.pin_hash == old.pin_hash != warmed.pin_hash
    assert "warmup" not in without.arms[0].pins
    assert warmed.arms[0].pins["warmup"] == 1


def test_other_bytes_of_the_same_content_leave_the_hash_alone() -> None:
    other = datasets.from_items(reversed(ITEMS.items), bytes_sha256="c" * 64)
    assert plan(dataset=other).design.pin_hash == plan().design.pin_hash


def test_the_plan_holds_the_whole_study_without_its_files() -> None:
    config = study()
    made = build_plan(config, ITEMS, config_path=Path("/x/s.toml"))
    assert configs.from_mapping(made.config, Path("/elsewhere"), source="stored") == config
    assert made.config_path == "/x/s.toml"


NO_NUMBER = "number cannot use the gold of 1 item: the gold of item 'i0' is no number and no text that holds one"


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        (
            "banana",
            "number cannot use the gold of 1 item: the gold of item 'i0' is no number and no text that holds one",
        ),
        (
            '{"b": 1}',
            "number cannot use the gold of 1 item: the gold of item 'i0' is no number and no text that holds one",
        ),
        ("#### 42", None),
    ],
)
def test_a_gold_that_its_scorer_cannot_use_is_told_before_the_start(gold: str, told: str | None) -> None:
    config = study({"scorers": {"number": {"primary": True}}})
    items = datasets.from_items(make_item(f"i{n}", {"question": "?"}, gold=gold if n == 0 else "1") for n in range(12))
    shown = preview(config, build_plan(config, items))
    assert [each for each in shown.warnings if "cannot use the gold" in each] == ([] if told is None else [told])


def test_the_design_names_its_scorers_with_the_primary_marked() -> None:
    changes = {"scorers": {"number": {"primary": True}, "shape": {"kind": "json_schema", "schema": {}}}}
    scorers = plan(changes).design.scorers
    assert [(scorer.name, scorer.kind, scorer.primary) for scorer in scorers] == [
        ("number", "numeric", True),
        ("shape", "json_schema", False),
    ]
    assert {scorer.score_range for scorer in scorers} == {(0.0, 1.0)}


def test_requests_tokens_and_money_are_reckoned_before_the_start() -> None:
    items = datasets.from_items(make_item(f"i{n}", {"question": "q" * 20, "answer": "1"}, gold="1") for n in range(10))
    changes = {"arms": {"candidate": {"max_tokens": 200}}}
    config = study(changes)
    shown = preview(config, build_plan(config, items))
    baseline, candidate = shown.arms
    # 80 calls each; 20 characters are 5 tokens, "Think. " makes them 27 and so 7.
    assert (baseline.requests, baseline.prompt_tokens, baseline.completion_tokens) == (80, 400, 8_000)
    assert (candidate.requests, candidate.prompt_tokens, candidate.completion_tokens) == (80, 560, 16_000)
    assert shown.requests == 160
    assert shown.cost == pytest.approx((960 * 1.0 + 24_000 * 10.0) / 1e6)
    assert shown.ten_repeats_cost == pytest.approx((1_200 * 1.0 + 30_000 * 10.0) / 1e6)


def test_without_prices_there_is_no_cost() -> None:
    config = study({"endpoints": {"main": {"price": None}}})
    shown = preview(config, build_plan(config, ITEMS))
    assert (shown.cost, shown.ten_repeats_cost) == (None, None)


def test_a_sound_study_draws_no_warning() -> None:
    config = study()
    assert preview(config, build_plan(config, ITEMS), notices=("told",)).warnings == ()
    assert preview(config, build_plan(config, ITEMS), notices=("told",)).notices == ("told",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"study": {"repeats": 3}}, "3 repeats: fewer than 8 make no stable band"),
        ({"study": {"repeats": 13}}, "13 repeats: more than 12"),
        ({"arms": {"baseline": {"temperature": None}}}, "temperature is not pinned in baseline, candidate"),
        (
            {"arms": {"candidate": {"max_tokens": None}}},
            "max_tokens is not set in candidate: 256 an answer are assumed",
        ),
        ({"study": {"max_cost": 0.01}}, "may stop at max_cost = 0.01"),
        (
            {"study": {"max_cost": 5.0}, "endpoints": {"main": {"price": None}}},
            "max_cost = 5 does not limit baseline, candidate",
        ),
        ({"endpoints": {"main": {"api_key_env": "NO_SUCH_KEY"}}}, "the environment variable NO_SUCH_KEY is not set"),
    ],
)
def test_what_weakens_a_study_is_warned_of(changes: dict[str, Any], said: str) -> None:
    config = study(changes)
    (warning,) = preview(config, build_plan(config, ITEMS), environ={}).warnings
    assert said in warning


def test_few_items_and_missing_gold_are_warned_of() -> None:
    config = study()
    few = datasets.from_items(make_item(f"i{n}", {"question": "q"}) for n in range(9))
    warnings = preview(config, build_plan(config, few)).warnings
    assert warnings[0].startswith("9 items: fewer than 10")
    assert warnings[1] == "no item has gold, which number needs: say gold = FIELD in [dataset]"


def test_items_without_gold_among_others_are_named() -> None:
    config = study()
    rows = [make_item(f"i{n:02}", {"question": "q"}, gold=None if n in (3, 7) else "1") for n in range(12)]
    (warning,) = preview(config, build_plan(config, datasets.from_items(rows))).warnings
    assert warning == "2 items without gold, which number needs: i03, i07"


def test_a_prompt_that_uses_no_field_is_warned_of() -> None:
    config = study({"arms": {"candidate": {"prompt_text": "Say yes."}}})
    (warning,) = preview(config, build_plan(config, ITEMS)).warnings
    assert warning == "no {{field}} in the prompt of candidate: every item sends the same text"


def test_one_arm_has_nothing_to_be_compared_with() -> None:
    config = configs.narrowed(study(), arms=("baseline",))
    (warning,) = preview(config, build_plan(config, ITEMS)).warnings
    assert warning.startswith("one arm only")


def test_the_url_that_is_called_is_shown() -> None:
    config = study({"endpoints": {"main": {"base_url": "http://127.0.0.1:8765"}}})
    shown = preview(config, build_plan(config, ITEMS))
    assert {arm.url for arm in shown.arms} == {"http://127.0.0.1:8765/v1/chat/completions"}
    in_process = preview(study(), plan())
    assert {arm.url for arm in in_process.arms} == {"simulator"}


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "files",
    [
        {"HEAD": COMMIT},
        {"HEAD": "ref: refs/heads/main\n", "refs/heads/main": COMMIT + "\n"},
        {"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n"},
    ],
    ids=["detached", "loose", "packed"],
)
def test_the_commit_around_a_study_file_is_read(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = tmp_path / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "studies").mkdir()
    assert commit_of(tmp_path / "studies" / "s.toml") == COMMIT


def test_a_linked_work_tree_has_its_own_commit(tmp_path: Path) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "other"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/other\n")
    (own / "commondir").write_text("../..\n")
    heads = tmp_path / "main" / ".git" / "refs" / "heads"
    heads.mkdir(parents=True)
    (heads / "other").write_text(COMMIT)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {own}\n")
    assert commit_of(tmp_path / "tree" / "s.toml") == COMMIT


def test_a_repository_without_a_commit_pins_none(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert commit_of(tmp_path / "s.toml") is None
