"""Which study a run goes on with, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from study_making import first_cell, make_items, make_plan, make_study, outcome_of

from evaltui import store
from evaltui.core.errors import StoreError
from evaltui.core.records import Item
from evaltui.core.status import StudyState
from evaltui.core.study import StudyPlan

Items = tuple[Item, ...]


def finish(path: Path, study: str) -> None:
    with store.Writer(path, study) as writer:
        writer.state(StudyState.FINISHED)


def test_the_first_run_makes_the_file_and_a_study(path: Path) -> None:
    opened = store.open_study(path, make_plan())
    assert (opened.resumed, opened.finished) == (False, False)
    (info,) = store.studies(path)
    assert (info.id, info.state, info.live, info.crashed) == (opened.study_id, StudyState.CREATED, False, False)


def test_an_unfinished_study_of_the_same_name_and_pins_is_continued(path: Path) -> None:
    first = store.open_study(path, make_plan())
    assert store.open_study(path, make_plan()) == store.Opened(first.study_id, resumed=True, finished=False)


def test_the_newest_unfinished_one_is_continued(path: Path) -> None:
    make_study(path)
    newest = make_study(path)
    assert store.open_study(path, make_plan()).study_id == newest


def test_an_unfinished_study_goes_before_a_newer_finished_one(path: Path) -> None:
    unfinished = make_study(path)
    finish(path, make_study(path))
    assert store.open_study(path, make_plan()).study_id == unfinished


def test_a_finished_study_says_so(path: Path) -> None:
    study = make_study(path)
    finish(path, study)
    assert store.open_study(path, make_plan()) == store.Opened(study, resumed=True, finished=True)


def test_another_name_is_another_study(path: Path) -> None:
    make_study(path)
    assert not store.open_study(path, make_plan(name="other")).resumed


def test_new_begins_another_study(path: Path) -> None:
    first = store.open_study(path, make_plan())
    second = store.open_study(path, make_plan(), new=True)
    assert second.study_id != first.study_id
    assert not second.resumed


def test_other_pins_are_refused_with_each_pin_and_both_values(path: Path) -> None:
    make_study(path, temperature=0.0)
    with pytest.raises(StoreError) as caught:
        store.open_study(path, make_plan(temperature=0.7))
    said = str(caught.value).splitlines()
    assert "  arms.baseline.temperature: 0.0 there, 0.7 here" in said
    assert "  arms.candidate.temperature: 0.0 there, 0.7 here" in said
    assert len(said) == 4
    assert "--new" in said[-1]
    assert len(store.studies(path)) == 1


def test_other_pins_begin_a_new_study_once_the_old_one_is_finished(path: Path) -> None:
    finish(path, make_study(path, temperature=0.0))
    assert not store.open_study(path, make_plan(temperature=0.7)).resumed


def test_more_repeats_extend_the_study_and_fewer_do_not_shrink_it(path: Path) -> None:
    study = make_study(path, repeats=2)
    store.open_study(path, make_plan(repeats=5))
    assert store.resolve(path, study).design.repeats == 5
    store.open_study(path, make_plan(repeats=3))
    assert store.resolve(path, study).design.repeats == 5
    assert [event.kind for event in store.events(path, study)] == ["extended"]
    with store.Writer(path, study) as writer:
        assert set(writer.terminal()) == {(arm, r) for arm in ("baseline", "candidate") for r in range(1, 6)}


def test_more_repeats_of_a_finished_study_reopen_it(path: Path) -> None:
    study = make_study(path, repeats=2)
    finish(path, study)
    assert store.open_study(path, make_plan(repeats=3)) == store.Opened(study, resumed=True, finished=False)
    assert store.resolve(path, study).state is StudyState.STOPPED


def test_another_concurrency_is_recorded_as_an_event(path: Path) -> None:
    study = make_study(path, concurrency=8)
    store.open_study(path, make_plan(concurrency=16))
    (event,) = store.events(path, study)
    assert (event.kind, event.level) == ("concurrency", "warning")
    assert "8 before, 16" in event.text
    assert store.resolve(path, study).design.concurrency == 16


def test_what_is_not_pinned_is_taken_from_the_new_plan(path: Path) -> None:
    study = make_study(path)
    moved = replace(make_plan(), config={"price": 2.0}, config_path="/elsewhere.toml")
    store.open_study(path, replace(moved, design=replace(moved.design, max_cost=9.0)))
    stored = store.load_plan(path, study)
    assert (stored.config, stored.config_path, stored.design.max_cost) == ({"price": 2.0}, "/elsewhere.toml", 9.0)


def configured(**changes: object) -> StudyPlan:
    """A plan of two settings that are no pins, with ``changes``."""
    study = {"name": "study", "repeats": 2, "max_cost": None, "missing": {"timeout": "fail"}, **changes}
    return replace(make_plan(), config={"study": study, "endpoints": {"main": {"retries": 3}}})


def test_changed_settings_are_listed_with_both_values(path: Path) -> None:
    study = store.open_study(path, configured()).study_id
    changed = store.open_study(path, configured(max_cost=9.0, missing={"timeout": "exclude"}, repeats=1)).changed
    said = [
        "study.max_cost: not set before, 9.0 now",
        'study.missing.timeout: "fail" before, "exclude" now',
    ]
    assert [str(change) for change in changed] == said
    (event,) = [event for event in store.events(path, study) if event.kind == "settings_changed"]
    assert (event.text, event.level) == ("; ".join(said), "warning")


def test_settings_that_stay_as_they_are_leave_no_event(path: Path) -> None:
    study = store.open_study(path, configured()).study_id
    assert store.open_study(path, configured()).changed == ()
    assert store.events(path, study) == []


def test_a_finished_study_keeps_its_settings(path: Path) -> None:
    study = store.open_study(path, configured()).study_id
    finish(path, study)
    opened = store.open_study(path, configured(max_cost=9.0))
    assert opened.finished
    assert [change.key for change in opened.changed] == ["study.max_cost"]
    assert store.load_plan(path, study).config == configured().config
    assert store.events(path, study) == []


def test_arms_that_moved_in_the_study_file_keep_their_verdicts(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.cell(outcome_of(first_cell()))
    plan = make_plan()
    store.open_study(path, replace(plan, design=replace(plan.design, arms=plan.design.arms[::-1])))
    with store.Follower(path, study) as follower:
        delta = follower.poll()
    assert delta is not None
    assert delta.info.design.arm_names[delta.cells.arm[0]] == first_cell().arm


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda items: items[:-1], r"1 removed \(first: 'item-3'\)"),
        (lambda items: (*items[:-1], replace(items[-1], hash=b"x" * 16)), r"1 changed \(first: 'item-3'\)"),
        (lambda items: (*items[:-1], replace(items[-1], id="odd")), r"1 added \(first: 'odd'\), 1 removed"),
        (lambda items: tuple(replace(item, position=3 - item.position) for item in items), "another order"),
    ],
)
def test_other_items_are_refused_by_name(path: Path, change: Callable[[Items], Items], said: str) -> None:
    make_study(path)
    with pytest.raises(StoreError, match=said):
        store.open_study(path, replace(make_plan(), items=change(make_items(4))))


def test_a_study_can_be_asked_for_by_id(path: Path) -> None:
    older = make_study(path)
    make_study(path)
    assert store.open_study(path, make_plan(), study_id=older).study_id == older
    with pytest.raises(StoreError, match="pinned differently"):
        store.open_study(path, make_plan(temperature=1.0), study_id=older)


def test_an_id_that_is_not_there_yet_becomes_the_new_study_s(path: Path) -> None:
    assert store.open_study(path, make_plan(), study_id="mine") == store.Opened("mine", resumed=False, finished=False)
    with pytest.raises(StoreError, match="already"):
        store.open_study(path, make_plan(), study_id="mine", new=True)


def test_a_running_study_is_left_alone(path: Path) -> None:
    study = make_study(path, repeats=2)
    with store.Writer(path, study), pytest.raises(store.LeaseHeldError, match=f"process {os.getpid()}"):
        store.open_study(path, make_plan(repeats=9))
    assert store.resolve(path, study).design.repeats == 2
    assert store.events(path, study) == []


def test_ids_are_short_and_sort_by_time(path: Path) -> None:
    ids = [make_study(path, n=1) for _ in range(5)]
    assert len(set(ids)) == 5
    assert all(len(study) == 10 and study == study.lower() for study in ids)
    assert [study[:8] for study in ids] == sorted(study[:8] for study in ids)


def test_a_resumed_study_records_that_it_was_resumed_each_time_an_engine_takes_it_up(path: Path) -> None:
    study = make_study(path)
    with store.Writer(path, study) as writer:
        writer.state(StudyState.RUNNING)
        writer.cell(outcome_of(first_cell()))
    for _ in range(2):
        store.open_study(path, make_plan())
        with store.Writer(path, study):
            pass
    events = store.events(path, study)
    assert [event.kind for event in events] == ["resumed", "resumed"]
    assert "1 of 16 cells were done" in events[0].text


def test_a_study_that_was_extended_while_its_engine_ran_is_not_finished_when_that_is(path: Path) -> None:
    study = make_study(path, repeats=2)
    with store.Writer(path, study) as writer:
        assert store.extend(path, study, 3) == 5
        writer.state(StudyState.FINISHED)
    info = store.resolve(path, study)
    assert (info.state, info.reason, info.design.repeats) == (StudyState.STOPPED, "extended to 5 repeats", 5)
    assert store.load_plan(path, study).config == {"study": {"name": "study", "repeats": 5}}
    with store.Writer(path, study) as writer:
        assert len(writer.terminal()) == 2 * 5
        writer.state(StudyState.FINISHED)
    assert store.resolve(path, study).state is StudyState.FINISHED
