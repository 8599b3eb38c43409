"""How the runs of an arm were served: calls in flight, the server's prompt cache, one request for all repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from evaltui.core.format import count
from evaltui.report.summary import Notice, RunSummary

FEWEST_CALLS: Final = 20
FEWEST_RUNS: Final = 3
LOWEST_RATIO: Final = 0.75
HIGHEST_RATIO: Final = 1.33
LEAST_CALLS_APART: Final = 1.0
SHARE_APART: Final = 0.1


def beside_others(runs: Sequence[RunSummary]) -> tuple[RunSummary, ...]:
    """The runs of one arm, each that had other calls in flight than the rest marked with their median."""
    known = {run.repeat: run.in_flight for run in runs if run.in_flight is not None and run.calls >= FEWEST_CALLS}
    if len(known) < FEWEST_RUNS:
        return tuple(runs)
    usual = {repeat: median(mean for other, mean in known.items() if other != repeat) for repeat in known}
    marked = {repeat: usual[repeat] for repeat, mean in known.items() if _differs(mean, usual[repeat])}
    return tuple(replace(run, in_flight_of_others=marked.get(run.repeat)) for run in runs)


def profile_notices(name: str, runs: Sequence[RunSummary], requests_differ: int) -> Iterator[Notice]:
    """What has to be said of an arm whose runs were not served alike; ``requests_differ`` counts items."""
    if requests_differ:
        were = "was" if requests_differ == 1 else "were"
        yield Notice(
            "requests_differ",
            f"{name}: {count(requests_differ, 'item')} {were} not asked the same in every repeat: the requests differ "
            "in more than the seed, as when a template has changed",
        )
    for run in runs:
        if run.in_flight is not None and run.in_flight_of_others is not None:
            yield Notice(
                "in_flight_differs",
                f"{name}#{run.repeat} had {run.in_flight:.1f} calls in flight on average, the other runs "
                f"{run.in_flight_of_others:.1f} (median): it was batched otherwise, which can move its answers",
            )
    yield from _cache_notices(name, runs)


def _differs(mean: float, usual: float) -> bool:
    return abs(mean - usual) >= LEAST_CALLS_APART and not LOWEST_RATIO <= mean / usual <= HIGHEST_RATIO


def _cache_notices(name: str, runs: Sequence[RunSummary]) -> Iterator[Notice]:
    """A run that has only begun is left out: its first prompts are in no cache yet."""
    shares = {
        run.repeat: run.cached_tokens / run.prompt_tokens
        for run in runs
        if run.prompt_tokens and (run.complete or run.calls >= FEWEST_CALLS)
    }
    if not shares:
        return
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    if round(shares[most] - shares[least], 9) > SHARE_APART:
        yield Notice(
            "cached_tokens_differ",
            f"{name}: the server took {100 * shares[least]:.1f} % of the prompt tokens of #{least} from its cache and "
            f"{100 * shares[most]:.1f} % of those of #{most}: latency and cost of its runs are not alike",
        )
