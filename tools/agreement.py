"""How far fits of the same data agree: repeated, on other threads and back ends.

    python tools/agreement.py                  # the 1000 embedded labels, d = 100
    python tools/agreement.py --labels 150 --dim 12

Every fit is a process of its own. The first, NumPy on one thread, is what the others
are compared with: their files byte for byte, the objective, every vector after the best
rotation, and the ten nearest labels of each label (ties, as a hierarchy gives them to
siblings, are in any order, so that the similarity of the tenth decides).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import phcle

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
RUNS = [
    ("numpy", 1),
    ("numpy", 1),
    ("numpy", 2),
    ("numba", 1),
    ("numba", 2),
    ("torch", 1),
    ("torch", 2),
]


def fit_here(backend: str, labels: int, dim: int, out: Path) -> None:
    """Fit the hierarchy, parts and glosses of some embedded labels."""
    from phcle.datasets import load_imagenet1k

    data = load_imagenet1k()
    contexts = [
        data.hierarchy(),
        phcle.DescriptiveContext.from_tags(data.parts, name="parts"),
        phcle.DescriptiveContext.from_texts(data.glosses, name="glosses"),
    ]
    known = sorted(data.glosses)
    known = known[:: max(1, len(known) // labels)][:labels]
    chosen = (
        {"backend": "torch", "device": "cuda"}
        if backend == "cuda"
        else {"backend": backend, "device": "cpu"}
    )
    model = phcle.PHCLE(dim=dim, completion="none", **chosen)
    model.fit(contexts, labels=known).embedding_.save(out)


def fit_apart(
    backend: str, threads: int, given: argparse.Namespace, out: Path, seed: int
) -> None:
    """The same in a process of its own, with another seed for its hashes."""
    settings = {**os.environ, "PYTHONHASHSEED": str(seed)}
    settings |= dict.fromkeys(THREADS, str(threads))
    size = ["--labels", str(given.labels), "--dim", str(given.dim)]
    command = [sys.executable, __file__, "--one", backend, *size, "--out", str(out)]
    cores = sorted(os.sched_getaffinity(0))[:threads]  # NumPy's threads go by these
    subprocess.run(
        command,
        env=settings,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )


def compare(first: Path, other: Path) -> dict[str, Any]:
    """How far the second file is from the first."""
    one, two = phcle.load(first), phcle.load(other)
    a, b = (np.asarray(x.vectors, np.float64) for x in (one, two))
    left, _, right = np.linalg.svd(b.T @ a)
    apart = np.linalg.norm(a - b @ left @ right, axis=1)
    objectives = [x.history[-1]["objective"] for x in (one, two)]
    return {
        "same_bytes": first.read_bytes() == other.read_bytes(),
        "same_vectors": bool(np.array_equal(a, b)),
        "vectors": float((apart / np.linalg.norm(a, axis=1)).max()),
        "objective": abs(objectives[1] / objectives[0] - 1),
        "neighbours": common_neighbours(a, b),
    }


def common_neighbours(a: np.ndarray, b: np.ndarray, k: int = 10) -> float:
    """Share of the k nearest by `b` that are as near by `a` as its k nearest."""
    similar = []
    for vectors in (a, b):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = units @ units.T
        np.fill_diagonal(cosines, -2)
        similar.append(cosines)
    nearest = np.argsort(-similar[1], axis=1)[:, :k]
    least = np.sort(similar[0], axis=1)[:, -k]
    found = np.take_along_axis(similar[0], nearest, axis=1)
    return float((found >= least[:, None] - 1e-4).mean())


def main(arguments: list[str] | None = None) -> None:
    """Fit again and again, and print how far each fit is from the first."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        fit_here(given.one, given.labels, given.dim, given.out)
        return
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / f"{number}.phcle" for number in range(len(RUNS))]
        for number, (backend, threads) in enumerate(RUNS):
            fit_apart(backend, threads, given, files[number], seed=number)
            if number:
                line = {"backend": backend, "threads": threads}
                print({**line, **compare(files[0], files[number])}, flush=True)


if __name__ == "__main__":
    main()
