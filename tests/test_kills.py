"""The short run of `tools/kill_test.py`: nothing is lost when processes are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[1] / "tools" / "kill_test.py"
SHORT = "--forked 5 --real 1 --seed 3 --only fit --leaves 60"


@pytest.mark.skipif(sys.platform != "linux", reason="forks and kills")
def test_killed_commands_damage_nothing_and_resumed_fits_end_the_same():
    for module in ("jinja2", "matplotlib", "openTSNE", "pyarrow"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, HARNESS, *SHORT.split()],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    total = json.loads(done.stdout)["total"]
    assert total["killed"] >= 6
    assert total["resumed"] >= 1
