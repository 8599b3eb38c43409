"""Whole studies over HTTP on loopback against bare loops that make the same calls and keep nothing."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from engine_process import Result, child, fresh, serving, stored, watching
from engine_table import Report, Scale

DELAY_S = 0.2
GOALS = {64: 0.97, 256: 0.90}
IDLE_GOAL = 0.60
IDLE_IN_FLIGHT = 64
SCREEN_GOAL = 0.97
REPEATS = 10
ARMS = 2


def slow_server(report: Report, scale: Scale, folder: Path) -> None:
    report.part(f"HTTP, a server that answers after {1000 * DELAY_S:g} ms; verdicts/s")
    with serving(DELAY_S) as base_url:
        for in_flight, calls in scale.calls:
            _against_loops(report, scale, folder, base_url, in_flight, calls, GOALS[in_flight], in_flight / DELAY_S)


def idle_server(report: Report, scale: Scale, folder: Path) -> None:
    report.part("HTTP, a server that answers at once; verdicts/s")
    with serving(0) as base_url:
        _against_loops(report, scale, folder, base_url, IDLE_IN_FLIGHT, scale.idle_calls, IDLE_GOAL, None)


def attached_screen(report: Report, scale: Scale, folder: Path) -> None:
    in_flight, calls = scale.calls[0]
    report.part(f"`evaltui watch` follows in a terminal, or nobody does; {in_flight} in flight; verdicts/s")
    alone, watched, drawn = [], [], 0
    with serving(DELAY_S) as base_url:
        for pair in range(scale.screen_pairs):
            for followed in (False, True) if pair % 2 else (True, False):
                study = stored(folder, calls // REPEATS // ARMS, REPEATS, in_flight=in_flight, base_url=base_url)
                with watching(study) if followed else nullcontext([0]) as bytes_drawn:
                    before = bytes_drawn[0]
                    (watched if followed else alone).append(study.run())
                    drawn += bytes_drawn[0] - before
    report.row(
        "with a screen attached",
        f"{_rate(watched):,.1f}",
        f"without: {_rate(alone):,.1f}",
        _paired(watched, alone),
        SCREEN_GOAL,
        at_least=True,
    )
    report.row(
        "CPU of the engine a verdict",
        f"{1000 * _cpu(watched):.3f} ms",
        f"without: {1000 * _cpu(alone):.3f} ms",
        _cpu(watched) / _cpu(alone),
        None,
    )
    report.note(f"the screen drew {drawn / 1000 / len(watched):,.0f} kB a study; {len(watched)} pairs, interleaved")


def soak(report: Report, scale: Scale, folder: Path) -> None:
    """Memory over a long study on a server that answers at once."""
    report.part(f"soak: {scale.soak:,} verdicts over HTTP from a server that answers at once")
    with serving(0) as base_url:
        study = stored(folder, scale.soak // REPEATS // ARMS, REPEATS, in_flight=IDLE_IN_FLIGHT, base_url=base_url)
        result = study.run(sampled=True)
    memory = resident_at(result)
    report.row(
        "memory at 100 % against 10 %",
        f"{memory[100]:,.0f} MB",
        f"at 10 %: {memory[10]:,.0f} MB",
        memory[100] / memory[10],
        1.1,
    )
    report.note(f"{told_memory(result)}; {result['count'] / result['seconds']:,.0f} verdicts/s; {told_behind(result)}")


def resident_at(result: Result) -> dict[int, float]:
    """Megabytes held when so many percent of the verdicts were done."""
    samples = result["samples"]
    at = {share: next(s for s in samples if s[0] >= share / 100 * result["count"]) for share in (10, 50, 100)}
    return {share: sample[4] / 1e6 for share, sample in at.items()}


def told_memory(result: Result) -> str:
    held = ", ".join(f"{megabytes:,.0f} MB at {share} %" for share, megabytes in resident_at(result).items())
    return f"memory {result['loaded'] / 1e6:,.0f} MB before the first call, {held}, peak {result['peak'] / 1e6:,.0f} MB"


def told_behind(result: Result) -> str:
    """How far what was committed fell behind what was done."""
    behind = max(done - committed for done, committed, *_ in result["samples"])
    return (
        f"at most {behind:,} verdicts ({behind * result['seconds'] / result['count']:.2g} s of work) not yet committed"
    )


def _against_loops(
    report: Report,
    scale: Scale,
    folder: Path,
    base_url: str,
    in_flight: int,
    calls: int,
    limit: float,
    ideal: float | None,
) -> None:
    # The loop that is fastest of all goes first: it warms the server up.
    client = [child("client", base_url=base_url, calls=calls, in_flight=in_flight)]
    engine, bare = [], []
    for pair in range(scale.pairs):
        for ours in (True, False) if pair % 2 else (False, True):
            if ours:
                engine.append(fresh(folder, calls // REPEATS // ARMS, REPEATS, in_flight, base_url))
            else:
                bare.append(child("bare", base_url=base_url, calls=calls, in_flight=in_flight))
    ours, name = f"{_rate(engine):,.1f}", f"{in_flight} in flight"
    report.row(name, ours, f"bare loop: {_rate(bare):,.1f}", _paired(engine, bare), limit, at_least=True)
    report.row(name, ours, f"aiohttp alone: {_rate(client):,.1f}", _rate(engine) / _rate(client), None)
    if ideal is not None:
        report.row(name, ours, f"ideal: {ideal:,.0f}", _rate(engine) / ideal, None)
    report.note(
        f"CPU a verdict: engine {1000 * _cpu(engine):.2f} ms, bare loop {1000 * _cpu(bare):.2f} ms; "
        f"{told_behind(engine[-1])}"
    )


def _rate(results: Sequence[Result]) -> float:
    return statistics.median([float(result["count"]) / result["seconds"] for result in results])


def _cpu(results: Sequence[Result]) -> float:
    return statistics.median([float(result["cpu"]) / result["count"] for result in results])


def _paired(ours: Sequence[Result], theirs: Sequence[Result]) -> float:
    """The median over pairs of how fast ours was against theirs."""
    return statistics.median([float(b["seconds"]) / a["seconds"] for a, b in zip(ours, theirs, strict=True)])
