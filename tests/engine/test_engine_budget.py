"""What a study may spend binds from its first call on."""

from __future__ import annotations

import pytest
from engine_world import Memory, Told, always, right, run, study

from evaltui.config import Price
from evaltui.core.records import Completion, Message, Usage
from evaltui.core.status import StudyState
from evaltui.core.study import EarlierSessions
from evaltui.engine.budget import Budget
from evaltui.engine.estimate import call_cost, expected_usage

OUTPUT_ONLY = {"price": {"input": 0.0, "output": 10.0}}


def answer_of(tokens: int) -> Completion:
    return Completion("yes", usage=Usage(0, tokens))


def test_a_call_costs_its_tokens_at_prices_per_million() -> None:
    usage = Usage(prompt_tokens=2000, completion_tokens=500)
    assert call_cost(Price(input=3.0, output=15.0), usage) == pytest.approx(0.0135)


def test_without_prices_or_token_counts_a_call_costs_nothing() -> None:
    assert call_cost(None, Usage(10, 10)) == 0.0
    assert call_cost(Price(input=3.0, output=15.0), Usage()) == 0.0


def test_a_call_is_expected_to_use_four_characters_a_token_and_all_it_may_answer() -> None:
    messages = (Message("system", "Be brief."), Message("user", "2 + 2?"))
    assert expected_usage(messages, 100) == Usage(4, 100)
    assert expected_usage(messages, None) == Usage(4, 256)


def test_a_call_is_reckoned_at_its_bound_before_any_has_ended() -> None:
    budget = Budget(10.0)
    assert [budget.reserve(4.0), budget.reserve(4.0), budget.reserve(4.0)] == [4.0, 4.0, None]


def test_a_call_is_reckoned_at_the_mean_so_far_where_that_is_more_than_its_bound() -> None:
    budget = Budget(10.0)
    budget.add(1.0)
    budget.add(3.0)
    assert [budget.reserve(0.5), budget.reserve(3.0), budget.reserve(0.5)] == [2.0, 3.0, None]


def test_what_was_set_aside_is_free_again_once_its_call_has_ended() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        assert budget.reserve(0.1) == 0.1
    for _ in range(3):
        budget.release(0.1)
    assert budget.reserve(0.3) == 0.3


def test_what_earlier_sessions_spent_counts() -> None:
    assert Budget(10.0, spent=10.0).reserve(0.0) is None
    assert Budget(None, spent=1e9).reserve(1e9) == 1e9


def test_the_first_batch_of_calls_stays_within_the_budget() -> None:
    sink = Memory()
    # Each answer takes all of its 1,000 tokens and so costs 0.01.
    planned = study(400, concurrency=200, max_cost=0.055, endpoint=OUTPUT_ONLY, arm={"max_tokens": 1000})
    outcome = run(planned, Told(always(answer_of(1000))), sink)
    assert outcome.state is StudyState.STOPPED
    assert sum(attempt.cost for attempt in sink.attempts) == pytest.approx(0.05)


def test_calls_that_cost_less_than_their_bound_do_not_end_the_study() -> None:
    endpoint = Told(always(answer_of(10)))
    planned = study(50, concurrency=50, max_cost=0.05, endpoint=OUTPUT_ONLY, arm={"max_tokens": 1000})
    # 200 calls at 0.0001 each; no more than five may run side by side while each may cost 0.01.
    assert run(planned, endpoint, Memory()).state is StudyState.FINISHED
    assert endpoint.most_in_flight == 5


def test_a_budget_that_not_even_one_call_fits_into_starts_none_and_says_what_helps() -> None:
    endpoint = Told(always(answer_of(10)))
    outcome = run(study(3, max_cost=0.005, endpoint=OUTPUT_ONLY, arm={"max_tokens": 1000}), endpoint, Memory())
    assert endpoint.calls == []
    assert outcome.state is StudyState.STOPPED
    assert not outcome.resumable
    assert outcome.reason == (
        "max_cost = 0.005 allows no further call: 0.00 are spent, and the next call may cost up to 0.01; raise "
        "study.max_cost in the study file and run that again (resumed as it is, the study stops again)"
    )


def test_answers_dearer_than_their_bound_stop_the_study_at_its_limit() -> None:
    sink = Memory()
    endpoint = Told(always(Completion("yes", usage=Usage(1_000_000, 0))))
    planned = study(50, concurrency=4, max_cost=20.0, endpoint={"price": {"input": 2.0, "output": 0.0}})
    outcome = run(planned, endpoint, sink)
    assert outcome.state is StudyState.STOPPED
    assert sum(attempt.cost for attempt in sink.attempts) == 20.0
    assert len(sink.cells) == 10
    assert "budget" in sink.kinds
    assert sink.states[-1] == (StudyState.STOPPED, outcome.reason)


def test_money_of_earlier_sessions_counts_against_the_budget() -> None:
    endpoint = Told(right)
    outcome = run(study(3, max_cost=7.0), endpoint, Memory(), earlier=EarlierSessions(cost=7.0))
    assert outcome.state is StudyState.STOPPED
    assert endpoint.calls == []


def test_a_resumed_study_reckons_its_first_calls_at_what_earlier_ones_cost() -> None:
    endpoint = Told(always(Completion("yes", usage=Usage(1_000_000, 0))))
    planned = study(50, concurrency=16, max_cost=20.0, endpoint={"price": {"input": 2.0, "output": 0.0}})
    run(planned, endpoint, Memory(), earlier=EarlierSessions(cost=14.0, calls=7))
    assert len(endpoint.calls) == 3


def test_an_endpoint_that_reports_no_usage_is_told_once_and_reckoned_at_the_bound() -> None:
    sink = Memory()
    planned = study(50, concurrency=8, max_cost=0.1, endpoint=OUTPUT_ONLY, arm={"max_tokens": 1000})
    outcome = run(planned, Told(right), sink)
    assert outcome.state is StudyState.STOPPED
    assert [attempt.cost for attempt in sink.attempts] == [0.01] * 10
    assert {attempt.usage for attempt in sink.attempts} == {Usage()}
    (event,) = [event for event in sink.events if event.kind == "no_usage"]
    assert event.level == "warning"
    assert event.text.startswith("endpoint main reports no token usage: its calls are reckoned at")


def test_without_a_price_missing_usage_is_no_matter() -> None:
    sink = Memory()
    run(study(2), Told(right), sink)
    assert "no_usage" not in sink.kinds
