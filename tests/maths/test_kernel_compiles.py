"""The fused kernels compile for a real GPU, though none is here.

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

TOOL = Path(__file__).parents[2] / "benchmarks" / "kernel.py"


def inspected(*options):
    # In a process of its own: this one may be running the interpreter.
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, TOOL, "--inspect", *options],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("precision", ["mixed", "full"])
def test_the_kernel_compiles_for_hopper_and_fits_into_it(precision):
    for line in inspected("--width", "128", "--precision", precision):
        assert line["matrix_instructions"] > 0
        assert line["spilled"] <= 128
        assert line["shared"] <= SHARED_MEMORY - RESERVED_MEMORY
        assert line["programs"] >= 1


def test_the_kernel_of_known_entries_compiles_for_hopper_without_spilling():
    lines = inspected("--entries")
    assert [line["sums"] for line in lines] == ["dots", "sums", "bent"]
    for line in lines:
        assert line["spilled"] == 0
        assert line["programs"] >= 4
