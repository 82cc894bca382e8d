"""Large problems: ten million labels on one GPU, and what sampled sweeps cost.

    python benchmarks/large.py labels          # needs a GPU
    python benchmarks/large.py sampled --device cuda --labels 100000 --out sampled.jsonl

`labels` fits the leaves of a random tree. One context counts the nodes above each, the
other the leaves that it occurs with, most of them near it: 50 entries a label in all.
Both are made in blocks of rows, on the GPU if there is one, and read by
`RelationalContext.from_matrix`. The last solve of such a fit takes a sample of the
columns, so its error is measured: `transform` solves some of the labels exactly.

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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from fit import WARM_UP, measure, show
from measuring import Stopwatch
from problems import random_tree_context, tree_contexts

from phcle import PHCLE, RelationalContext
from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.labels import NameArray
from phcle.contexts.protocol import Context
from phcle.contexts.terms import Penalties
from phcle.errors import ConvergenceWarning
from phcle.model.fit import Solver
from phcle.model.problem import DeviceProblem, pose
from phcle.model.rows import slopes

BRANCHING = 4
"""Branches that one of the next level joins, on average."""

SMALLEST = 128
"""Leaves of the smallest branches from which a label draws what it occurs with."""

FEWEST = 8
"""Branches of the highest level that counts."""

DRAWN = 41
"""Companions that are drawn for each label."""

ROWS_AT_ONCE = 500_000

SOLVED = 10_000
"""Labels whose last solve is compared with an exact one."""

MOST = 1.005
"""No sampled fit may end above this many times the gap of the exact fit."""

BRANCH_SHARES = (0.6, 0.3, 0.08, 0.02)
"""Shares of the labels below few large branches."""

KEYS = ("problem", "labels", "dim", "seed", "device")


class RandomTree:
    """A tree over leaves in order: where the branches of each level begin."""

    def __init__(self, n_leaves: int, device: str, seed: int = 0) -> None:
        rng = torch.Generator(device).manual_seed(seed)
        self.n_leaves, self.device, self.rng = n_leaves, device, rng
        self.levels: list[torch.Tensor] = []
        cuts = torch.arange(n_leaves, device=device)
        while len(cuts) >= FEWEST * BRANCHING:
            keep = torch.rand(len(cuts), device=device, generator=rng) < 1 / BRANCHING
            keep[0] = True
            cuts = cuts[keep]
            self.levels.append(cuts)

    @property
    def n_nodes(self) -> int:
        """Nodes of all levels."""
        return sum(map(len, self.levels))

    def node_names(self) -> NameArray:
        """A name for each node."""
        parts = [
            np.strings.add(f"level{i}.".encode(), np.arange(len(cuts)).astype("S"))
            for i, cuts in enumerate(self.levels, 1)
        ]
        return NameArray(np.concatenate(parts))

    def _blocks(self) -> Iterator[torch.Tensor]:
        yield from torch.arange(self.n_leaves, device=self.device).split(ROWS_AT_ONCE)

    def ancestors(self) -> Iterator[sp.csr_array]:
        """Blocks of rows: exp(−steps/4) for every node above a leaf."""
        steps = np.arange(1, len(self.levels) + 1)
        for leaves in self._blocks():
            columns, offset = [], 0
            for cuts in self.levels:
                columns.append(
                    torch.searchsorted(cuts, leaves, right=True) - 1 + offset
                )
                offset += len(cuts)
            indices = torch.stack(columns, dim=1).to(torch.int32).cpu().numpy()
            yield sp.csr_array(
                (
                    np.tile(np.exp(-steps / 4), len(leaves)),
                    indices.ravel(),
                    np.arange(0, indices.size + 1, len(steps)),
                ),
                shape=(len(leaves), self.n_nodes),
            )

    def companions(self, n_drawn: int) -> Iterator[sp.csr_array]:
        """Blocks of rows: how often each leaf was drawn near a leaf."""
        least = SMALLEST * min(1.0, self.n_leaves / 10_000)
        sizes = [self.n_leaves / len(cuts) for cuts in self.levels]
        used = [
            cuts for cuts, size in zip(self.levels, sizes, strict=True) if size > least
        ]
        chance = torch.tensor([0.75**i for i in range(len(used))], device=self.device)
        for leaves in self._blocks():
            drawn = torch.multinomial(
                chance, len(leaves) * n_drawn, replacement=True, generator=self.rng
            ).reshape(len(leaves), n_drawn)
            found = torch.empty_like(drawn)
            share = torch.rand(drawn.shape, device=self.device, generator=self.rng)
            for i, cuts in enumerate(used):
                number = torch.searchsorted(cuts, leaves, right=True) - 1
                begin = cuts[number]
                after = (number + 1).clamp(max=len(cuts) - 1)
                end = torch.where(number + 1 < len(cuts), cuts[after], self.n_leaves)
                leaf = begin[:, None] + (share * (end - begin)[:, None]).long()
                found = torch.where(drawn == i, leaf, found)
            yield self._counted(leaves, found.clamp(max=self.n_leaves - 1))

    def _counted(self, leaves: torch.Tensor, found: torch.Tensor) -> sp.csr_array:
        """Counts of what was drawn, without the leaf itself."""
        found = torch.sort(found, dim=1).values
        is_first = torch.ones_like(found, dtype=torch.bool)
        is_first[:, 1:] = found[:, 1:] != found[:, :-1]
        places = torch.nonzero(is_first.ravel())[:, 0]
        total = torch.tensor([found.numel()], device=self.device)
        times = torch.diff(torch.cat([places, total]))
        rows, columns = places // found.shape[1], found.ravel()[places]
        other = columns != leaves[rows]
        sizes = torch.bincount(rows[other], minlength=len(leaves))
        indptr = np.concatenate([[0], np.cumsum(sizes.cpu().numpy())])
        return sp.csr_array(
            (
                times[other].double().cpu().numpy(),
                columns[other].to(torch.int32).cpu().numpy(),
                indptr,
            ),
            shape=(len(leaves), self.n_leaves),
        )


def companion_contexts(
    n_labels: int, *, seed: int = 0, device: str = "cpu"
) -> list[Context]:
    """The nodes above each leaf, and the leaves that it occurs with."""
    tree = RandomTree(n_labels, device, seed)
    names = NameArray.of(np.arange(n_labels).astype("S"), "labels")
    nodes = tree.node_names()
    return [
        RelationalContext.from_matrix(tree.ancestors(), names, nodes, name="tree"),
        RelationalContext.from_matrix(
            tree.companions(DRAWN), names, name="companions", self_loops=True
        ),
    ]


def solve_error(
    model: PHCLE, contexts: list[RelationalContext], n: int
) -> dict[str, Any]:
    """Distance of vectors from an exact solve of the same rows, by row's length."""
    embedding = model.embedding_
    rng = np.random.default_rng(1)
    rows = np.sort(rng.choice(len(embedding), n, replace=False))
    names = NameArray(np.strings.add(b"again", rows.astype("S")))
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
        PHCLE(max_iter=2, **chosen).fit(random_tree_context(WARM_UP, 10))
    began = time.perf_counter()
    contexts = companion_contexts(options.labels, device=options.device)
    print(f"made in {time.perf_counter() - began:.0f} s")
    line, model = measure(contexts, **chosen)
    show(line)
    print(model.embedding_.origin["run"])
    print(solve_error(model, contexts, SOLVED))


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
    print("| problem | labels | d | seeds | worst ratio |")
    print("| --- | --: | --: | --: | --: |")
    for case in sorted({tuple(row[key] for key in KEYS[:3]) for row in rows}):
        own = [x["ratio"] for x in rows if tuple(x[key] for key in KEYS[:3]) == case]
        print(f"| {case[0]} | {case[1]:,} | {case[2]} | {len(own)} | {max(own):.4f} |")
    if any(row["ratio"] > MOST for row in rows):
        raise SystemExit(f"a sampled fit ended above {MOST} times the exact gap")


def main(arguments: list[str] | None = None) -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
