"""Factors in shards: time, memory and bytes sent, with one process and with several.

    python benchmarks/several_processes.py --labels 100000 --processes 1 2

Every label has about 20 counts with labels of its group, which lie anywhere. Each
process makes the counts of its own labels. All runs have the same parts, so they make
the same sweeps. Every process has one thread, also when it is alone. The cores may be
busy with other work, so compare CPU times, and the rate of a matrix product in each
process. "Held" is the most rows of W and C that a process has at once, its own and
those it asked for, as a share of all. "Estimate" is computed from sizes alone: its ends
are for labels in groups, whose blocks ask once for each column, and for labels with
nothing in common.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from phcle.backends.distributed import current_processes
from phcle.backends.shard_exchange import ShardExchange
from phcle.contexts.relational.sharded import ShardedTerm
from phcle.errors import ConvergenceWarning
from phcle.fit_speed import yardstick
from phcle.solver import sharded_fit
from phcle.solver.sharded_problem import CountRows, ShardedProblem

PER_LABEL = 20
GROUP = 200
"""Labels of a group."""

AT_ONCE = 1000
"""Labels whose counts are drawn with one seed."""

HUB_USES = 15
"""Times that an update sends a number for each entry of a hub, and a vector to each
process: two for the gradient, two for each of six conjugate gradients, one for the line
search."""

PASSES = 3
"""Times that an exact update of a block needs all rows of the other factor: gradient,
the whole step, and another length of the step."""


def counts_of(n_labels: int) -> CountRows:
    """Counts that are drawn when they are read."""
    n_groups = max(1, n_labels // GROUP)

    def read(start: int, stop: int) -> sp.csr_array:
        first = start // AT_ONCE * AT_ONCE
        parts = []
        for chunk in range(first, stop, AT_ONCE):
            n = min(AT_ONCE, n_labels - chunk)
            rng = np.random.default_rng([1, chunk])
            label = np.repeat(np.arange(chunk, chunk + n), PER_LABEL)
            step = rng.integers(0, GROUP, len(label))
            column = (label % n_groups + step * n_groups) % n_labels
            column = np.where(rng.random(len(label)) < 0.1, 0, 1) * column
            at = (label - chunk, column)
            shape = (n, n_labels)
            parts.append(sp.csr_array((np.ones(len(label)), at), shape=shape))
        whole = sp.csr_array(sp.vstack(parts, format="csr"))
        return whole[start - first : stop - first]

    return CountRows("groups", n_labels, read)


class _Watched(ShardedProblem):
    """Keeps the problem of the fit, to look into its blocks."""

    seen: ShardedProblem

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        _Watched.seen = self


def estimated(
    term: ShardedTerm, size: int, dim: int, item: int, mode: str
) -> npt.NDArray[np.float64]:
    """Bytes that a process gets while the rows of one term are updated, at two ends."""
    pairs = zip(term.plans, term.has_hub, strict=True)
    hubs = [sum(plan.received) for plan, has_hub in pairs if has_hub]
    n_blocks, n_others = len(term.plans) - len(hubs), term.others.n_rows
    # Drawn at random, m entries of a block are in n (1 − e^(−m/n)) different columns.
    in_blocks = (term.n_entries - sum(hubs)) / n_blocks
    apart = n_blocks * n_others * -np.expm1(-in_blocks / n_others)
    together = min(apart, n_others * term.others.n_parts / size)
    n_numbers = np.array([together, apart]) * dim
    n_numbers += HUB_USES * (sum(hubs) + len(hubs) * size * dim)
    rows = n_numbers * (size - 1) / size * item
    if mode == "sampled":
        drawn = min(sharded_fit.SAMPLE, n_others)
        return rows + (size - 1) * drawn / size * (dim + 1) * item
    own = n_others / size
    return rows + n_blocks * PASSES * (size - 1) * own * (dim + 1) * item


def megabytes(name: str) -> float:
    """Memory of this process, from Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(name)


def worker(options: argparse.Namespace, folder: str) -> None:
    """Fit in this process, and write what it took."""
    import torch.distributed  # noqa: F401  # so that one process has it, too

    assert all(pool["num_threads"] == 1 for pool in threadpool_info())
    current_processes()  # connect before memory is measured
    rate = yardstick()
    before = megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    marks: list[tuple[float, float]] = []

    def on_step(_: Any) -> None:
        marks.append((time.perf_counter(), time.process_time()))

    sharded_fit.SAMPLE = sharded_fit.LAST_SAMPLE = options.sample
    sharded_fit.ShardedProblem = _Watched  # type: ignore[misc]
    began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = sharded_fit.fit_shards(
            counts_of(options.labels),
            options.labels,
            folder,
            n_parts=options.parts,
            dim=options.dim,
            mode=options.mode,
            init=options.init,
            max_iter=options.sweeps,
            tol=0.0,
            backend=options.backend,
            on_step=on_step,
        )
    whole = time.perf_counter() - began[0], time.process_time() - began[1]
    problem = _Watched.seen
    exchange: ShardExchange = problem.exchange
    (context,) = problem.problem.contexts
    terms: list[ShardedTerm] = [context.label_rows, context.column_rows]  # type: ignore[attr-defined]
    own = sum(layout.stop - layout.start for layout in problem.layouts)
    asked = 2 * max(  # those of the next block come while a block is updated
        min(sum(plan.received), term.most_near) for term in terms for plan in term.plans
    )
    all_rows = sum(layout.n_rows for layout in problem.layouts)
    size = exchange.size
    sent = {
        key.removeprefix("sent:"): value
        for key, value in found.history[-2].items()
        if key.startswith("sent:")
    }
    answer = {
        "sweep_seconds": np.diff([x[0] for x in marks]).mean(),
        "sweep_cpu": np.diff([x[1] for x in marks]).mean(),
        "seconds": whole[0],
        "cpu": whole[1],
        "blocks": [len(term.plans) for term in terms],
        "held": (own + (asked if size > 1 else 0)) / all_rows,
        "sent": sent,
        "estimate": sum(
            estimated(term, size, options.dim, 4, options.mode) for term in terms
        ).tolist(),
        "gflops": rate,
        "setup": exchange.sent["setup"],
        "before_mb": before,
        "peak_mb": megabytes("VmHWM"),
        "gap": found.history[-1]["gap"],
    }
    path = Path(folder) / f"process-{exchange.rank}.json"
    path.write_text(json.dumps(answer))


def main() -> None:
    """Run with each number of processes, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--mode", default="sampled", choices=("sampled", "exact"))
    parser.add_argument("--init", default="spectral", choices=("spectral", "random"))
    parser.add_argument("--sample", type=int, default=512)
    parser.add_argument("--sweeps", type=int, default=3)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder:
        worker(options, options.folder)
        return
    factors = 2 * options.labels * options.dim * 4 / 1e6
    print(f"{options.labels:,} labels, d = {options.dim}: W and C are {factors:.0f} MB")
    for n in options.processes:
        with tempfile.TemporaryDirectory() as folder:
            launcher = ["-m", "torch.distributed.run", "--standalone"]
            command = [sys.executable, *launcher, f"--nproc-per-node={n}", *sys.argv]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            subprocess.run([*command, "--folder", folder], check=True, env=environment)
            found = [
                json.loads(path.read_text())
                for path in sorted(Path(folder).glob("process-*.json"))
            ]
        for rank, x in enumerate(found):
            print(
                f"{n} processes, number {rank}: {x['gflops']:.0f} GFLOP/s; sweep "
                f"{x['sweep_seconds']:.2f} s, {x['sweep_cpu']:.2f} CPU s; "
                f"fit {x['cpu']:.0f} CPU s; held "
                f"{x['held']:.0%} of the rows; memory {x['before_mb']:.0f} + "
                f"{x['peak_mb'] - x['before_mb']:.0f} MB; blocks {x['blocks']}"
            )
        sent = {
            kind: f"{n_bytes / 1e6:.1f}" for kind, n_bytes in found[0]["sent"].items()
        }
        low, high = np.sum([x["estimate"] for x in found], axis=0) / 1e6
        print(
            f"{n} processes together: {sum(found[0]['sent'].values()) / 1e6:.1f} MB a "
            f"sweep, estimate {low:.1f} to {high:.1f} MB; {sent}; "
            f"gap {found[0]['gap']:.7g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
