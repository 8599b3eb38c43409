"""The report as a JSON document: stable keys, fractions, nothing rounded, texts as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from evaltui.report.summary import ArmSummary, ComparisonSummary, RunSummary, Summary

Document = dict[str, object]


def to_document(summary: Summary) -> Document:
    """Every number of the report under the keys that other programs rely on.

    What depends on how the calls went (attempts, tokens, cost) stands apart under ``usage``: an interrupted study has
    other calls than an undisturbed one, and the same ``arms`` and ``comparisons``. Holds no NaN and no infinity.
    """
    design = summary.info.design
    comparisons = [_comparison(each) for each in summary.comparisons]
    document = {
        "study": {
            "id": summary.info.id,
            "name": design.name,
            "status": summary.info.status,
            "reason": summary.info.reason,
            "items": design.n_items,
            "repeats": design.repeats,
            "created": summary.info.created,
            "seed": design.order_seed,
            "schedule": design.schedule,
            "concurrency": design.concurrency,
            "disclosure": design.disclosure,
        },
        "pins": {arm.name: dict(arm.pins) for arm in design.arms},
        "arms": {arm.name: _arm(arm) for arm in summary.arms},
        "comparisons": comparisons,
        "comparison": comparisons[0] if comparisons else None,
        "not_compared": [asdict(each) for each in summary.not_compared],
        "categories": [asdict(each) for each in summary.categories],
        "warnings": [asdict(each) for each in summary.warnings],
        "progress": {"done": summary.progress.done, "total": summary.progress.total},
        "usage": {
            "requests": summary.progress.requests,
            "cost": summary.progress.cost,
            "arms": {arm.name: [_usage(run) for run in arm.runs] for arm in summary.arms},
        },
    }
    return {key: _json_safe(value) for key, value in document.items()}


def _run(run: RunSummary) -> Document:
    return {
        "repeat": run.repeat,
        "done": run.done,
        "score": run.score,
        "strict": run.strict,
        "bounds": run.bounds,
        "counted": run.counted,
        "counts": run.counts,
        "retries": run.retries,
        "comparable": run.comparable,
        "latency": asdict(run.latency),
        "queue_wait_s": run.queue_wait_s,
        "started": run.started,
        "finished": run.finished,
    }


def _usage(run: RunSummary) -> Document:
    return {
        "repeat": run.repeat,
        "attempts": run.attempts,
        "tokens": run.tokens,
        "cached_tokens": run.cached_tokens,
        "cost": run.cost,
        "in_flight": run.in_flight,
        "in_flight_of_others": run.in_flight_of_others,
    }


def _arm(arm: ArmSummary) -> Document:
    return {
        "runs": [_run(run) for run in arm.runs],
        "mean": arm.mean,
        "range": arm.range,
        "band": asdict(arm.band),
        "flips": asdict(arm.flips),
        "excess_spread": asdict(arm.excess_spread),
    }


def _comparison(comparison: ComparisonSummary) -> Document:
    return {
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "difference": comparison.difference,
        "means": {"baseline": comparison.baseline_mean, "candidate": comparison.candidate_mean},
        "n_items": comparison.n_items,
        "n_in_flight": comparison.n_in_flight,
        "n_left_out": comparison.n_left_out,
        "intervals": [asdict(each) for each in comparison.intervals],
        "headline": asdict(comparison.headline) if comparison.headline else None,
        "sequence": asdict(comparison.sequence),
        "stopping": comparison.stopping,
        "forecast": comparison.forecast,
        "forecast_note": comparison.forecast_note,
        "gained": comparison.gained,
        "lost": comparison.lost,
        "sentence": comparison.sentence,
        "marks": [asdict(each) for each in comparison.marks],
        "cross_check": asdict(comparison.cross_check) if comparison.cross_check else None,
    }


def _json_safe(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _json_safe(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json_safe(each) for each in value]
    return value
