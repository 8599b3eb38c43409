"""What a comparison says in words. A difference is called one only when its interval leaves out zero."""

from __future__ import annotations

from collections.abc import Sequence

from evaltui.core.format import count, points, span

FEWEST_ITEMS = 10
"""Below this many items no claim about a difference is made."""

_MARKS_NAMED = 4


def about_pair(baseline: str, candidate: str, text: str) -> str:
    """A sentence about one comparison among others."""
    return f"{candidate} against {baseline}: {text}"


def about_stop(baseline: str, candidate: str, text: str) -> str:
    """Why two arms are not compared, where their comparison would stand."""
    return about_pair(baseline, candidate, f"not compared: {text}")


def marked(marks: Sequence[str]) -> str:
    """``[marked: pins.gpu differs; different weeks]``: what a result carries wherever it is copied to; none: empty."""
    if not marks:
        return ""
    more = [f"and {len(marks) - _MARKS_NAMED:,} more"] if len(marks) > _MARKS_NAMED else []
    return f"[marked: {'; '.join([*marks[:_MARKS_NAMED], *more])}]"


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
    complete: int,
    next_run: tuple[float, float] | None = None,
    marks: Sequence[str] = (),
    finished: bool = False,
) -> str:
    """The sentence for the client, in points. ``means`` are those of (baseline, candidate) over the paired items.

    ``interval`` is the headline of candidate minus baseline, None where it cannot be known; ``method`` names its
    estimator and ``why`` what is to be said about it. No direction is given to a difference that could be none.
    ``complete`` of the ``repeats`` are whole. ``next_run`` is where one more run of the candidate will land, None
    where it is not known. ``marks`` end the sentence, so that whoever copies it copies them.
    """
    if means is None:
        nothing = "nothing to compare" if finished else "nothing to compare yet"
        said = [about_pair(baseline, candidate, f"{nothing}, no item has a scored verdict in both.")]
    else:
        extent = f"{count(n_items, 'item')} x {count(repeats, 'repeat')}"
        if complete < repeats:
            extent += f", {complete} complete"
        what = _difference(
            means=means, interval=interval, level=level, method=method, why=why, extent=extent, n_items=n_items
        )
        said = [about_pair(baseline, candidate, what)]
        if next_run is not None and n_items >= FEWEST_ITEMS:
            said.append(f"One more run of {candidate} will probably land at {span(*next_run)}.")
    return " ".join([*said, marked(marks)] if marks else said)


def _difference(
    *,
    means: tuple[float, float],
    interval: tuple[float, float] | None,
    level: float,
    method: str,
    why: str,
    extent: str,
    n_items: int,
) -> str:
    scores = f"{points(means[1])} against {points(means[0])}"
    if interval is None:
        return f"{scores} over {extent}; no interval can be given ({why})."
    low, high = interval
    basis = f"{level:.0%} interval, {method}, {extent}".replace("%", " %")
    if n_items < FEWEST_ITEMS:
        return f"{scores}; fewer than {FEWEST_ITEMS} items say little, it needs more ({basis})."
    if low > 0:
        return f"better on these examples by {span(low, high)} points ({basis})."
    if high < 0:
        return f"worse on these examples by {span(-high, -low)} points ({basis})."
    return (
        f"No evidence of a difference, {scores}; the difference lies between {points(low, signed=True)} and "
        f"{points(high, signed=True)} points ({basis})."
    )
