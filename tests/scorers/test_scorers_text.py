"""Exact, contains, regex and choice."""

from __future__ import annotations

import pytest

from evaltui.core.status import Status


@pytest.mark.parametrize(
    ("gold", "text", "options", "expected"),
    [
        ("Paris", " Paris\n", {}, 1.0),
        ("Paris", "paris", {}, 0.0),
        ("Paris", "paris", {"ignore_case": True}, 1.0),
        ("Paris", "Paris.", {}, 0.0),
        ("Paris", '"**Paris**."', {"normalise": True}, 1.0),
        ("New York", "New \n York", {"normalise": True}, 1.0),
        ("１２", "12", {"normalise": True}, 1.0),
    ],
)
def test_exact(score, gold, text, options, expected):
    assert score("exact", gold, text, **options).score == expected


def test_exact_labels_fold_white_space_and_case(score):
    assert score("exact", "Paris", "The  Answer").label == score("exact", "Paris", "the answer").label


def test_equal_labels_mean_equal_scores_even_where_only_case_is_wrong(score):
    good, bad = score("exact", "Paris", "Paris"), score("exact", "Paris", "paris")
    assert (good.score, bad.score) == (1.0, 0.0)
    assert good.label != bad.label


def test_a_long_answer_gets_a_short_label_that_still_tells_it_apart(score):
    one, other = score("exact", "x", "y" * 5000 + "a").label, score("exact", "x", "y" * 5000 + "b").label
    assert len(one) <= 120
    assert one != other


@pytest.mark.parametrize(
    ("gold", "text", "options", "expected"),
    [
        ("Paris", "It is PARIS, of course", {}, 1.0),
        ("Paris", "It is PARIS", {"ignore_case": False}, 0.0),
        ("4", "there are 14", {}, 1.0),
        ("4", "there are 14", {"words": True}, 0.0),
        ("4", "there are 4.", {"words": True}, 1.0),
        (None, "sorry, no", {"text": "sorry"}, 1.0),
        ("New York", "in New\nYork", {}, 1.0),
    ],
)
def test_contains(score, gold, text, options, expected):
    verdict = score("contains", gold, text, **options)
    assert (verdict.score, verdict.label) == (expected, "found" if expected else "not found")


@pytest.mark.parametrize("gold", [None, " "])
def test_contains_needs_something_to_look_for(score, gold):
    assert score("contains", gold, "anything").status is Status.SCORER_ERROR


@pytest.mark.parametrize(
    ("gold", "text", "options", "label", "expected"),
    [
        (None, "code 42", {"pattern": r"\d+"}, "match", 1.0),
        (None, "code", {"pattern": r"\d+"}, "no match", 0.0),
        ("B", "ANSWER: A, no: ANSWER: B", {"pattern": r"ANSWER: (\w)"}, "b", 1.0),
        ("B", "ANSWER: A, no: ANSWER: B", {"pattern": r"ANSWER: (\w)", "take": "first"}, "a", 0.0),
        ("42", "code 42", {"pattern": r"\d+", "group": 0}, "42", 1.0),
        ("b", "x=B", {"pattern": r"x=(?P<v>\w)", "group": "v", "ignore_case": True}, "b", 1.0),
    ],
)
def test_regex_tests_or_extracts(score, gold, text, options, label, expected):
    verdict = score("regex", gold, text, **options)
    assert (verdict.label, verdict.score) == (label, expected)


def test_regex_that_extracts_nothing_is_a_parse_failure(score):
    assert score("regex", "B", "I do not know", pattern=r"ANSWER: (\w)").status is Status.PARSE_FAILURE


@pytest.mark.parametrize("take", ["last", "first"])
def test_a_catastrophic_pattern_on_a_hostile_answer_is_stopped(score, take):
    verdict = score("regex", "x", "a" * 50_000 + "b", pattern=r"^((a|aa)+)+$", take=take, timeout_s=0.05)
    assert verdict.status is Status.SCORER_ERROR
    assert "too long" in verdict.note


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("C", "C"),
        ("c.", "C"),
        ("(C) Paris", "C"),
        ("**C**", "C"),
        ("Answer: C", "C"),
        ("**Answer:** C", "C"),
        ("**Answer: C**", "C"),
        ("the answer is (c)", "C"),
        ("A is tempting, B is not. The answer is C because of D.", "C"),
        ("Answer: B. On reflection, answer: C", "C"),
        ("so \\boxed{\\text{C}}", "C"),
        ("I would take (C) here", "C"),
        ("A dog would choose C", "C"),
        ("Answer:\nC", "C"),
        ("C is correct", "C"),
    ],
)
def test_choice_reads_the_letter_that_was_settled_on(score, text, letter):
    verdict = score("choice", "C", text)
    assert (verdict.label, verdict.score) == (letter, 1.0)


@pytest.mark.parametrize(
    "text", ["A or B", "The answer is a difficult one", "Paris", "I cannot say", "Answer: I do not know"]
)
def test_choice_never_guesses(score, text):
    assert score("choice", "C", text).status is Status.PARSE_FAILURE


def test_choice_with_a_gold_that_is_no_letter_is_an_error_of_the_scorer(score):
    assert score("choice", "Paris", "C").status is Status.SCORER_ERROR
