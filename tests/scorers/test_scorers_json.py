"""JSON in answers: found, compared, validated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaltui.core.status import Status
from evaltui.scorers.json_text import NoJSONError, find_json

EXPECTED = [
    {"pass": True, "score": 9, "reason": 'uses "alike" well'},
    {"pass": False, "reason": "braces { inside } text"},
    None,
    None,
    {"reason": "line one\nline two", "score": 0.75},
    [{"pass": True}],
    {"pass": "false"},
    {"pass": None, "score": None},
]


def test_public_variants_of_a_judges_json_are_read_or_refused(cases: Path):
    lines = (cases / "repro" / "C_judge_json_variants.jsonl").read_text(encoding="utf-8").splitlines()
    for line, expected in zip(lines, EXPECTED, strict=True):
        raw = json.loads(line)["raw"]
        if expected is None:
            with pytest.raises(NoJSONError):
                find_json(raw)
        else:
            assert find_json(raw) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" 42 ", 42),
        ('Sure {as asked}: {"a": "}"} [1]', {"a": "}"}),
        ('first {"a": 1}, then {"a": 2}', {"a": 2}),
        ('```json\n[1, 2]\n``` and {"no": 1}', [1, 2]),
    ],
)
def test_the_last_json_of_the_most_explicit_kind_is_found(text, value):
    assert find_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"pass": true}, "b": ',
        '{"verdict": True, "inner": {"pass": true}}',
        "{'a': 1}",
        '{"a": NaN}',
        "",
        "{" * 100_000,
        "[" * 100_000,
    ],
    ids=["cut", "python", "quotes", "nan", "empty", "braces", "brackets"],
)
def test_what_is_not_json_is_never_read_as_its_inner_part(text):
    with pytest.raises(NoJSONError):
        find_json(text)


@pytest.mark.parametrize(
    ("gold", "text", "options", "expected"),
    [
        ('{"a": 1, "b": [2]}', '{"b": [2.0], "a": 1}', {}, 1.0),
        ('{"a": 1}', '{"a": true}', {}, 0.0),
        ('{"a": 1}', '{"a": 1, "b": 2}', {}, 0.0),
        ("yes", '{"answer": "yes"}', {"field": "answer"}, 1.0),
        ("yes", '{"answer": "Yes"}', {"field": "answer"}, 0.0),
        ("yes", '{"answer": "Yes"}', {"field": "answer", "ignore_case": True}, 1.0),
        ("18", '{"answer": "18"}', {"field": "answer"}, 1.0),
        ("18", '{"answer": 18}', {"field": "answer"}, 1.0),
        ('{"answer": "no"}', '{"answer": "no", "why": "…"}', {"field": "answer"}, 1.0),
        ("b", '{"r": [{"v": "a"}, {"v": "b"}]}', {"field": "r.1.v"}, 1.0),
        ("true", '{"pass": "false"}', {"field": "pass"}, 0.0),
    ],
)
def test_json_equality(score, gold, text, options, expected):
    assert score("json", gold, text, **options).score == expected


def test_the_label_is_the_canonical_json_of_what_was_compared(score):
    assert score("json", "{}", '{ "B": 1.0, "a": [ ] }').label == '{"b":1,"a":[]}'


@pytest.mark.parametrize("text", ["yes", '{"verdict": "yes"}', '{"answer": null}', "[1]"])
def test_an_answer_without_the_field_is_a_parse_failure(score, text):
    assert score("json", "yes", text, field="answer").status is Status.PARSE_FAILURE


def test_a_gold_that_is_not_json_is_an_error_of_the_scorer(score):
    assert score("json", "{yes}", "{}").status is Status.SCORER_ERROR


SCHEMA = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"enum": ["yes", "no"]}, "code": {"type": "string", "pattern": "^(a+)+$"}},
}


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        ('{"verdict": "yes"}', "valid", 1.0),
        ('```json\n{"verdict": "no", "code": "aa"}\n```', "valid", 1.0),
        ('{"verdict": "maybe"}', "invalid", 0.0),
        ("{}", "invalid", 0.0),
    ],
)
def test_json_schema(score, text, label, expected):
    verdict = score("json_schema", None, text, schema=SCHEMA)
    assert (verdict.label, verdict.score) == (label, expected)


def test_an_invalid_answer_says_where(score):
    assert "$.verdict" in score("json_schema", None, '{"verdict": "maybe"}', schema=SCHEMA).note


def test_json_schema_of_an_answer_that_is_not_json_is_a_parse_failure(score):
    assert score("json_schema", None, "yes", schema=SCHEMA).status is Status.PARSE_FAILURE


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"pattern": "^((a|aa)+)+$"}, json.dumps("a" * 5000 + "b")),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "1"),
    ],
    ids=["catastrophic", "remote"],
)
def test_a_schema_that_cannot_be_applied_is_an_error_of_the_scorer(score, schema, text):
    assert score("json_schema", None, text, schema=schema).status is Status.SCORER_ERROR


def test_a_schema_without_end_does_not_end_the_study(score):
    verdict = score("json_schema", None, "[1]", schema={"$ref": "#"})
    assert verdict.score is None
