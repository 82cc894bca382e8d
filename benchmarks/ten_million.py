"""Ten million labels on one GPU: a fit, and its error.

    PYTHONPATH=src python benchmarks/ten_million.py --json ten_million.json

The labels are leaves of a random tree. One context counts the nodes above each, the
other the leaves that it occurs with, most of them near it: 50 entries a label in all.
Both are made on the GPU in blocks of rows and read by `RelationalContext.from_parts`.
Then `PHCLE.fit` runs as for any user. Its last solve takes a sample of the columns, so
its error is measured: `transform` solves some of the same labels exactly, from zero.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from fit import WARM_UP, measure, show
from measuring import peak_mb
from noun_problem import random_tree_context

from phcle import PHCLE, RelationalContext
from phcle.contexts.name_arrays import NameArray
from phcle.errors import ConvergenceWarning

BRANCHING = 4
"""Branches that one of the next level joins, on average."""

SMALLEST = 128
"""Leaves of the smallest branches from which a label draws what it occurs with."""

FEWEST = 8
"""Branches of the highest level that counts."""

ROWS_AT_ONCE = 500_000


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


def make_contexts(options: argparse.Namespace) -> list[RelationalContext]:
    """Both contexts, read in parts."""
    tree = RandomTree(options.labels, options.device)
    names = NameArray.of(np.arange(options.labels).astype("S"), "labels")
    nodes = tree.node_names()
    return [
        RelationalContext.from_parts(tree.ancestors(), names, nodes, name="tree"),
        RelationalContext.from_parts(
            tree.companions(options.drawn), names, name="companions"
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
    cosine = (own * exact).sum(axis=1) / length / np.linalg.norm(own, axis=1)
    return {
        "rows": n,
        "seconds": seconds,
        "median": float(np.median(off)),
        "99 %": float(np.quantile(off, 0.99)),
        "largest": float(off.max()),
        "smallest cosine": float(cosine.min()),
    }


def main() -> None:
    """Make, fit, measure and search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, default=10_000_000)
    parser.add_argument("--drawn", type=int, default=41)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--sweep-until", type=float, default=float("inf"))
    parser.add_argument("--solved", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = {"dim": options.dim, "backend": "torch", "device": options.device}
    chosen["precision"] = "mixed" if options.device == "cuda" else "full"
    if options.device == "cuda":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            PHCLE(max_iter=2, **chosen).fit(random_tree_context(WARM_UP, 10))
    report: dict[str, Any] = {}

    def keep(**parts: Any) -> None:
        report.update(parts)
        print(json.dumps(parts), f"{peak_mb() / 1000:.1f} GB host", flush=True)
        if options.json:
            options.json.write_text(json.dumps(report, indent=1))

    began = time.perf_counter()
    contexts = make_contexts(options)
    n_entries = sum(context.n_stored for context in contexts)
    keep(
        made_in=time.perf_counter() - began,
        contexts=[repr(context) for context in contexts],
        entries_a_label=n_entries / options.labels,
    )
    line, model = measure(
        contexts, is_told=True, sweep_until=options.sweep_until, **chosen
    )
    show(line)
    keep(fit=line, run=model.embedding_.origin["run"])
    if options.device == "cuda":
        torch.cuda.empty_cache()
    keep(error=solve_error(model, contexts, options.solved))


if __name__ == "__main__":
    main()
