"""The numeric scorer: which number is read, and when two numbers are the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaltui.core.status import Status


def test_every_public_case_of_misread_numbers_comes_out_as_its_file_says(score, cases: Path):
    documented = {"n7": 1.0, "n9": 0.0}
    for line in (cases / "repro" / "C_number_answers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        expected = documented.get(row["id"], 1.0 if row["expect"].startswith("right") else 0.0)
        verdict = score("numeric", row["gold"], row["output"])
        assert (verdict.status, verdict.score) == (Status.OK, expected), row


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Janet has 16 - 3 - 4 = <<16-3-4=9>>9.\n#### 18", "18"),
        ("\\boxed{1{,}000}", "1000"),
        ("a profit of $70,000!", "70000"),
        ("-$5.50", "-5.5"),
        ("from 3-4", "4"),
        ("x = −7", "-7"),
        ("50%", "50"),
        (".5", "0.5"),
        ("wait...5", "5"),
        ("-0.0", "0"),
        ("007", "7"),
        ("2.5e-3", "0.0025"),
        ("答案是72个", "72"),
        ("१२", "12"),
        ("5 litres of H2O", "5"),
        ("25 m²", "25"),
        ("1,2,3", "3"),
        ("12 345", "345"),
        ("12\u202f345", "12345"),
        ("the 3rd", "3"),
    ],
)
def test_the_last_number_is_the_label(score, text: str, number: str):
    assert score("numeric", "1", text).label == number


@pytest.mark.parametrize("text", ["no idea", "H2O", "nan", "five", "-", "m²"])
def test_an_answer_without_a_readable_number_is_a_parse_failure_and_never_wrong(score, text: str):
    verdict = score("numeric", "2", text)
    assert (verdict.status, verdict.score, verdict.label) == (Status.PARSE_FAILURE, None, None)


def test_gold_of_gsm8k_is_its_last_number(score):
    assert score("numeric", "16 - 3 - 4 = 9\n9 * 2 = 18\n#### 18", "She makes $18.00.").score == 1.0


def test_digits_beyond_float_precision_are_compared_exactly(score):
    assert score("numeric", "9007199254740993", "9007199254740992").score == 0.0


@pytest.mark.parametrize(
    ("gold", "text", "options", "expected"),
    [
        ("3.14", "3.15", {"tolerance": 0.01}, 1.0),
        ("3.14", "3.151", {"tolerance": 0.01}, 0.0),
        ("200", "204", {"tolerance": 0.02, "relative": True}, 1.0),
        ("200", "205", {"tolerance": 0.02, "relative": True}, 0.0),
        ("-200", "-204", {"tolerance": 0.02, "relative": True}, 1.0),
    ],
)
def test_tolerance_is_inclusive_and_can_be_a_share_of_the_gold(score, gold, text, options, expected):
    assert score("numeric", gold, text, **options).score == expected


def test_a_number_beyond_all_bounds_is_wrong_and_no_crash(score):
    verdict = score("numeric", "2", "9" * 2_000_000, tolerance=0.1)
    assert verdict.score == 0.0
    assert len(verdict.label) <= 120


@pytest.mark.parametrize("gold", [None, "unknown"])
def test_a_gold_without_a_number_is_an_error_of_the_scorer(score, gold):
    verdict = score("numeric", gold, "5")
    assert verdict.status is Status.SCORER_ERROR
    assert "q1" in verdict.note
