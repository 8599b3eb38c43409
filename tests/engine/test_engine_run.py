"""A session from its first cell to its last."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from engine_world import Memory, Told, always, exact, right, run, study
from hypothesis import given
from hypothesis import strategies as st

from evaltui.core.errors import StoreError
from evaltui.core.records import CellRecord, Completion, Failure, Item, Request, Usage, Verdict
from evaltui.core.status import Status, StudyState
from evaltui.core.study import EarlierSessions
from evaltui.engine.progress import Progress

FAULTS = (
    Failure(Status.SERVER_ERROR, "500", retry=True),
    Failure(Status.NETWORK_ERROR, "reset", retry=True),
    Failure(Status.RATE_LIMITED, "429", retry=True, wait_s=1.0),
    Failure(Status.REQUEST_ERROR, "400"),
    Completion("", Status.EMPTY),
    Completion("ye", Status.TRUNCATED),
)


def test_every_cell_gets_one_verdict_and_the_study_is_finished() -> None:
    sink, endpoint = Memory(), Told(right)
    outcome = run(study(4), endpoint, sink)
    assert (outcome.state, outcome.reason) == (StudyState.FINISHED, "")
    assert len(sink.cells) == 2 * 2 * 4
    assert set(endpoint.asked.values()) == {1}
    assert sink.statuses == {Status.OK: 16}
    assert [state for state, _ in sink.states] == [StudyState.RUNNING, StudyState.FINISHED]
    assert sink.kinds == ["started", "finished"]


def test_cells_are_started_in_the_studys_order() -> None:
    endpoint = Told(right)
    run(study(2), endpoint, Memory())
    started = [(request.cell.repeat, request.cell.position, request.cell.arm) for _, request in endpoint.calls]
    assert started == sorted(started)


def test_exactly_the_stated_number_of_calls_is_in_flight() -> None:
    endpoint = Told(right)
    run(study(16, concurrency=5), endpoint, Memory())
    assert endpoint.most_in_flight == 5


def test_the_prompt_is_the_arms_template_filled_with_the_item() -> None:
    endpoint = Told(right)
    run(study(1, arms=["baseline"], repeats=1, arm={"system_text": "Be brief."}), endpoint, Memory())
    ((_, request),) = endpoint.calls
    assert [(m.role, m.content) for m in request.messages] == [("system", "Be brief."), ("user", "is 0 a number?")]


@given(seed=st.integers(0, 10_000), concurrency=st.integers(1, 9))
def test_under_any_faults_every_cell_has_exactly_one_terminal_record(seed: int, concurrency: int) -> None:
    luck = random.Random(seed)

    async def moody(request: Request) -> Completion | Failure:
        await asyncio.sleep(luck.expovariate(1.0))
        return Completion("yes") if luck.random() < 0.6 else luck.choice(FAULTS)

    sink = Memory()
    outcome = run(study(8, repeats=3, concurrency=concurrency, max_errors=1.0), Told(moody), sink)
    assert outcome.state is StudyState.FINISHED
    cells = [(record.cell.arm, record.cell.repeat, record.cell.position) for record in sink.cells]
    assert sorted(cells) == [
        (arm, repeat, p) for arm in ("baseline", "candidate") for repeat in (1, 2, 3) for p in range(8)
    ]
    calls = [(attempt.cell, attempt.number) for attempt in sink.attempts]
    assert len(set(calls)) == len(calls)
    for record in sink.cells:
        assert record.attempts == max(number for cell, number in calls if cell == record.cell)


def test_a_resumed_study_does_only_what_is_left() -> None:
    first = Memory()
    planned = study(6, max_cost=5.0, endpoint={"price": {"input": 0.0, "output": 1.0}})
    endpoint = Told(always(Completion("yes", usage=Usage(0, 1_000_000))))
    assert run(planned, endpoint, first).state is StudyState.STOPPED
    second = Memory()
    plan, config = study(6)
    assert run((plan, config), endpoint, second, terminal=first.terminal(6)).state is StudyState.FINISHED
    assert (len(first.cells), len(second.cells)) == (5, 19)
    assert set(endpoint.asked.values()) == {1}


def test_a_study_with_nothing_left_is_finished_without_a_call() -> None:
    done = Memory()
    run(study(3), Told(right), done)
    endpoint, sink = Told(right), Memory()
    assert run(study(3), endpoint, sink, terminal=done.terminal(3)).state is StudyState.FINISHED
    assert endpoint.calls == []
    assert sink.cells == []


class Prefixed:
    """A second scorer, with a state of its own."""

    name = "prefixed"
    version = "1"
    score_range = (0.0, 1.0)

    async def score(self, item: Item, completion: Completion) -> Verdict:
        if item.id == "q1":
            raise LookupError("no such prefix")
        return Verdict(self.name, Status.OK, "y", 1.0)


def test_all_scorers_give_a_verdict_and_the_primary_one_is_first() -> None:
    sink = Memory()
    run(study(1), Told(right), sink, scored_by=(*exact(), Prefixed()))
    assert {tuple(verdict.scorer for verdict in record.verdicts) for record in sink.cells} == {("same", "prefixed")}


def test_a_scorer_that_breaks_is_a_status_of_its_verdict_alone() -> None:
    sink = Memory()
    outcome = run(study(2, arms=["baseline"], repeats=1), Told(right), sink, scored_by=(*exact(), Prefixed()))
    assert outcome.state is StudyState.FINISHED
    (broken,) = [record for record in sink.cells if record.cell.item_id == "q1"]
    assert broken.verdicts[0].status is Status.OK
    assert broken.verdicts[1] == Verdict("prefixed", Status.SCORER_ERROR, note="LookupError: no such prefix")


def test_a_fingerprint_that_changes_is_told_once_with_its_run() -> None:
    async def deployed(request: Request) -> Completion:
        await asyncio.sleep(1.0)
        new = request.cell.repeat == 2 and request.cell.position >= 2
        return Completion("yes", model="m", fingerprint="fp_b" if new else "fp_a")

    sink = Memory()
    run(study(4, arms=["baseline"]), Told(deployed), sink)
    (event,) = [event for event in sink.events if event.kind == "fingerprint_changed"]
    assert event.text == "fingerprint changed from fp_a to fp_b"
    assert (event.level, event.arm, event.repeat) == ("warning", "baseline", 2)


def test_a_model_that_changed_between_two_sessions_is_told() -> None:
    sink = Memory()
    earlier = EarlierSessions(models={"baseline": ("m-2026-05-01",)})
    run(study(2, arms=["baseline"]), Told(always(Completion("yes", model="m-2026-06-01"))), sink, earlier=earlier)
    told = [event.text for event in sink.events if event.kind == "model_changed"]
    assert told == ["model changed from m-2026-05-01 to m-2026-06-01"]


def test_progress_counts_cells_money_failures_and_time_left() -> None:
    heard: list[Progress] = []
    endpoint = Told(always(Completion("no", Status.TRUNCATED, usage=Usage(0, 1000)), after_s=2.0))
    planned = study(10, arms=["baseline"], endpoint={"price": {"input": 0.0, "output": 5.0}})
    run(planned, endpoint, Memory(), progress=heard.append)
    assert heard[0] == Progress(0, 20, 0.0, {}, None)
    halfway = next(progress for progress in heard if progress.done == 10)
    assert halfway.eta_s == pytest.approx(20.0, rel=0.03)
    assert heard[-1].done == 20
    assert heard[-1].cost == pytest.approx(0.1)
    assert heard[-1].failures == {"truncated": 20}
    assert len(heard) == pytest.approx(4 * 40, abs=3)


class Full(Memory):
    """A store whose disk is full after three cells."""

    def cell(self, record: CellRecord) -> None:
        if len(self.cells) == 3:
            raise StoreError("evaltui.db: the disk is full")
        super().cell(record)


def test_a_store_that_fails_ends_the_session_with_its_own_sentence() -> None:
    endpoint = Told(right)
    with pytest.raises(StoreError, match="the disk is full"):
        run(study(10, concurrency=3), endpoint, Full())
    assert endpoint.in_flight == 0


def test_no_call_starts_while_results_cannot_be_saved() -> None:
    sink, heard = Memory(), list[Progress]()

    def mended() -> None:
        sink.failure = None

    async def reply(request: Request) -> Completion:
        if len(endpoint.calls) == 4:
            sink.failure = StoreError("evaltui.db: the disk is full")
            asyncio.get_running_loop().call_later(600.0, mended)
        return await right(request)

    endpoint = Told(reply)
    outcome = run(study(10, arms=["baseline"], repeats=1, concurrency=2), endpoint, sink, progress=heard.append)
    assert outcome.state is StudyState.FINISHED
    assert [time for time in endpoint.times if 2.0 < time < 601.0] == []
    assert {progress.trouble for progress in heard} == {"", "evaltui.db: the disk is full"}


class LateMemory(Memory):
    """It takes a minute before anything is saved."""

    @property
    def behind(self) -> bool:
        return asyncio.get_running_loop().time() < 60


def test_a_sink_that_is_behind_is_waited_for() -> None:
    sink, endpoint = LateMemory(), Told(right)
    run(study(8, concurrency=3), endpoint, sink)
    begun = sorted(endpoint.times)
    assert begun[:3] == [0, 0, 0]
    assert begun[3] == pytest.approx(60, abs=0.01)
    assert len(sink.cells) == 2 * 2 * 8


async def cancels_its_first_call(request: Request) -> Completion:
    if request.attempt == 1:
        raise asyncio.CancelledError
    return Completion("yes")


def test_an_endpoint_that_cancels_itself_fails_its_calls_and_no_cell_is_lost() -> None:
    sink = Memory()
    outcome = run(study(1, endpoint={"retries": 1}), Told(cancels_its_first_call), sink)
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.OK: 4}
    assert Counter(attempt.status for attempt in sink.attempts) == {Status.SERVER_ERROR: 4, Status.OK: 4}


class CancelsItself:
    name, version, score_range = "own", "1", (0.0, 1.0)

    async def score(self, item: Item, completion: Completion) -> Verdict:
        raise asyncio.CancelledError


def test_a_scorer_that_cancels_itself_makes_scorer_errors_and_no_cell_is_lost() -> None:
    sink = Memory()
    outcome = run(study(2), Told(right), sink, scored_by=(CancelsItself(),))
    assert outcome.state is StudyState.FINISHED
    assert sink.statuses == {Status.SCORER_ERROR: 8}
