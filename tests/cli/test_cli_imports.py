"""What may be loaded when: ``--help`` must cost no more than click, and stats no scipy.stats."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("textual", "scipy", "numpy", "httpx", "sqlite_utils", "pydantic", "rich", "asyncio")


def loaded_by(code: str) -> set[str]:
    """Top-level and dotted names in ``sys.modules`` after running ``code`` in a process of its own."""
    script = f"import sys\ntry:\n {code}\nexcept SystemExit: pass\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_loads_none_of_the_heavy_libraries(argument: str) -> None:
    modules = loaded_by(f"import evaltui.cli; sys.argv = ['evaltui', {argument!r}]; evaltui.cli.main()")
    assert modules.isdisjoint(HEAVY)


def test_stats_loads_no_scipy_stats() -> None:
    names = "bootstrap, intervals, bands, flips, excess"
    modules = loaded_by(f"from evaltui.stats import {names}")
    assert "scipy.stats" not in modules
    assert "scipy.fft" not in modules


def test_the_engine_process_loads_no_screen() -> None:
    modules = loaded_by("import evaltui.cli.process, evaltui.cli.verbs.resume")
    assert modules.isdisjoint({"textual", "rich"})
