"""What a comparison says in words. A difference is called one only when its interval leaves out zero."""

from __future__ import annotations

from evaltui.core.format import count, points, span

FEWEST_ITEMS = 10
"""Below this many items no claim about a difference is made."""


def comparison_sentence(
    *,
    baseline: str,
    candidate: str,
    means: tuple[float, float] | None,
    interval: tuple[float, float] | None,
    level: float,
    method: str,
    why: str,
    n_items: int,
    repeats: int,
    next_run: tuple[float, float] | None = None,
) -> str:
    """The sentence for the client, in points. ``means`` are those of (baseline, candidate) over the paired items.

    ``interval`` is the headline of candidate minus baseline, None where it cannot be known; ``method`` names its
    estimator and ``why`` what is to be said about it. No direction is given to a difference that could be none.
    ``next_run`` is where one more run of the candidate will land, None where it is not known.
    """
    who = f"{candidate} against {baseline}"
    if means is None:
        return f"{who}: nothing to compare yet, no item has a scored verdict in both."
    said = _difference(
        who, means=means, interval=interval, level=level, method=method, why=why, n_items=n_items, repeats=repeats
    )
    if next_run is None or n_items < FEWEST_ITEMS:
        return said
    return f"{said} One more run of {candidate} will probably land at {span(*next_run)}."


def _difference(
    who: str,
    *,
    means: tuple[float, float],
    interval: tuple[float, float] | None,
    level: float,
    method: str,
    why: str,
    n_items: int,
    repeats: int,
) -> str:
    extent = f"{count(n_items, 'item')} x {count(repeats, 'repeat')}"
    scores = f"{points(means[1])} against {points(means[0])}"
    if interval is None:
        return f"{who}: {scores} over {extent}; no interval can be given ({why})."
    low, high = interval
    basis = f"{level:.0%} interval, {method}, {extent}".replace("%", " %")
    if n_items < FEWEST_ITEMS:
        return f"{who}: {scores}; fewer than {FEWEST_ITEMS} items say little, it needs more ({basis})."
    if low > 0:
        return f"{who}: better on these examples by {span(low, high)} points ({basis})."
    if high < 0:
        return f"{who}: worse on these examples by {span(-high, -low)} points ({basis})."
    return (
        f"{who}: No evidence of a difference, {scores}; the difference lies between {points(low, signed=True)} and "
        f"{points(high, signed=True)} points ({basis})."
    )
