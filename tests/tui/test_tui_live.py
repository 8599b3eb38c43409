"""The thread that follows a study."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest
from screen_world import Workspace, plan_of
from textual.message import Message

from evaltui.core.status import StudyState
from evaltui.tui.heat import Order
from evaltui.tui.live import Arrived, Feed, Snapshot, Unreadable

Make = Callable[..., Workspace]
WAIT_S = 20.0


class Watcher:
    """Stands where the screen is: what the feed posts lands in a queue."""

    def __init__(self, path: Path, study_id: str) -> None:
        self.posted: Queue[Message] = Queue()
        self.feed = Feed(path, study_id, self.posted.put)
        self.feed.start()

    def next(self) -> Message:
        return self.posted.get(timeout=WAIT_S)

    def snapshot(self) -> Snapshot:
        message = self.next()
        assert isinstance(message, Arrived)
        return message.snapshot


@pytest.fixture
def watch() -> Iterator[Callable[[Path, str], Watcher]]:
    watchers: list[Watcher] = []

    def start(path: Path, study_id: str) -> Watcher:
        watchers.append(Watcher(path, study_id))
        return watchers[-1]

    yield start
    for watcher in watchers:
        watcher.feed.close()


def test_the_first_snapshot_holds_everything(workspace: Make, watch: Callable[..., Watcher]) -> None:
    study = workspace(plan_of(20), share=0.5)
    snapshot = watch(study.path, study.study_id).snapshot()
    assert snapshot.summary.progress.done == 80
    assert snapshot.heat.n_items == 20
    assert [event.kind for event in snapshot.events] == ["started"]
    assert len(snapshot.traces) == 1


def test_what_is_written_later_comes_with_a_later_snapshot(workspace: Make, watch: Callable[..., Watcher]) -> None:
    study = workspace(plan_of(20), share=0.5)
    watcher = watch(study.path, study.study_id)
    watcher.snapshot()
    watcher.feed.applied()
    study.run_to(1.0)
    watcher.feed.tick()
    assert watcher.snapshot().summary.progress.done == 160


def test_no_snapshot_is_made_before_the_last_one_was_applied(workspace: Make, watch: Callable[..., Watcher]) -> None:
    study = workspace(plan_of(20), share=0.25)
    watcher = watch(study.path, study.study_id)
    watcher.snapshot()
    for share in (0.5, 0.75, 1.0):
        study.run_to(share)
        watcher.feed.tick()
    with pytest.raises(Empty):
        watcher.posted.get_nowait()
    watcher.feed.applied()
    watcher.feed.tick()
    following = watcher.snapshot()
    assert (following.number, following.summary.progress.done) == (2, 160)


def test_rows_come_in_the_order_that_was_asked_for(workspace: Make, watch: Callable[..., Watcher]) -> None:
    study = workspace(plan_of(20), share=0.5)
    watcher = watch(study.path, study.study_id)
    watcher.snapshot()
    watcher.feed.sort(Order.PLANNED)
    study.run_to(0.6)
    watcher.feed.applied()
    watcher.feed.tick()
    assert watcher.snapshot().rows.tolist() == list(range(20))


def test_a_file_that_is_not_there_is_said_once_and_tried_again(
    workspace: Make, watch: Callable[..., Watcher], tmp_path: Path
) -> None:
    study = workspace(plan_of(20), share=0.5)
    later = tmp_path / "later.db"
    watcher = watch(later, study.study_id)
    message = watcher.next()
    assert isinstance(message, Unreadable)
    assert "later.db" in message.reason
    watcher.feed.tick()
    study.writer.close()
    later.write_bytes(study.path.read_bytes())
    watcher.feed.tick()
    assert watcher.snapshot().summary.progress.done == 80


def test_a_file_that_is_deleted_is_said_and_one_in_its_place_is_followed(
    workspace: Make, watch: Callable[..., Watcher]
) -> None:
    study = workspace(plan_of(20), share=0.5)
    watcher = watch(study.path, study.study_id)
    assert watcher.snapshot().summary.progress.done == 80
    study.writer.close()
    kept = study.path.read_bytes()
    study.path.unlink()
    watcher.feed.applied()
    watcher.feed.tick()
    message = watcher.next()
    assert isinstance(message, Unreadable)
    assert "there is no such database" in message.reason
    study.path.write_bytes(kept)
    watcher.feed.tick()
    assert watcher.snapshot().summary.progress.done == 80


def test_an_engine_that_ends_is_noticed(workspace: Make, watch: Callable[..., Watcher]) -> None:
    study = workspace(plan_of(20), share=0.5)
    watcher = watch(study.path, study.study_id)
    assert watcher.snapshot().summary.info.live
    study.writer.state(StudyState.PAUSED, "asked to")
    study.writer.close()
    watcher.feed.applied()
    watcher.feed.tick()
    info = watcher.snapshot().summary.info
    assert (info.live, info.state, info.reason) == (False, StudyState.PAUSED, "asked to")


def test_closing_ends_the_thread_at_once(workspace: Make) -> None:
    study = workspace(plan_of(20), share=0.5)
    watcher = Watcher(study.path, study.study_id)
    watcher.snapshot()
    watcher.feed.close()
    assert f"follow-{study.study_id}" not in [thread.name for thread in threading.enumerate()]
