"""The simulator: its truth is the stated one, and its outcomes depend on the cell and on nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import replace

import aiohttp
import numpy as np
import pytest
from scipy import stats

from evaltui.core.errors import EvaltuiError
from evaltui.core.protocols import Scorer
from evaltui.core.records import Cell, Completion, Decoding, Failure, Item, Message, Request
from evaltui.core.simulation import FaultRates, SimulatorSettings
from evaltui.core.status import Status
from evaltui.providers.cell_header import CellName
from evaltui.providers.simulator import Simulator
from evaltui.providers.simulator.answers import repertoire
from evaltui.providers.simulator.server import serve
from evaltui.scorers import build

QUIET = SimulatorSettings(seed=3, latency_s=0.0, retry_after_s=0.0)
FAULTS = FaultRates(
    timeout=0.05, rate_limit=0.1, server_error=0.1, truncated=0.1, empty=0.1, refused=0.1, unparsable=0.1
)


def items(n: int, gold: str = "{}", category: str | None = None) -> tuple[Item, ...]:
    return tuple(Item(f"q{i}", {}, gold.format(i), category, None, b"", i) for i in range(n))


def simulator(settings: SimulatorSettings = QUIET, n: int = 400, repeats: int = 2, timeout_s: float = 0.2) -> Simulator:
    return Simulator(settings, items(n), ("a", "b"), repeats, timeout_s)


def call(arm: str, repeat: int, item: str, attempt: int = 1) -> Request:
    return Request(Cell(arm, repeat, -1, item), attempt, (Message("user", "How many?"),), Decoding("m"))


def said(sim: Simulator, request: Request) -> str | None:
    reply = sim.outcome(CellName(request.cell.arm, request.cell.repeat, request.cell.item_id, 1), "m", ()).reply
    return None if reply is None else reply.body.decode()


def test_outcomes_do_not_depend_on_the_order_of_the_calls():
    settings = replace(QUIET, faults=FAULTS)
    requests = [call(arm, repeat, f"q{i}") for arm in "ab" for repeat in (1, 2) for i in range(50)]
    forwards = [said(simulator(settings, n=50), request) for request in requests]
    one = simulator(settings, n=50)
    assert [said(one, request) for request in reversed(requests)] == forwards[::-1]


def test_an_items_outcome_does_not_depend_on_the_other_items():
    few, many = Simulator(QUIET, items(5), ("a",), 2, 1.0), Simulator(QUIET, items(50), ("a", "b"), 2, 1.0)
    assert [few.truth("a", 1, f"q{i}") for i in range(5)] == [many.truth("a", 1, f"q{i}") for i in range(5)]


def test_another_seed_is_another_model():
    assert simulator().truth("a", 1, "q0") != simulator(replace(QUIET, seed=4)).truth("a", 1, "q0")


def test_pass_probabilities_follow_the_stated_beta():
    sim = simulator(n=3000)
    drawn = [sim.truth("a", 1, f"q{i}") for i in range(3000)]
    assert stats.kstest(drawn, stats.beta(4.0, 1.2).cdf).pvalue > 0.001


def test_without_noise_settings_both_arms_have_the_same_truth():
    sim = simulator()
    assert sim.true_mean("a") == sim.true_mean("b")


def test_an_effect_moves_the_arm_by_that_much_where_there_is_room():
    even = replace(QUIET, pass_alpha=500.0, pass_beta=500.0, effects={"b": -0.02})
    sim = simulator(even)
    assert sim.true_mean("b") - sim.true_mean("a") == pytest.approx(-0.02)


def test_weather_moves_one_run_on_the_logit_scale():
    sim = simulator(replace(QUIET, weather={"a#2": -1.0}))
    assert sim.truth("a", 1, "q7") == sim.truth("b", 2, "q7")
    calm, moved = sim.truth("a", 1, "q7"), sim.truth("a", 2, "q7")
    assert np.log(moved / (1 - moved)) - np.log(calm / (1 - calm)) == pytest.approx(-1.0)


def test_drift_follows_the_planned_position_and_is_complete_at_the_last_cell():
    still, drifting = simulator(n=10, repeats=3), simulator(replace(QUIET, drift=0.8), n=10, repeats=3)

    def shift(repeat: int, item: str) -> float:
        p, q = still.truth("a", repeat, item), drifting.truth("a", repeat, item)
        return float(np.log(q / (1 - q)) - np.log(p / (1 - p)))

    assert shift(1, "q0") == pytest.approx(0.0)
    assert shift(2, "q4") == pytest.approx(0.8 * 14 / 29)
    assert shift(3, "q9") == pytest.approx(0.8)


def test_a_category_shift_applies_to_its_items_only():
    settings = replace(QUIET, categories={"hard": -2.0})
    hard, plain = (Simulator(settings, items(5, category=name), ("a",), 1, 1.0) for name in ("hard", "plain"))
    assert all(hard.truth("a", 1, f"q{i}") < plain.truth("a", 1, f"q{i}") for i in range(5))


def test_whole_runs_shift_together_when_they_are_told_to():
    shifted, shared = simulator(replace(QUIET, run_shift=0.5)), simulator(replace(QUIET, shared_shift=0.5))
    assert shifted.truth("a", 1, "q0") != shifted.truth("b", 1, "q0")
    assert shared.truth("a", 1, "q0") == shared.truth("b", 1, "q0") != shared.truth("a", 2, "q0")


def test_judge_noise_flips_verdicts_with_that_probability():
    quiet, noisy = simulator(), simulator(replace(QUIET, judge_noise=0.1))
    p = quiet.truth("a", 1, "q0")
    assert noisy.truth("a", 1, "q0") == pytest.approx(0.9 * p + 0.1 * (1 - p))


async def test_the_share_of_right_answers_is_the_truth():
    sim = simulator(n=2000, repeats=1)
    outcomes = [await sim.complete(call("a", 1, f"q{i}")) for i in range(2000)]
    right = np.mean([outcome.text.split()[-1] == str(i) for i, outcome in enumerate(outcomes)])
    assert right == pytest.approx(sim.true_mean("a"), abs=4 * 0.5 / np.sqrt(2000))


async def test_faults_come_at_their_rates_and_as_themselves():
    sim = Simulator(replace(QUIET, faults=FAULTS, speed=1e6), items(3000), ("a",), 1, 1.0)
    statuses = [(await sim.complete(call("a", 1, f"q{i}"))).status for i in range(3000)]
    expected = {
        Status.TIMEOUT: 0.05,
        Status.RATE_LIMITED: 0.1,
        Status.SERVER_ERROR: 0.1,
        Status.TRUNCATED: 0.1,
        Status.EMPTY: 0.1,
        Status.REFUSED: 0.1,
        Status.OK: 0.45,
    }
    assert set(statuses) == set(expected)
    for status, rate in expected.items():
        assert statuses.count(status) / 3000 == pytest.approx(rate, abs=0.04), status


async def test_transient_faults_are_drawn_anew_and_what_gets_through_is_always_the_same():
    sim = Simulator(replace(QUIET, faults=FAULTS, speed=1e6), items(40), ("a",), 1, 1.0)
    for i in range(40):
        outcomes = [await sim.complete(call("a", 1, f"q{i}", attempt)) for attempt in range(1, 13)]
        through = {outcome for outcome in outcomes if isinstance(outcome, Completion)}
        assert len(through) == 1


async def test_one_run_can_have_fault_rates_of_its_own():
    settings = replace(QUIET, run_faults={"a#2": FaultRates(empty=1.0)})
    sim = simulator(settings)
    assert [(await sim.complete(call("a", repeat, "q0"))).status for repeat in (1, 2)] == [Status.OK, Status.EMPTY]


async def test_the_text_changes_between_repeats_more_often_than_the_verdict():
    sim = Simulator(QUIET, items(30), ("a",), 10, 1.0)
    for i in range(30):
        texts = [(await sim.complete(call("a", repeat, f"q{i}"))).text for repeat in range(1, 11)]
        assert len(set(texts)) > len({text.split()[-1] for text in texts})


def test_harder_items_take_longer():
    settings = replace(QUIET, latency_s=0.3, latency_difficulty=0.9)
    sim = Simulator(settings, items(500), ("a",), 1, 100.0)
    delays = [sim.outcome(CellName("a", 1, f"q{i}", 1), "m", ()).delay_s for i in range(500)]
    assert np.median(delays) == pytest.approx(0.3, rel=0.1)
    assert stats.spearmanr(delays, [sim.truth("a", 1, f"q{i}") for i in range(500)]).statistic < -0.8


@pytest.mark.parametrize(
    ("gold", "kind", "options"),
    [
        ("16 - 3 - 4 = <<9>>9 eggs a day.\nShe makes 9 * 2 = $18 every day at the market.\n#### 18", "numeric", {}),
        ("1,234.50", "numeric", {}),
        ("-7", "numeric", {}),
        ("7", "contains", {}),
        ("B", "choice", {}),
        ("B", "exact", {}),
        ("Yes", "exact", {}),
        ("New York", "exact", {}),
        ("New York", "contains", {}),
        ('{"verdict": "yes", "why": "…"}', "json", {}),
        ('{"verdict": "yes", "why": "…"}', "json", {"field": "verdict"}),
        ("[1, 2]", "json", {}),
    ],
)
def test_right_answers_score_and_wrong_ones_do_not(gold, kind, options):
    scorer = build("s", kind, options)
    item = Item("q", {}, gold, None, None, b"")
    order = tuple(np.linspace(0.05, 0.95, 8))
    all_said = repertoire(gold, ["A", "B", "C", "Yes", "No", "New York", "Oslo"], order)
    for which, wording in itertools.product(order, order):
        right, wrong = all_said.say(True, which, wording), all_said.say(False, which, wording)
        assert score_of(scorer, item, right) == 1.0, right
        assert score_of(scorer, item, wrong) == 0.0, wrong


def score_of(scorer: Scorer, item: Item, text: str) -> float | None:
    return asyncio.run(scorer.score(item, Completion(text))).score


@contextlib.asynccontextmanager
async def serving(sim: Simulator):
    url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(sim, "127.0.0.1", 0, url.set_result))
    yield await url
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_over_http_every_cell_comes_out_as_in_process(provider):
    settings = replace(QUIET, faults=FAULTS, retry_after_s=0.25)
    sim = Simulator(settings, items(60), ("a", "ä/b"), 2, 0.3)
    requests = [
        call(arm, repeat, f"q{i}", attempt)
        for arm in ("a", "ä/b")
        for repeat in (1, 2)
        for i in range(60)
        for attempt in (1, 2)
    ]
    within = await asyncio.gather(*(sim.complete(request) for request in requests))
    async with serving(sim) as url:
        endpoint = provider(url, cell_header=True)

        async def ask(request: Request, expected: Completion | Failure) -> Completion | Failure:
            """Where the outcome is to be a timeout, the deadline ends a call that would hang for ever."""
            if expected.status is not Status.TIMEOUT:
                return await endpoint.complete(request)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await endpoint.complete(request)
            return expected

        over = await asyncio.gather(*map(ask, requests, within))
    assert over == within
    assert {each.status for each in within} >= {Status.TIMEOUT, Status.RATE_LIMITED, Status.REFUSED, Status.OK}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "said"),
    [
        ("POST", "/v1/chat/completions", {}, 400, "name the cell in the header X-Evaltui-Cell"),
        ("POST", "/v1/chat/completions", {"X-Evaltui-Cell": "nonsense"}, 400, "percent-encoded JSON"),
        ("GET", "/v1/models", {}, 200, "simulated"),
        ("POST", "/v1/completions", {}, 404, "Unknown request URL: POST /v1/completions"),
        ("GET", "/v1/chat/completions", {}, 404, "Unknown request URL"),
    ],
)
async def test_the_server_says_what_is_wrong(method, path, headers, status, said):
    async with (
        serving(simulator()) as url,
        aiohttp.ClientSession() as session,
        session.request(method, url.removesuffix("/v1") + path, headers=headers, json={}) as response,
    ):
        assert response.status == status
        assert said in await response.text()


@pytest.mark.parametrize(("arm", "item"), [("z", "q0"), ("a", "q9999")])
async def test_a_cell_that_is_not_of_the_study_is_refused(provider, arm, item):
    sim = simulator()
    async with serving(sim) as url:
        over = await provider(url, cell_header=True).complete(call(arm, 1, item))
    assert over == await sim.complete(call(arm, 1, item))
    assert (over.status, over.http_status) == (Status.REQUEST_ERROR, 400)
    assert "is not part of the simulated study" in over.message


async def test_a_port_in_use_is_a_sentence():
    sim = simulator()
    async with serving(sim) as url:
        port = int(url.removesuffix("/v1").rpartition(":")[2])
        with pytest.raises(EvaltuiError, match=f"cannot listen on 127.0.0.1:{port}"):
            await serve(sim, "127.0.0.1", port, lambda _url: None)
