"""Inspect with its mock model, for engine.py: PYTHON engine_inspect.py ITEMS.json EPOCHS IN_FLIGHT LOG_DIR

Runs under an interpreter that has inspect_ai and prints JSON. The settings are the fastest of those that keep a log of
every sample: no display, and no log of a run that is still under way.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate


def answer(number: int) -> ModelOutput:
    """A short text that differs from call to call. Its usage is given: to count tokens takes a download."""
    output = ModelOutput.from_content("mockllm/model", f"The answer is {number % 97}.")
    output.usage = ModelUsage(input_tokens=40, output_tokens=30, total_tokens=70)
    return output


def main() -> None:
    given, epochs, in_flight, log_dir = sys.argv[1:]
    rows = json.loads(Path(given).read_text("utf-8"))
    samples = [Sample(id=row["id"], input=row["input"], target=row["target"]) for row in rows]
    task = Task(dataset=MemoryDataset(samples), solver=[generate()], scorer=match(numeric=True), epochs=int(epochs))
    numbers = itertools.count()
    start, cpu = time.perf_counter(), time.process_time()
    logs = eval(
        task,
        model=get_model("mockllm/model", custom_outputs=lambda *_: answer(next(numbers))),
        log_dir=log_dir,
        display="none",
        log_realtime=False,
        max_connections=int(in_flight),
        max_samples=int(in_flight),
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    if [log.status for log in logs] != ["success"]:
        raise SystemExit(f"Inspect ended {[log.status for log in logs]}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "count": len(rows) * int(epochs),
                "seconds": seconds,
                "cpu": cpu,
                "peak": most if sys.platform == "darwin" else 1024 * most,
                "bytes": sum(path.stat().st_size for path in Path(log_dir).rglob("*") if path.is_file()),
            }
        )
    )


if __name__ == "__main__":
    main()
