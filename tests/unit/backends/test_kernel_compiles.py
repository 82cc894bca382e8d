"""The fused kernel compiles for a real GPU, though none is here.

Triton's interpreter takes what its compiler refuses, so running there is not enough.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
if importlib.util.find_spec("triton") is None:  # imported here, it could not interpret
    pytest.skip("Triton is not installed", allow_module_level=True)

from phcle.backends.torch_dense import RESERVED_MEMORY, SHARED_MEMORY

TOOL = Path(__file__).parents[3] / "tools" / "inspect_kernel.py"


@pytest.mark.parametrize("precision", ["mixed", "full"])
def test_the_kernel_compiles_for_hopper_and_fits_into_it(precision):
    # In a process of its own: this one may be running the interpreter.
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, TOOL, "--width", "128", "--precision", precision, "--json"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    for line in json.loads(done.stdout):
        assert line["matrix_instructions"] > 0
        assert line["spilled"] <= 128
        assert line["shared"] <= SHARED_MEMORY - RESERVED_MEMORY
        assert line["programs"] >= 1
