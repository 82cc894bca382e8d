"""Fits shared by several processes over gloo: the same result, and a clear end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import call
from forked import run_together

import phcle
from phcle.cli import main

pytest.importorskip("torch", reason="PyTorch is not installed")

LIMIT = 240  # seconds; a busy machine needs a while to start several processes


@pytest.fixture
def tree(tmp_path):
    edges = [(f"leaf{i}", f"twig{i % 9}") for i in range(60)]
    edges += [(f"twig{i}", f"branch{i % 3}") for i in range(9)]
    edges += [(f"branch{i}", "root") for i in range(3)]
    path = tmp_path / "tree.csv"
    lines = ["child,parent", *(",".join(edge) for edge in edges)]
    path.write_text("\n".join(lines) + "\n")
    tags = ["label,tag", *(f"leaf{i},{'odd' if i % 2 else 'even'}" for i in range(30))]
    (tmp_path / "tags.csv").write_text("\n".join(tags) + "\n")
    return path


def command(tree, out, *more):
    files = ["--hierarchy", str(tree), "--tags", str(tree.with_name("tags.csv"))]
    fixed = ["--dim=6", "--set=tol=0", "--device=cpu", "--set=backend=numpy"]
    return ["phcle", "fit", *files, *fixed, "--out", str(out), *map(str, more)]


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def torchrun(n, arguments):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, f"--nproc-per-node={n}", "-m", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment(),
    )


def resume(folder, rank, size):
    """Go on with the fit of this folder, in one of several forked processes."""
    folder = Path(folder)
    more = ("--set", "max_iter=6", "--checkpoint", folder / "fit.ckpt", "--resume")
    main(command(folder / "tree.csv", folder / "shared.phcle", *more)[1:])


def test_processes_share_a_fit_and_another_number_of_them_resumes_it(tree, tmp_path):
    alone, shared = tmp_path / "alone.phcle", tmp_path / "shared.phcle"
    checkpoint = tmp_path / "fit.ckpt"
    call(*command(tree, alone, "--set", "max_iter=6")[1:])
    first = command(tree, shared, "--set", "max_iter=3", "--checkpoint", checkpoint)
    done = torchrun(2, first)
    assert done.returncode == 0, done.stderr
    run_together(resume, tmp_path, 3)
    one, other = phcle.load(alone), phcle.load(shared)
    assert one.labels == other.labels
    # Rows are cut into other blocks, so inexact steps differ a little on the way.
    assert np.allclose(one.vectors, other.vectors, atol=1e-3)
    gaps = [[r["gap"] for r in x.history] for x in (one, other)]
    assert np.allclose(gaps[0], gaps[1], rtol=1e-4)


def test_a_process_that_dies_ends_the_run_with_a_message(tree, tmp_path):
    checkpoint = tmp_path / "fit.ckpt"
    endless = command(
        tree, tmp_path / "out.phcle", "--set", f"max_iter={10**6}",
        "--checkpoint", checkpoint, "--checkpoint-every", 0,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", *endless],
            env={**environment(), **meeting, "RANK": str(rank), "LOCAL_RANK": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        deadline = time.monotonic() + LIMIT
        while not checkpoint.exists():
            assert time.monotonic() < deadline, "no checkpoint was written"
            assert all(process.poll() is None for process in ranks)
            time.sleep(0.05)
        ranks[1].send_signal(signal.SIGKILL)
        _, said = ranks[0].communicate(timeout=LIMIT)
    finally:
        for process in ranks:
            process.kill()
            process.communicate()
    assert ranks[0].returncode == 2
    assert "a process of this run has ended" in said
    assert "--resume" in said
    assert "Traceback" not in said


def test_a_shared_run_keeps_its_exit_code_whatever_its_connections_do():
    # gloo aborts now and then while it is taken down after a process has died.
    code = (
        "import atexit, os\n"
        "atexit.register(os.abort)\n"
        "from phcle.backends.torchrun import leaving_at_once\n"
        "with leaving_at_once():\n"
        "    print('said')\n"
        "    raise SystemExit(2)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "said\n")
