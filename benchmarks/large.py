"""Large problems: ten million labels on one GPU, and what sampled sweeps cost.

    python benchmarks/large.py labels          # needs a GPU
    python benchmarks/large.py sampled --device cuda --labels 100000 --out sampled.jsonl

`labels` fits the leaves of a random tree. One context counts the nodes above each, the
other the leaves that it occurs with, most of them near it: 50 entries a label in all.
The last solve of such a fit takes a sample of the columns, so its error is measured:
`transform` solves some of the labels exactly.

`sampled` fits every problem twice, with `mode="exact"` and `mode="sampled"`, and
compares the gaps (objective − floor) over all columns in full precision. A line is
added to the file for each pair of fits, and is not computed again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import problems
import scipy.sparse as sp
from fit import WARM_UP, measure, show
from measuring import Stopwatch, parser_of, print_head, print_row

from phcle import PHCLE, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.protocol import Context, Penalties
from phcle.errors import ConvergenceWarning
from phcle.model.fit import Solver
from phcle.model.problem import DeviceProblem, pose
from phcle.model.rows import slopes

SMALLEST = 128
"""Leaves of the smallest branches from which a label draws what it occurs with."""

FEWEST = 8
"""Branches of the highest level that counts."""

DRAWN = 41
"""Companions that are drawn for each label."""

SOLVED = 10_000
"""Labels whose last solve is compared with an exact one."""

MOST = 1.005
"""No sampled fit may end above this many times the gap of the exact fit."""

BRANCH_SHARES = (0.6, 0.3, 0.08, 0.02)
"""Shares of the labels below few large branches."""

KEYS = ("problem", "labels", "dim", "seed", "device")


def companion_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """The nodes above each leaf, and the leaves that it occurs with."""
    rng = np.random.default_rng(seed)
    levels = [x for x in problems.random_levels(n_labels, rng) if len(x) >= FEWEST]
    names, leaves = problems.numbered(n_labels), np.arange(n_labels)
    firsts = np.cumsum([0, *map(len, levels)])
    above = [problems.branch_of(leaves, cuts) for cuts in levels] + firsts[:-1, None]
    near = np.exp(-np.arange(1, len(levels) + 1) / 4)
    counts = np.tile(near, n_labels), above.T.astype(np.int32).ravel()
    begins = np.arange(0, counts[0].size + 1, len(levels))
    tree = sp.csr_array((*counts, begins), shape=(n_labels, firsts[-1]))
    nodes = problems.numbered(firsts[-1], "node ")
    smallest = SMALLEST * min(1.0, n_labels / 10_000)
    drawn = problems.near_leaves(levels, n_labels, DRAWN, rng, smallest=smallest)
    return [
        RelationalContext.from_matrix(tree, names, nodes, name="tree"),
        RelationalContext.from_matrix(
            companions(drawn, n_labels), names, name="companions", self_loops=True
        ),
    ]


def companions(drawn: Iterable[np.ndarray], n_labels: int) -> Iterator[sp.csr_array]:
    """How often each leaf was drawn for others, in blocks of rows."""
    n_seen = 0
    for found in drawn:
        rows, columns = np.repeat(np.arange(len(found)), DRAWN), found.ravel()
        other = columns != rows + n_seen
        yield problems.ones((rows[other], columns[other]), (len(found), n_labels))
        n_seen += len(found)


def solve_error(
    model: PHCLE, contexts: list[RelationalContext], n: int
) -> dict[str, Any]:
    """Distance of vectors from an exact solve of the same rows, by row's length."""
    embedding = model.embedding_
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(len(embedding), n, replace=False))
    names = tuple(f"again{row}" for row in rows.tolist())
    again = [
        RelationalContext(each.name, names, each.columns, each.counts[rows])
        for each in contexts
    ]
    began = time.perf_counter()
    exact = model.transform(again).vectors
    seconds = time.perf_counter() - began
    own = embedding.vectors[rows]
    length = np.linalg.norm(exact, axis=1)
    off = np.linalg.norm(own - exact, axis=1) / length
    return {
        "rows": n,
        "seconds": seconds,
        "median": float(np.median(off)),
        "99 %": float(np.quantile(off, 0.99)),
        "largest": float(off.max()),
    }


def labels(options: argparse.Namespace) -> None:
    """Make, fit and measure."""
    chosen = {"dim": options.dim, "backend": "torch", "device": options.device}
    chosen["precision"] = "mixed" if options.device == "cuda" else "full"
    if options.device == "cuda":
        PHCLE(max_iter=2, **chosen).fit(problems.random_tree_context(WARM_UP, 10))
    began = time.perf_counter()
    contexts = companion_contexts(options.labels)
    print(f"made in {time.perf_counter() - began:.0f} s")
    line, model = measure(contexts, **chosen)
    show(line)
    print(model.embedding_.origin["run"])
    print(solve_error(model, contexts, min(SOLVED, options.labels)))


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
    "tree": problems.tree_contexts,
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
    _, values = there.rows(factors, model.weights_).updated(W, slopes)
    terms = Solver(there, tol=1.0).terms(
        values, model.weights_, problem.penalty_terms(backend.xp, W, factors)
    )
    return terms["gap"]


def compared(
    problem: str, n_labels: int, dim: int, seed: int, device: str
) -> dict[str, Any]:
    """Gap and seconds of both fits of a problem, and how many times it is as large."""
    contexts = PROBLEMS[problem](n_labels, seed=seed)
    line: dict[str, Any] = dict(
        zip(KEYS, (problem, n_labels, dim, seed, device), strict=True)
    )
    for mode in ("exact", "sampled"):
        options = {"mode": mode, "dim": dim, "random_state": seed, "device": device}
        model = PHCLE(choose=False, completion="none", **options)
        watch = Stopwatch()
        model.fit(contexts)
        line[f"{mode}_seconds"] = round(watch.read()["seconds"], 2)
        line[f"{mode}_gap"] = exact_gap(model, contexts, device)
    return {**line, "ratio": line["sampled_gap"] / line["exact_gap"]}


def sampled(options: argparse.Namespace) -> None:
    """Fit what is missing, and print the worst seed of each problem and size."""
    rows = []
    if options.out.exists():
        rows = list(map(json.loads, options.out.read_text("utf-8").splitlines()))
    done = {tuple(row[key] for key in KEYS) for row in rows}
    wanted = (options.problems, options.labels, options.dims, options.seeds)
    for asked in itertools.product(*wanted):
        if (*asked, options.device) not in done:
            rows.append(compared(*asked, options.device))
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    ratios: dict[tuple[str, int, int], list[float]] = {}
    for row in rows:
        case = row["problem"], row["labels"], row["dim"]
        ratios.setdefault(case, []).append(row["ratio"])
    print_head("problem", "labels", "d", "seeds", "worst ratio")
    for (problem, n, dim), own in sorted(ratios.items()):
        print_row(problem, f"{n:,}", dim, len(own), f"{max(own):.4f}")
    if any(row["ratio"] > MOST for row in rows):
        raise SystemExit(f"a sampled fit ended above {MOST} times the exact gap")


def main(arguments: list[str] | None = None) -> None:
    """Measure what was asked for."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(required=True)
    numbers: dict[str, Any] = {"type": int, "nargs": "+"}
    own = commands.add_parser("labels")
    own.set_defaults(run=labels)
    own.add_argument("--labels", type=int, default=10_000_000)
    own.add_argument("--dim", type=int, default=128)
    own.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    own = commands.add_parser("sampled")
    own.set_defaults(run=sampled)
    own.add_argument("--labels", default=[4_000, 20_000], **numbers)
    own.add_argument("--dims", default=[8, 16, 32, 100], **numbers)
    own.add_argument("--seeds", default=[0, 1, 2], **numbers)
    own.add_argument("--problems", default=list(PROBLEMS), nargs="+")
    own.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    own.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options.run(options)


if __name__ == "__main__":
    main()
