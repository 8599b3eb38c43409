"""Runs of one arm that were not served alike: other calls in flight, another share in the cache, another request."""

from __future__ import annotations

import io

import pytest
from batches import Call, Row, attempt_batch, cell_batch, make_design, make_info
from rich.console import Console

from evaltui.core.delta import Delta
from evaltui.core.records import Item
from evaltui.report.document import to_document
from evaltui.report.live import Live
from evaltui.report.summary import Summary
from evaltui.report.text import run_table
from evaltui.tui.run_table import run_rows

N_ITEMS = 20


def served(calls: list[Call], *, repeats: int = 4, n_items: int = N_ITEMS, done: int | None = None) -> Summary:
    """A study of one arm in which every item passes; ``done`` items of each run are."""
    items = [Item(f"q{place}", {}, None, None, None, b"", place) for place in range(n_items)]
    live = Live(make_info(make_design(n_items, repeats, arms=["baseline"])), items)
    rows = [
        Row(0, repeat, place, 1.0, text=100 * repeat + place)
        for repeat in range(1, repeats + 1)
        for place in range(n_items if done is None else done)
    ]
    live.apply(Delta(live.info, cell_batch(rows), attempt_batch(calls)))
    return live.summary(now=0.0)


def in_flight(*by_run: float, calls: int = N_ITEMS) -> list[Call]:
    """Calls of each run with this mean in flight: whole numbers, the last call makes up for the rest."""
    made = []
    for repeat, mean in enumerate(by_run, start=1):
        usual = int(mean)
        last = round(mean * calls) - usual * (calls - 1)
        made += [Call(0, repeat, in_flight=count) for count in [usual] * (calls - 1) + [last]]
    return made


def cached(*by_run: int, calls: int = N_ITEMS) -> list[Call]:
    """Calls of each run with 100 prompt tokens, so many of them cached."""
    return [
        Call(0, repeat, prompt_tokens=100, cached_tokens=tokens)
        for repeat, tokens in enumerate(by_run, start=1)
        for _ in range(calls)
    ]


def told(summary: Summary, code: str) -> list[str]:
    return [notice.text for notice in summary.warnings if notice.code == code]


def test_a_run_with_half_the_calls_in_flight_is_marked_against_the_median_of_the_others() -> None:
    """8, 8, 4 and 7: the median beside 4 is 8; beside 7 it is 8 as well, and 7/8 = 0.875 is no difference."""
    summary = served(in_flight(8, 8, 4, 7))
    runs = summary.arms[0].runs
    assert [run.in_flight for run in runs] == [8.0, 8.0, 4.0, 7.0]
    assert [run.in_flight_of_others for run in runs] == [None, None, 8.0, None]
    assert told(summary, "in_flight_differs") == [
        "baseline#3 had 4.0 calls in flight on average, the other runs 8.0 (median): "
        "it was batched otherwise, which can move its answers"
    ]


@pytest.mark.parametrize(
    ("by_run", "marked"),
    [
        ((8, 8, 8, 6), []),  # 0.75 exactly
        ((8, 8, 8, 5.95), [4]),
        ((9, 9, 9, 11.95), []),  # 1.328
        ((9, 9, 9, 12), [4]),  # 1.333
        ((2, 2, 2, 1.05), []),  # 0.525, but less than a call
        ((2, 2, 2, 1), [4]),
        ((8, 8, 4), [1, 2, 3]),  # the others of #1 have the median 6, and 8/6 = 1.333 is beyond 1.33
        ((8, 4), []),  # two runs tell nothing
    ],
)
def test_the_bounds_of_a_difference(by_run: tuple[float, ...], marked: list[int]) -> None:
    runs = served(in_flight(*by_run), repeats=len(by_run)).arms[0].runs
    found = [run.repeat for run in runs if run.in_flight_of_others is not None]
    assert found == marked


def test_runs_of_fewer_than_twenty_calls_are_neither_marked_nor_a_measure_for_others() -> None:
    few = in_flight(8, 8, 4, 8, calls=19)
    assert told(served(few, n_items=19), "in_flight_differs") == []
    mixed = [call for call in in_flight(8, 8, 4) if call.repeat != 2] + [Call(0, 2, in_flight=8)] * 19
    assert told(served(mixed, repeats=3), "in_flight_differs") == []


def test_calls_that_do_not_tell_mark_nothing() -> None:
    runs = served([Call(0, repeat) for repeat in (1, 2, 3) for _ in range(N_ITEMS)]).arms[0].runs
    assert [(run.in_flight, run.in_flight_of_others) for run in runs] == [(None, None)] * 4


def test_the_mark_stands_in_the_run_tables_of_report_and_screen() -> None:
    summary = served(in_flight(8, 8, 4, 7))
    stream = io.StringIO()
    Console(file=stream, width=120, color_system=None).print(run_table(summary.arms[0]))
    lines = {line.split()[0]: line for line in stream.getvalue().splitlines() if "#" in line}
    assert "4.0 in flight, others 8.0" in lines["#3"]
    assert not any("in flight" in line for run, line in lines.items() if run != "#3")
    states = {row.key: row.cells[-1] for row in run_rows(summary) if not row.heading}
    assert (states["baseline#3"].text, states["baseline#3"].tone) == ("batching", "warn")
    assert [states[f"baseline#{repeat}"].text for repeat in (1, 2, 4)] == ["complete"] * 3


def test_the_document_has_them_under_usage() -> None:
    calls = [*in_flight(8, 8, 4, 7), Call(0, 1, prompt_tokens=50, cached_tokens=30)]
    document = to_document(served(calls))
    usage = document["usage"]["arms"]["baseline"]  # type: ignore[index]
    assert [run["in_flight"] for run in usage] == [8.0, 8.0, 4.0, 7.0]
    assert [run["in_flight_of_others"] for run in usage] == [None, None, 8.0, None]
    assert [run["cached_tokens"] for run in usage] == [30, 0, 0, 0]


def test_a_cache_that_served_one_run_and_not_another_is_told() -> None:
    """0, 64, 90 and 80 of every 100 prompt tokens."""
    summary = served(cached(0, 64, 90, 80))
    assert [run.cached_tokens for run in summary.arms[0].runs] == [0, 1280, 1800, 1600]
    assert told(summary, "cached_tokens_differ") == [
        "baseline: the server took 0.0 % of the prompt tokens of #1 from its cache and 90.0 % of those of #3: "
        "latency and cost of its runs are not alike"
    ]


@pytest.mark.parametrize(
    ("by_run", "differ"), [((30, 40, 35), False), ((30, 41, 35), True), ((0, 0, 0), False), ((100,), False)]
)
def test_shares_that_differ_by_a_tenth_are_still_alike(by_run: tuple[int, ...], differ: bool) -> None:
    assert bool(told(served(cached(*by_run), repeats=len(by_run)), "cached_tokens_differ")) is differ


def test_a_small_complete_run_tells_of_the_cache_and_one_that_has_begun_does_not() -> None:
    calls = cached(0, 50, calls=5)
    assert told(served(calls, repeats=2, n_items=5), "cached_tokens_differ") != []
    assert told(served(calls, repeats=2, n_items=9, done=5), "cached_tokens_differ") == []


def test_items_that_were_not_asked_the_same_in_every_repeat_are_counted() -> None:
    """Item 0 has another request in repeat 2, item 1 always the same, item 2 one that is not known."""
    calls = [
        *(Call(0, repeat, position=0, request=7 if repeat == 2 else 5) for repeat in (1, 2, 3)),
        *(Call(0, repeat, position=1, request=5) for repeat in (1, 2, 3)),
        *(Call(0, repeat, position=2, request=9 if repeat < 3 else 0) for repeat in (1, 2, 3)),
    ]
    assert told(served(calls, repeats=3), "requests_differ") == [
        "baseline: 1 item was not asked the same in every repeat: "
        "the requests differ in more than the seed, as when a template has changed"
    ]
    more = [*calls, Call(0, 1, position=1, request=-(2**63))]
    assert told(served(more, repeats=3), "requests_differ")[0].startswith("baseline: 2 items were not asked")
    assert told(served(calls[3:], repeats=3), "requests_differ") == []


def test_requests_of_different_items_and_arms_are_not_compared() -> None:
    calls = [Call(arm, 1, position=place, request=1 + 2 * place + arm) for arm in (0, 1) for place in (0, 1)]
    items = [Item(f"q{place}", {}, None, None, None, b"", place) for place in range(2)]
    live = Live(make_info(make_design(2, 1)), items)
    live.apply(Delta(live.info, cell_batch([]), attempt_batch(calls)))
    assert told(live.summary(now=0.0), "requests_differ") == []
