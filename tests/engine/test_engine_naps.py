"""A process that stood still notices it, and holds it against nobody."""

from __future__ import annotations

from evaltui.engine.naps import NAP_S, Naps


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_clock_that_is_looked_at_all_the_time_tells_of_no_nap() -> None:
    clock = Clock()
    naps = Naps(clock)
    began = naps.look()
    for _ in range(100):
        clock.now += NAP_S / 2
        assert not naps.since(began)


def test_a_nap_is_seen_by_whoever_looks_first_and_concerns_only_what_began_before() -> None:
    clock = Clock()
    naps = Naps(clock)
    before = naps.look()
    clock.now += NAP_S + 1
    after = naps.look()
    assert naps.since(before)
    assert not naps.since(after)
    clock.now += NAP_S / 2
    assert naps.since(before)
    assert not naps.since(after)
