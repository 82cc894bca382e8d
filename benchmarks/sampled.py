"""How much do sampled sweeps cost? Their fits beside exact ones, of the same start.

    PYTHONPATH=src python benchmarks/sampled.py --out sampled.jsonl
    PYTHONPATH=src python benchmarks/sampled.py --device cuda --labels 100000 \
        --out sampled.jsonl

Every problem is fitted twice, with `mode="exact"` and `mode="sampled"`. The gap of both
results (objective − floor) is computed over all columns in full precision. A line is
added to the file for each pair of fits; those that it has already are not made again.
The problems: the tree that other benchmarks use, tree and companions of
`ten_million.py`, and a tree that has most labels below a few branches.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from trees import tree_contexts

from phcle import PHCLE, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.base.context import Context
from phcle.contexts.name_arrays import NameArray
from phcle.contexts.terms import Penalties
from phcle.errors import ConvergenceWarning
from phcle.solver.problem import DeviceProblem, pose, values_and_gradient
from phcle.solver.sweep import MajoriseSolver

MOST = 1.005
"""No sampled fit may end above this many times the gap of the exact fit."""

BRANCH_SHARES = (0.6, 0.3, 0.08, 0.02)
"""Shares of the labels below the few branches."""

DRAWN = 41
"""Companions that are drawn for each label, as in `ten_million.py`."""

KEYS = ("problem", "labels", "dim", "seed", "device")


def companion_contexts(n_labels: int, *, seed: int) -> list[Context]:
    """Both contexts of `ten_million.py`."""
    from ten_million import RandomTree  # needs torch

    tree = RandomTree(n_labels, "cpu", seed)
    names = NameArray.of(np.arange(n_labels).astype("S"), "labels")
    nodes = tree.node_names()
    return [
        RelationalContext.from_parts(tree.ancestors(), names, nodes, name="tree"),
        RelationalContext.from_parts(tree.companions(DRAWN), names, name="companions"),
    ]


def branch_contexts(n_labels: int, *, seed: int) -> list[Context]:
    """A tree with four branches, and families of very different sizes below them."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(1 + rng.zipf(2.2, size=n_labels), n_labels // 20)
    family = np.repeat(np.arange(n_labels), sizes)[:n_labels]
    branch = rng.choice(len(BRANCH_SHARES), size=family[-1] + 1, p=BRANCH_SHARES)
    labels = tuple(f"l{i}" for i in range(n_labels))
    edges = [
        *((label, f"f{above}") for label, above in zip(labels, family, strict=True)),
        *((f"f{i}", f"b{above}") for i, above in enumerate(branch)),
        *((f"b{i}", "root") for i in range(len(BRANCH_SHARES))),
    ]
    return [RelationalContext.from_hierarchy(edges, labels=labels)]


PROBLEMS: dict[str, Callable[..., list[Context]]] = {
    "tree": tree_contexts,
    "companions": companion_contexts,
    "branches": branch_contexts,
}


def exact_gap(model: PHCLE, contexts: list[Context], device: str) -> float:
    """Objective − floor of a result over all columns, in full precision."""
    embedding = model.embedding_
    penalties = Penalties(**embedding.penalties)
    problem = pose(align(contexts), penalties, embedding.dim)
    backend = choose_backend("auto", device, n_pairs=problem.n_pairs)
    there = DeviceProblem(backend, problem)
    W = backend.asarray(embedding.vectors)
    factors = [backend.asarray(context.factor) for context in embedding.contexts]
    views = there.labels.views(factors, model.weights_)
    values, _ = values_and_gradient(backend, W, views, there.labels.blocks)
    terms = MajoriseSolver(there, tol=1.0).terms(
        values, model.weights_, there.penalties(W, factors)
    )
    return terms["gap"]


def fitted(contexts: list[Context], device: str, **options: Any) -> dict[str, Any]:
    """One fit: its gap, sweeps, seconds and warnings."""
    model = PHCLE(device=device, choose=False, completion="none", **options)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(contexts)
    seconds = time.perf_counter() - began
    return {
        "gap": exact_gap(model, contexts, device),
        "sweeps": len(model.history_) - 1,
        "seconds": round(seconds, 2),
        "warnings": [
            str(each.message)
            for each in caught
            if issubclass(each.category, ConvergenceWarning)
        ],
        "gaps": [record["gap"] for record in model.history_],
        "columns": [record.get("columns") for record in model.history_],
    }


def compared(
    problem: str, n_labels: int, dim: int, seed: int, device: str
) -> dict[str, Any]:
    """Both fits of a problem."""
    contexts = PROBLEMS[problem](n_labels, seed=seed)
    exact, sampled = (
        fitted(contexts, device, mode=mode, dim=dim, random_state=seed)
        for mode in ("exact", "sampled")
    )
    about = dict(zip(KEYS, (problem, n_labels, dim, seed, device), strict=True))
    ratio = sampled["gap"] / exact["gap"]
    return {**about, "ratio": ratio, "exact": exact, "sampled": sampled}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Lines of an earlier run."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def show(rows: list[dict[str, Any]]) -> None:
    """The worst seed of each problem, size and dimension."""
    print("| problem | labels | d | device | seeds | worst ratio | seconds | warned |")
    print("| --- | --: | --: | --- | --: | --: | --: | --: |")
    of = {key: [] for key in sorted({tuple(r[k] for k in KEYS[:3]) for r in rows})}
    for row in rows:
        of[tuple(row[key] for key in KEYS[:3])].append(row)
    for (problem, n_labels, dim), found in of.items():
        worst = max(row["ratio"] for row in found)
        times = [
            f"{mode} {np.mean([row[mode]['seconds'] for row in found]):.1f}"
            for mode in ("exact", "sampled")
        ]
        n_warned = sum(bool(row["sampled"]["warnings"]) for row in found)
        print(
            f"| {problem} | {n_labels:,} | {dim} | {found[0]['device']} | {len(found)} "
            f"| {worst:.4f} | {times[0]}, {times[1]} | {n_warned} |"
        )


def main() -> None:
    """Fit what is missing, and print a table of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = {"type": int, "nargs": "+"}
    parser.add_argument("--labels", default=[4_000, 20_000], **numbers)
    parser.add_argument("--dims", default=[8, 16, 32, 100], **numbers)
    parser.add_argument("--seeds", default=[0, 1, 2], **numbers)
    parser.add_argument("--problems", default=list(PROBLEMS), nargs="+")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = read_rows(given.out)
    done = {tuple(row[key] for key in KEYS) for row in rows}
    wanted = itertools.product(given.problems, given.labels, given.dims, given.seeds)
    for asked in wanted:
        if (*asked, given.device) in done:
            continue
        rows.append(compared(*asked, given.device))
        with given.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(*asked, f"{rows[-1]['ratio']:.5f}", flush=True)
    show(rows)
    if any(row["ratio"] > MOST for row in rows):
        raise SystemExit(f"a sampled fit ended above {MOST} times the exact gap")


if __name__ == "__main__":
    main()
