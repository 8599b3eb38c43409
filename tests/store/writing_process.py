"""An engine to be killed: writes every cell that is not done, flushing now and then, and says what is safe."""

from __future__ import annotations

import sys
from pathlib import Path

from study_making import attempt_of, cells_of, outcome_of

from evaltui import store
from evaltui.core.status import StudyState


def main(path: Path, study_id: str) -> None:
    plan = store.load_plan(path, study_id)
    with store.Writer(path, study_id) as writer:
        done = writer.terminal()
        writer.state(StudyState.RUNNING)
        todo = [cell for cell in cells_of(plan) if not done[cell.arm, cell.repeat][cell.position]]
        print("started", flush=True)
        for count, cell in enumerate(todo, start=1):
            writer.attempt(attempt_of(cell))
            writer.cell(outcome_of(cell, text=f"answer {cell.position} of {cell.arm}"))
            if count % 25 == 0:
                writer.flush()
                print(f"safe {count}", flush=True)
        writer.state(StudyState.FINISHED)
    print("ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
