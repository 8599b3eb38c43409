"""Which differences stop a comparison, which only mark it, and what is carried along."""

from __future__ import annotations

import pytest

from evaltui.core.study import PinValue
from evaltui.datasets.dataset import make_item
from evaltui.decide.comparability import Comparability, across_versions, comparability
from evaltui.decide.item_sets import item_hashes, item_sets

PINS: dict[str, PinValue] = {
    "dataset_sha256": "d1",
    "model": "m-1",
    "temperature": 0.0,
    "prompt_sha256": "p1",
    "scorer": "correct",
    "scorer.correct": "1",
    "scorer.format": "1",
    "endpoint_url": "http://127.0.0.1:8000/v1/chat/completions",
    "concurrency": 8,
    "harness": "evaltui 0.1",
    "git_commit": "c1",
    "pins.gpu": "H100",
    "pins.judge_version": "2026-04",
}
NAN = float("nan")
ITEMS = {"a": (b"ask a", b"gold a"), "b": (b"ask b", b"gold b"), "c": (b"ask c", None)}


def codes(answer: Comparability) -> tuple[set[str], set[str]]:
    return {each.code for each in answer.stops}, {each.code for each in answer.marks}


def test_equal_pins_are_comparable_and_the_same_in_every_scope():
    for scope in ("arms", "studies", "runs"):
        answer = comparability(PINS, dict(PINS), scope=scope)
        assert answer.comparable
        assert answer.same
        assert codes(answer) == (set(), set())


@pytest.mark.parametrize("change", [{"model": "m-2"}, {"temperature": 1.0}, {"prompt_sha256": "p2"}, {"max_tokens": 9}])
def test_arms_may_differ_in_what_is_under_test(change):
    answer = comparability(PINS, {**PINS, **change}, scope="arms")
    assert codes(answer) == (set(), set())
    assert [each.pin for each in answer.under_test] == list(change)
    assert not answer.same


@pytest.mark.parametrize("scope", ["arms", "studies", "runs"])
@pytest.mark.parametrize("pin", ["scorer", "scorer.correct", "pins.judge_version", "rubric_sha256", "judge.model"])
def test_another_scorer_rubric_or_judge_stops_every_comparison_with_both_values(scope, pin):
    answer = comparability(PINS, {**PINS, pin: "other"}, scope=scope)
    (stop,) = answer.stops
    assert not answer.comparable
    assert (stop.code, stop.difference.pin) == ("other_measure", pin)
    assert (stop.difference.baseline, stop.difference.candidate) == (PINS.get(pin), "other")
    assert f"{pin} is {PINS.get(pin) or '–'} in the baseline and other in the candidate" in stop.text


def test_a_scorer_that_is_not_compared_does_not_stop():
    answer = comparability(PINS, {**PINS, "scorer.format": "2"}, scope="studies")
    assert answer.same
    assert [each.pin for each in answer.recorded] == ["scorer.format"]


@pytest.mark.parametrize(
    "change",
    [
        {"pins.gpu": "A100"},
        {"pins.tensor_parallel": 2},
        {"pins.sandbox": "gvisor"},
        {"concurrency": 64},
        {"harness": "evaltui 0.2"},
        {"endpoint_url": "http://127.0.0.1:9000/v1/chat/completions"},
        {"never_seen": 1},
    ],
)
def test_conditions_warn_and_mark(change):
    answer = comparability(PINS, {**PINS, **change}, scope="studies")
    assert codes(answer) == (set(), {"other_conditions"})
    assert [mark.difference.pin for mark in answer.marks] == list(change)


def test_an_endpoint_is_part_of_what_is_compared_where_the_model_is():
    other = {**PINS, "model": "m-2", "endpoint_url": "https://elsewhere.example/v1/chat/completions"}
    assert codes(comparability(PINS, other, scope="arms")) == (set(), set())


def test_what_is_recorded_only_neither_stops_nor_marks():
    answer = comparability(PINS, {**PINS, "git_commit": "c2"}, scope="runs")
    assert answer.same


def test_repeats_of_one_configuration_must_agree_in_what_is_under_test():
    answer = comparability(PINS, {**PINS, "temperature": 0.7}, scope="runs")
    assert codes(answer) == ({"other_configuration"}, set())


def test_arms_of_one_study_must_have_one_data_set():
    assert codes(comparability(PINS, {**PINS, "dataset_sha256": "d2"}, scope="arms"))[0] == {"other_dataset"}


def test_studies_on_other_items_stop_while_the_items_are_not_known():
    assert codes(comparability(PINS, {**PINS, "dataset_sha256": "d2"}, scope="studies"))[0] == {"other_dataset"}


def test_studies_on_other_items_are_compared_as_other_samples():
    other = {"a": ITEMS["a"], "x": (b"ask x", b"gold x")}
    answer = comparability(PINS, {**PINS, "dataset_sha256": "d2"}, scope="studies", items=(ITEMS, other))
    assert codes(answer) == (set(), {"other_items"})
    assert "1 added, 2 removed, 1 in both" in answer.marks[0].text


@pytest.mark.parametrize(
    ("kind", "changed"),
    [("input", (b"ask anew", b"gold b")), ("gold", (b"ask b", b"gold anew")), ("gold", (b"ask b", None))],
)
def test_an_id_with_another_input_or_gold_stops_with_the_item_and_both_values(kind, changed):
    answer = comparability(
        PINS, {**PINS, "dataset_sha256": "d2"}, scope="studies", items=(ITEMS, {**ITEMS, "b": changed})
    )
    (stop,) = answer.stops
    place = ("input", "gold").index(kind)
    assert stop.code == "changed_items"
    assert stop.difference.pin == f"{kind} of b"
    assert stop.difference.baseline == ITEMS["b"][place].hex()
    assert stop.difference.candidate == (changed[place].hex() if changed[place] else None)
    assert f"1 item has the same id and another {kind}: b" in stop.text


def test_many_changed_items_are_one_stop_that_names_five():
    first = {str(place): (b"ask", b"gold") for place in range(8)}
    second = {str(place): (b"ask anew", b"gold") for place in range(8)}
    (stop,) = comparability({}, {}, scope="studies", items=(first, second)).stops
    assert "8 items have the same id and another input: 0, 1, 2, 3, 4 and 3 more" in stop.text


def test_across_versions_turns_every_stop_into_a_mark_that_is_carried():
    other = {**PINS, "scorer.correct": "2", "concurrency": 64}
    stopped = comparability(PINS, other, scope="studies", items=(ITEMS, {**ITEMS, "b": (b"ask anew", b"gold b")}))
    allowed = across_versions(stopped)
    assert len(stopped.stops) == 2
    assert allowed.comparable
    assert [mark.code for mark in allowed.marks] == ["across_versions", "across_versions", "other_conditions"]
    assert allowed.marks[0].text.startswith("compared across versions: scorer.correct is 1 in the baseline and 2")
    assert not allowed.same


def test_a_long_digest_is_shortened_in_the_sentence_only():
    (stop,) = comparability({"rubric": "ab" * 32}, {"rubric": "cd" * 32}, scope="arms").stops
    assert "abababababababab… in the baseline" in stop.text
    assert stop.difference.baseline == "ab" * 32


def test_item_sets_do_not_depend_on_order():
    sets = item_sets(ITEMS, dict(reversed(ITEMS.items())))
    assert sets.same
    assert sets.unchanged == ("a", "b", "c")


def test_gold_category_and_id_are_no_input():
    def of(**changes: object) -> dict[str, tuple[bytes, bytes | None]]:
        fields = {"id": "q1", "question": "6 x 7?", "answer": "42", "topic": "sums", **changes}
        item = make_item("q1", fields, gold=str(fields["answer"]), category=str(fields["topic"]))
        return item_hashes([item], not_input=("id", "answer", "topic"))

    assert item_sets(of(), of(topic="arithmetic", note="")).same
    assert item_sets(of(), of(answer="43")).gold_changed == ("q1",)
    assert item_sets(of(), of(answer="43")).input_changed == ()
    assert item_sets(of(), of(question="6 x 8?")).input_changed == ("q1",)


@pytest.mark.parametrize("scope", ["arms", "studies", "runs"])
@pytest.mark.parametrize(
    "name",
    [
        "judgeModel",
        "myjudge",
        "JUDGE",
        "judge-model",
        "llm.judge",
        "judging_temperature",
        "Grader",
        "Rubric2",
        "my_scorer",
        "autorater",
    ],
)
def test_a_name_of_ones_own_that_speaks_of_the_measure_stops_in_every_spelling(scope, name):
    answer = comparability(PINS, {**PINS, f"pins.{name}": "other"}, scope=scope)
    assert codes(answer) == ({"other_measure"}, set())
    assert across_versions(answer).comparable


@pytest.mark.parametrize("name", ["gpu", "grade_level", "corpus", "generator", "score_cache", "sandbox"])
def test_a_name_of_ones_own_that_does_not_speak_of_the_measure_only_marks(name):
    assert codes(comparability(PINS, {**PINS, f"pins.{name}": "x2"}, scope="studies")) == (set(), {"other_conditions"})


@pytest.mark.parametrize("scope", ["nonsense", "arm", "", None])
def test_another_scope_is_refused(scope):
    with pytest.raises(ValueError, match=f"scope must be one of arms, studies, runs, not {scope}"):
        comparability(PINS, PINS, scope=scope)


@pytest.mark.parametrize(
    ("scope", "pin", "expected"),
    [
        ("studies", "pins.judge_version", ({"other_measure"}, set())),
        ("studies", "dataset_sha256", ({"other_dataset"}, set())),
        ("runs", "temperature", ({"other_configuration"}, set())),
        ("arms", "temperature", (set(), {"other_conditions"})),
        ("arms", "pins.gpu", (set(), {"other_conditions"})),
    ],
)
def test_what_is_not_a_number_on_either_side_is_not_known_to_agree(scope, pin, expected):
    for other in (NAN, float("nan")):
        answer = comparability({**PINS, pin: NAN}, {**PINS, pin: other}, scope=scope)
        assert codes(answer) == expected
        assert not answer.same
        (finding,) = answer.stops + answer.marks
        assert finding.text == f"{pin} is nan on both sides, so that nobody knows whether it is the same"


def test_what_is_not_a_number_on_one_side_differs():
    answer = comparability({**PINS, "temperature": NAN}, PINS, scope="arms")
    (difference,) = answer.under_test
    assert str(difference) == "temperature is nan in the baseline and 0.0 in the candidate"
    assert (difference.baseline, difference.candidate) == ("nan", 0.0)


def test_a_number_and_its_text_are_told_apart():
    (mark,) = comparability({"pins.gpus": 8}, {"pins.gpus": "8"}, scope="runs").marks
    assert "pins.gpus is 8 in the baseline and '8' in the candidate" in mark.text
