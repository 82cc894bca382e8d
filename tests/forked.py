"""Processes that share a fit, forked from one that has loaded PyTorch."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["run_together"]

LIMIT_S = 240
"""A busy machine needs a while to start several processes."""

SCRIPT = """
import importlib, multiprocessing, os, socket, sys
import torch.distributed  # once, before processes are forked

folders, module, function, folder, *sizes = sys.argv[1:]
sys.path[:0] = folders.split(os.pathsep)
work = getattr(importlib.import_module(module), function)

def process(rank, size, port):
    if size > 1:
        where = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_WORLD_SIZE=size)
        run = dict(RANK=rank, WORLD_SIZE=size, LOCAL_RANK=rank, **where)
        os.environ.update({name: str(value) for name, value in run.items()})
    work(folder, rank, size)

fork = multiprocessing.get_context("fork")
started = []
for size in map(int, sizes):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runs = [fork.Process(target=process, args=(i, size, port)) for i in range(size)]
    for one in runs:
        one.start()
    started += runs
for one in started:
    one.join()
sys.exit(max(abs(one.exitcode) for one in started))
"""


def run_together(work, folder, *sizes):
    """Call `work(folder, rank, size)` in all processes of a run of each size."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    file = Path(inspect.getfile(work))
    folders = os.pathsep.join([str(Path(__file__).parent), str(file.parent)])
    words = [folders, file.stem, work.__name__, str(folder), *map(str, sizes)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
