from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.core.study import ArmDesign, Design
from evaltui.report.document import to_document
from evaltui.report.live import Live

HOSTILE = "[/bold]\x1b[2J\u202e[b"
NAMES = ("baseline", HOSTILE)


def study(design: Design, *, extra_calls: int = 0, repeats: int = 2) -> dict:
    items = [Item(f"q{place}", {}, None, None, None, bytes([place]), place) for place in range(design.n_items)]
    live = Live(make_info(design), items)
    rows = [
        Row(arm, repeat, place, float((arm + repeat + place) % 3 > 0), text=100 * repeat + place)
        for arm in range(2)
        for repeat in range(1, repeats + 1)
        for place in range(design.n_items)
    ]
    calls = [Call(0, 1, cost=0.5, prompt_tokens=7)] * (1 + extra_calls)
    live.apply(Delta(live.info, cell_batch(rows), attempt_batch(calls)))
    return to_document(live.summary(now=0.0))


def test_the_documented_keys_are_there() -> None:
    document = study(make_design(12, 2))
    assert {"study", "pins", "arms", "comparisons", "comparison", "categories", "warnings"} <= document.keys()
    assert {
        "id", "name", "status", "items", "repeats", "created", "seed", "schedule", "concurrency",
    } <= document["study"].keys()  # fmt: skip
    arm = document["arms"]["baseline"]
    assert arm.keys() >= {"runs", "mean", "range", "band", "flips", "excess_spread"}
    assert {
        "repeat", "score", "strict", "bounds", "counts", "retries", "comparable", "latency", "queue_wait_s", "started",
        "finished",
    } <= arm["runs"][0].keys()  # fmt: skip
    assert arm["runs"][0]["latency"].keys() == {"p50", "p95", "max"}
    assert arm["band"].keys() >= {"k", "mean", "sd", "sd_low", "sd_high", "z", "band", "measured", "sampling"}
    assert arm["band"].keys() >= {"level", "next_run"}
    assert arm["flips"].keys() >= {
        "pairwise", "between_runs", "minority", "items_that_flip", "items", "text_changes", "expected_changes",
    }  # fmt: skip
    assert arm["excess_spread"].keys() >= {"ratio", "p"}
    comparison = document["comparison"]
    assert {
        "baseline", "candidate", "difference", "means", "n_items", "n_in_flight", "n_left_out", "intervals", "headline",
        "sequence", "forecast", "gained", "lost", "sentence",
    } <= comparison.keys()  # fmt: skip
    assert comparison["means"].keys() == {"baseline", "candidate"}
    assert comparison["intervals"][0].keys() >= {"method", "unit", "estimand", "low", "high", "level", "n"}
    assert comparison["headline"].keys() >= {"method", "low", "high"}
    assert comparison["sequence"].keys() >= {"low", "high", "level", "method", "n"}
    assert comparison == document["comparisons"][0]


def test_every_cell_is_accounted_for() -> None:
    document = study(make_design(12, 2))
    assert [sum(run["counts"].values()) for arm in document["arms"].values() for run in arm["runs"]] == [12] * 4


def test_scores_are_fractions_and_bounds_a_pair() -> None:
    run = study(make_design(12, 2))["arms"]["baseline"]["runs"][0]
    assert 0 <= run["score"] <= 1
    assert run["bounds"] == [run["score"], run["score"]]


def test_where_one_more_run_will_land_is_a_pair_of_fractions_or_null() -> None:
    assert study(make_design(12, 2))["arms"]["baseline"]["band"]["next_run"] is None
    low, high = study(make_design(13, 3), repeats=3)["arms"]["baseline"]["band"]["next_run"]
    assert 0 <= low < high <= 1


def test_further_calls_change_usage_and_nothing_else() -> None:
    once, often = study(make_design(12, 2)), study(make_design(12, 2), extra_calls=3)
    assert once.pop("usage")["requests"] == 1
    assert often.pop("usage")["requests"] == 4
    assert once == often


def test_foreign_text_is_passed_on_letter_for_letter() -> None:
    document = study(make_design(12, 2, arms=NAMES))
    assert HOSTILE in json.loads(json.dumps(document))["arms"]
    assert document["comparison"]["candidate"] == HOSTILE


def test_numbers_that_json_does_not_have_become_null() -> None:
    design = make_design(12, 2)
    odd = ArmDesign("baseline", {"temperature": np.inf, "top_p": np.nan}, "hash")
    document = study(replace(design, arms=(odd, design.arms[1])))
    assert document["pins"]["baseline"] == {"temperature": None, "top_p": None}
    json.dumps(document, allow_nan=False)


def test_repeats_added_to_a_study_make_room_for_themselves() -> None:
    design = make_design(3, 1)
    live = Live(make_info(design), [Item(str(place), {}, None, None, None, b"", place) for place in range(3)])
    longer = make_info(replace(design, repeats=2))
    live.apply(Delta(longer, cell_batch([Row(0, 2, 0, 1.0)]), attempt_batch([Call(0, 2)])))
    assert [run.done for run in live.summary(now=0.0).arms[0].runs] == [0, 1]
