"""Recall and time of an approximate search for related labels against the exact one.

    python benchmarks/retrieval.py --labels 120000

Labels are WordNet's nouns where its files are installed, or the leaves of a seeded
random tree; vectors are the PMI + SVD of their ancestors. Siblings get the same vector,
so a neighbour counts as found if it is as near as the k-th of the exact search.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from memory import random_tree

from phcle import LabelEmbedding, RelationalContext
from phcle.datasets import load_wordnet_nouns
from phcle.errors import ContextWarning
from phcle.uses.neighbour_search import Neighbours
from phcle_paper.baselines import pmi_svd_embedding

LEVEL = 1e-6
"""Cosines closer than this are the same."""


def noun_embedding(dim: int) -> LabelEmbedding:
    """All nouns of WordNet by their hypernyms."""
    nouns = load_wordnet_nouns()
    edges = [(child, x) for child, above in nouns.hypernyms.items() for x in above]
    context = RelationalContext.from_hierarchy(edges, labels=list(nouns.lemmas))
    return _quietly(context, dim)


def tree_embedding(n_labels: int, dim: int) -> LabelEmbedding:
    """The leaves of a random tree by their ancestors."""
    return _quietly(RelationalContext.from_hierarchy(random_tree(n_labels)), dim)


def _quietly(context: RelationalContext, dim: int) -> LabelEmbedding:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)  # labels at the root
        return pmi_svd_embedding(context, dim=dim)


def compare(embedding: LabelEmbedding, n_queries: int, k: int) -> dict[str, float]:
    """Milliseconds of a query, one by one and together, and recall of the index."""
    rng = np.random.default_rng(0)
    labels = [str(x) for x in rng.choice(embedding.labels, n_queries, replace=False)]
    exact = Neighbours(embedding, exact=True)
    exact.nearest(labels[0], k)  # the unit vectors are made once
    began = time.perf_counter()
    index = Neighbours(embedding, exact=False)
    found: dict[str, float] = {
        "labels": len(embedding),
        "dim": embedding.dim,
        "distinct": len(np.unique(embedding.unit_vectors.round(5), axis=0)),
        "build_s": time.perf_counter() - began,
    }
    few = labels[:50]
    for name, search in (("exact", exact), ("index", index)):
        found[f"{name}_one_ms"] = _milliseconds(
            lambda s=search: [s.nearest(x, k) for x in few], len(few)
        )
        found[f"{name}_many_ms"] = _milliseconds(
            lambda s=search: s.nearest_many(labels, k), len(labels)
        )
    truth, guess = (s.nearest_many(labels, k) for s in (exact, index))
    found["recall"] = recall(truth, guess)
    found["ratio"] = found["exact_one_ms"] / found["index_one_ms"]
    return found


def recall(
    truth: list[list[tuple[str, float]]], guess: list[list[tuple[str, float]]]
) -> float:
    """Share of the exact answers for which the index has one as near."""
    hits = sum(
        sum(s >= best[-1][1] - LEVEL for _, s in own)
        for best, own in zip(truth, guess, strict=True)
    )
    return hits / sum(map(len, truth))


def _milliseconds(work: Callable[[], object], n: int) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began) / n


def main(arguments: list[str] | None = None) -> None:
    """Compare, and print one line for each embedding."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=120_000, help="of the tree")
    parser.add_argument("--nouns", action="store_true", help="WordNet's nouns too")
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)

    made = {
        f"random tree of {options.labels:,}": lambda: tree_embedding(
            options.labels, options.dim
        )
    }
    if options.nouns:
        made["WordNet's nouns"] = lambda: noun_embedding(options.dim)
    results = {}
    for name, make in made.items():
        results[name] = row = compare(make(), options.queries, options.k)
        print(
            f"{name}: {row['labels']:,.0f} × {row['dim']:.0f}, {row['distinct']:,.0f} "
            f"distinct vectors; index made in {row['build_s']:.1f} s\n"
            f"  one query   exact {row['exact_one_ms']:.2f} ms, index "
            f"{row['index_one_ms']:.2f} ms: {row['ratio']:.1f} times faster\n"
            f"  {options.queries} queries  exact {row['exact_many_ms']:.2f} ms each, "
            f"index {row['index_many_ms']:.2f} ms each\n"
            f"  recall@{options.k} {row['recall']:.4f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
