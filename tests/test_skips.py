"""Where PHCLE_NO_SKIPS is set, a test that skips fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("reason", "no_skips", "code", "level", "workers"),
    [
        ("Chromium is not installed", "1", 1, "test", "2"),
        ("Chromium is not installed", "", 0, "module", "0"),
        ("no CUDA device", "1", 0, "module", "0"),
    ],
)
def test_a_skip_is_an_error_where_no_test_may_skip(
    tmp_path, reason, no_skips, code, level, workers
):
    skip = f"pytest.skip({reason!r}, allow_module_level=True)"
    body = f"    {skip}" if level == "test" else f"    pass\n\n\n{skip}"
    text = f"import pytest\n\n\ndef test_one():\n{body}\n"
    (tmp_path / "test_one.py").write_text(text)
    (tmp_path / "test_two.py").write_text("def test_two():\n    pass\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-n", workers, "."],
        cwd=tmp_path,
        env=os.environ | {"PHCLE_NO_SKIPS": no_skips, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == code, run.stdout
    assert ("no test may skip" in run.stdout) is bool(code)
