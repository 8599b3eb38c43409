"""Visible reasoning is kept apart from the answer and never graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaltui.core.status import Status
from evaltui.scorers.reasoning import split_reasoning


def test_public_case_1_braces_in_the_reasoning_are_not_the_json(score, cases: Path):
    raw = _case(cases, 0)
    verdict = score("json", "true", raw, field="pass")
    assert (verdict.label, verdict.score) == ("true", 1.0)


@pytest.mark.parametrize(("number", "expected"), [(1, "13"), (4, "1"), (5, "5")])
def test_public_cases_with_a_number_grade_the_answer_and_not_the_early_guess(score, cases: Path, number, expected):
    assert score("numeric", expected, _case(cases, number)).score == 1.0


def test_public_case_3_an_unclosed_block_is_an_unfinished_answer_and_not_wrong(score, cases: Path):
    verdict = score("numeric", "12", _case(cases, 2))
    assert (verdict.status, verdict.label, verdict.score) == (Status.TRUNCATED, None, None)


def test_public_case_4_a_tag_that_is_part_of_the_answer_stays(score, cases: Path):
    assert score("regex", "<think>", _case(cases, 3), pattern=r"ANSWER: (.*)").score == 1.0


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("plain", "plain", ""),
        ("<think>a</think>b", "b", "a"),
        ("<THINK>a</THINK>b", "b", "a"),
        ("<thinking>a</thinking>b", "b", "a"),
        ("a</think>b", "b", "a"),
        ("<think>a mentions <think> here</think>b", "b", "a mentions <think> here"),
        ("x<think>a</think>y<think>b", "xy<think>b", "a"),
        ("<think></think>", "", ""),
    ],
)
def test_split(text: str, answer: str, reasoning: str):
    split = split_reasoning(text)
    assert (split.answer, split.reasoning, split.unfinished) == (answer, reasoning, False)


def test_reasoning_with_nothing_after_it_is_an_empty_answer(score):
    assert score("exact", "4", "<think>hm</think>\n").status is Status.EMPTY


def _case(cases: Path, number: int) -> str:
    lines = (cases / "repro" / "C_think_blocks.jsonl").read_text(encoding="utf-8").splitlines()
    return str(json.loads(lines[number])["raw"])
