"""What the statistics cost to import."""

from __future__ import annotations

import subprocess
import sys

ROOM = [
    "agreement",
    "bands",
    "bootstrap",
    "components",
    "excess",
    "flips",
    "intervals",
    "lattice",
    "multiplicity",
    "plans",
    "power",
    "rules",
]


def test_the_estimators_do_without_scipy_stats():
    code = f"import sys; from evaltui.stats import {', '.join(ROOM)}; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
