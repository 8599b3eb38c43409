"""One measurement in a process of its own: python bench/engine_child.py MODE JSON; the result is JSON on stdout.

``make`` stores a study; ``study`` runs one through the real engine, from taking the lease until it is given up with
everything committed; ``fresh`` does both; ``bare`` makes the same calls through the same provider and keeps nothing;
``client`` makes them with aiohttp alone; ``resume`` takes a stored study up again; ``fetch`` reads all its verdicts;
``items`` prints items.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from evaltui import config as configs
from evaltui import datasets, store
from evaltui.config import StudyConfig
from evaltui.core.records import AttemptRecord, Cell, Completion, Decoding, Message, Request
from evaltui.core.study import StudyPlan
from evaltui.datasets.demo import arithmetic_items
from evaltui.engine import wiring
from evaltui.engine.plan import build_plan
from evaltui.engine.progress import Progress
from evaltui.engine.run import Outcome, run_study

PROMPT = "{{question}}\nEnd with the number alone."
Told = Callable[[Progress], None]


def make(db: str, items: int, repeats: int, arms: int, in_flight: int, base_url: str | None) -> dict[str, object]:
    """Without ``base_url`` the endpoint is the simulator inside the process, which answers at once."""
    if base_url is None:
        endpoint: dict[str, object] = {"kind": "simulator", "simulator": {"latency_s": 0.0}}
    else:
        endpoint = {"kind": "openai", "base_url": base_url}
    names = ("baseline", "candidate")[:arms]
    arm = {"endpoint": "main", "model": "m", "temperature": 0.7, "max_tokens": 200, "prompt_text": PROMPT}
    config = configs.from_mapping(
        {
            "study": {"name": "bench", "repeats": repeats, "concurrency": in_flight},
            "dataset": {"path": "generated", "gold": "answer", "category": "topic"},
            "endpoints": {"main": endpoint},
            "arms": {name: {**arm, "prompt_text": f"{name}: {PROMPT}"} for name in names},
            "scorers": {"number": {"kind": "numeric"}},
        },
        Path(),
        source="bench",
    )
    plan = build_plan(config, datasets.from_items(arithmetic_items(items, seed=1)))
    return {"study": store.open_study(Path(db), plan, new=True).study_id}


def study(db: str, study: str, sampled: bool = False) -> dict[str, object]:
    path = Path(db)
    plan, config = _stored(path, study)
    loaded = resident()
    samples: list[tuple[float, ...]] = []
    with closing(sqlite3.connect(path)) as connection:
        note = _sampler(path, connection, samples) if sampled else None
        told = None if note is None else lambda progress: note(progress.done)
        result = asyncio.run(_timed(lambda: _session(path, study, plan, config, told), plan.design.n_cells))
        if note is not None:
            note(plan.design.n_cells)
    return {**result, "loaded": loaded, "samples": samples, "bytes": size_of(path)}


def fresh(db: str, in_flight: int, base_url: str, items: int, repeats: int, arms: int) -> dict[str, object]:
    made = make(db, items, repeats, arms, in_flight, base_url)
    return study(db, str(made["study"]), sampled=True)


def bare(base_url: str, calls: int, in_flight: int) -> dict[str, object]:
    """The provider that the engine uses, built as the engine builds it."""
    plan, config = _unstored(base_url)
    request = Request(
        Cell("baseline", 1, 0, plan.items[0].id),
        1,
        (Message("user", f"{plan.items[0].fields['question']}\nEnd with the number alone."),),
        Decoding("m", temperature=0.7, max_tokens=200),
    )

    async def all_of_them() -> None:
        provider = wiring.providers(config, plan, {})["main"]

        async def call() -> None:
            if not isinstance(await provider.complete(request), Completion):
                raise SystemExit("a call of the bare loop failed")

        await _in_workers(call, calls, in_flight)
        await provider.close()

    return asyncio.run(_timed(all_of_them, calls))


def client(base_url: str, calls: int, in_flight: int) -> dict[str, object]:
    import aiohttp

    question = arithmetic_items(1, seed=1)[0].fields["question"]
    sent = {
        "model": "m",
        "messages": [{"role": "user", "content": f"{question}\nEnd with the number alone."}],
        "temperature": 0.7,
        "max_tokens": 200,
    }

    async def all_of_them() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def call() -> None:
                async with session.post(f"{base_url}/chat/completions", json=sent) as response:
                    await response.json()

            await _in_workers(call, calls, in_flight)

    return asyncio.run(_timed(all_of_them, calls))


def resume(db: str, study: str) -> dict[str, object]:
    """Seconds until the study is loaded, its lease taken, the first attempt recorded, and everything committed."""
    path = Path(db)
    start = time.perf_counter()
    plan, config = _stored(path, study)
    providers = wiring.providers(config, plan, {})
    opening = time.perf_counter()
    sink = _NotingWriter(path, study)
    sink.__enter__()
    opened = time.perf_counter()
    asyncio.run(_run(plan, config, sink, providers, None))
    sink.close()
    ended = time.perf_counter()
    return {
        "load": opening - start,
        "open": opened - opening,
        "first": sink.first - opening,
        "committed": ended - opening,
        "peak": peak(),
    }


def fetch(db: str) -> dict[str, object]:
    with closing(sqlite3.connect(db)) as connection:
        start = time.perf_counter()
        rows = connection.execute("SELECT * FROM verdicts").fetchall()
        return {"seconds": time.perf_counter() - start, "rows": len(rows)}


def items(count: int) -> dict[str, object]:
    made = arithmetic_items(count, seed=1)
    return {"items": [{"id": item.id, "input": item.fields["question"], "target": item.gold} for item in made]}


class _NotingWriter(store.Writer):
    """A writer that notes when its first attempt is recorded."""

    first = 0.0

    def attempt(self, record: AttemptRecord) -> None:
        super().attempt(record)
        self.first = self.first or time.perf_counter()


def peak() -> int:
    """The most memory that this process ever held, in bytes; the one that started it must be small itself."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def resident() -> int:
    """The memory that this process holds now, in bytes; its peak where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak()


def size_of(db: Path) -> int:
    """The database with the log beside it, in bytes."""
    return sum(path.stat().st_size for path in (db, db.with_name(db.name + "-wal")) if path.exists())


def _stored(path: Path, study_id: str) -> tuple[StudyPlan, StudyConfig]:
    plan = store.load_plan(path, study_id)
    return plan, configs.from_mapping(plan.config, Path(), source=study_id)


def _unstored(base_url: str) -> tuple[StudyPlan, StudyConfig]:
    config = configs.from_mapping(
        {
            "study": {"name": "bare"},
            "dataset": {"path": "generated", "gold": "answer"},
            "endpoints": {"main": {"kind": "openai", "base_url": base_url}},
            "arms": {"baseline": {"endpoint": "main", "model": "m", "prompt_text": PROMPT}},
            "scorers": {"number": {"kind": "numeric"}},
        },
        Path(),
        source="bench",
    )
    return build_plan(config, datasets.from_items(arithmetic_items(1, seed=1))), config


async def _session(path: Path, study_id: str, plan: StudyPlan, config: StudyConfig, told: Told | None) -> None:
    with store.Writer(path, study_id) as writer:
        outcome = await _run(plan, config, writer, wiring.providers(config, plan, {}), told)
    if outcome.state.value != "finished":
        raise SystemExit(f"the study ended {outcome.state}: {outcome.reason}")


async def _run(
    plan: StudyPlan, config: StudyConfig, writer: store.Writer, providers: dict[str, Any], told: Told | None
) -> Outcome:
    try:
        return await run_study(
            plan,
            config,
            writer,
            providers=providers,
            scorers=wiring.scorers(config),
            terminal=writer.terminal(),
            earlier=writer.earlier(),
            progress=told,
        )
    finally:
        for provider in providers.values():
            await provider.close()


async def _timed(work: Callable[[], Awaitable[None]], count: int) -> dict[str, object]:
    start, cpu = time.perf_counter(), time.process_time()
    await work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"count": count, "seconds": seconds, "cpu": cpu, "peak": peak()}


async def _in_workers(call: Callable[[], Awaitable[None]], calls: int, in_flight: int) -> None:
    numbers = iter(range(calls))

    async def worker(left: Iterator[int]) -> None:
        for _ in left:
            await call()

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(worker(numbers))


def _sampler(path: Path, connection: sqlite3.Connection, samples: list[tuple[float, ...]]) -> Callable[[int], None]:
    """Notes (verdicts done, of which committed, CPU seconds, bytes on disk, bytes of memory) at each call."""

    def note(done: int) -> None:
        ((committed,),) = connection.execute("SELECT coalesce(max(key), 0) FROM verdicts").fetchall()
        samples.append((done, committed, time.process_time(), size_of(path), resident()))

    return note


MODES: dict[str, Callable[..., dict[str, object]]] = {
    "make": make,
    "study": study,
    "fresh": fresh,
    "bare": bare,
    "client": client,
    "resume": resume,
    "fetch": fetch,
    "items": items,
}

if __name__ == "__main__":
    print(json.dumps(MODES[sys.argv[1]](**json.loads(sys.argv[2]))))
