"""An embedding of any number of labels for benchmarks, grown from a small fit.

A fit of a million labels takes an hour, and what an explorer does with it depends on
its size alone. So 1,000 labels are fitted: a tree, a table with numbers, categories and
truth values, and tags. Every further label is a copy of one of them with another
vector nearby. The tables describe the first 20,000 labels, with gaps.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from trees import random_tree

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.errors import PhcleWarning

N_FITTED = 1_000
N_DESCRIBED = 20_000
LATENT = 12
GAPS = 0.3
NOISE = 0.4
"""Length of the difference of a copy's vector, relative to the vectors' own."""

KINDS = {
    "diet": ("meat", "plants", "both", "insects"),
    "home": ("forest", "sea", "desert", "town", "air"),
}
NUMBERS = ("mass", "length", "age", "speed")
FIRST = ("red", "blue", "small", "large", "old", "wild", "quiet", "bright", "round")
SECOND = ("cat", "stone", "pot", "bird", "lamp", "ship", "tree", "river", "boot", "key")


def fitted(dim: int) -> LabelEmbedding:
    """The embedding of 1,000 labels."""
    rng = np.random.default_rng(0)
    edges = random_tree(N_FITTED)
    latent = {"n0": np.zeros(LATENT)}
    for child, parent in edges:
        latent[child] = 0.9 * latent[parent] + 0.5 * rng.standard_normal(LATENT)
    tree = RelationalContext.from_hierarchy(edges, name="tree")
    points = np.array([latent[label] for label in tree.labels])

    def scores(n: int) -> np.ndarray:
        return points @ rng.standard_normal((LATENT, n))

    def with_gaps(values: list[str]) -> list[str]:
        is_gap = rng.random(len(values)) < GAPS
        return ["" if gap else x for x, gap in zip(values, is_gap, strict=True)]

    cells = {
        title: with_gaps([f"{np.exp(x):.4g}" for x in scores(1)[:, 0] / 2])
        for title in NUMBERS
    }
    for title, values in KINDS.items():
        best = scores(len(values)).argmax(axis=1)
        cells[title] = with_gaps([values[i] for i in best])
    cells["tame"] = with_gaps(["yes" if x > 0 else "no" for x in scores(1)[:, 0]])
    table = DescriptiveContext.from_cells(tree.labels, cells, "table")
    has = scores(60) > 2
    tags = {
        label: [f"tag {j}" for j in np.flatnonzero(own)]
        for label, own in zip(tree.labels, has, strict=True)
    }
    looks = DescriptiveContext.from_tags(tags, name="looks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        model = PHCLE(dim=dim, backend="numpy", random_state=0, max_iter=20)
        return model.fit([tree, table, looks]).embedding_


def grown(small: LabelEmbedding, n: int) -> LabelEmbedding:
    """The same with copies of its labels, up to n labels."""
    rng = np.random.default_rng(1)
    size = len(small)
    origin = np.arange(n) % size
    labels = [
        small.labels[row] if i < size else f"{small.labels[row]}.{i // size}"
        for i, row in enumerate(origin.tolist())
    ]
    noise = rng.standard_normal((n, small.dim), np.float32)
    noise *= NOISE * np.linalg.norm(small.vectors, axis=1).mean() / small.dim**0.5
    noise[:size] = 0
    family = next(x for x in small.contexts if x.hierarchy is not None)
    tree = family.hierarchy
    assert tree is not None
    edges = [(tree.nodes[c], tree.nodes[p]) for c, p in tree.edges.tolist()]
    # A copy is a sibling of its label.
    above = dict(edges)
    edges += [(labels[i], above[small.labels[origin[i]]]) for i in range(size, n)]
    counts = RelationalContext.from_hierarchy(
        edges, name="tree", labels=labels, role="counts"
    ).in_fit(labels)
    factor = rng.standard_normal((len(counts.columns), small.dim), np.float32)
    contexts = [counts.learned(labels, 1.0, factor)]
    for context in small.predicting:
        rows = origin[: min(n, N_DESCRIBED)]
        own = [context.data.index[small.labels[i]] for i in rows]
        data = context.data.with_matrix(
            context.data.matrix.take(own),
            labels=labels[: len(rows)],
            source=None
            if context.data.source is None
            else context.data.source.take([]),
        )
        contexts.append(replace(context, data=data))
    return LabelEmbedding(
        tuple(labels),
        small.vectors[origin] + noise,
        names={
            label: f"{FIRST[i % 9]} {SECOND[i % 10]} {i}"
            for i, label in enumerate(labels)
        },
        contexts=tuple(contexts),
        penalties=small.penalties,
        options=small.options,
    )


def made_file(folder: Path, n: int, dim: int = 64) -> Path:
    """A file with n labels, made once."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"labels-{n}.phcle"
    if not file.exists():
        grown(fitted(dim), n).save(file)
    return file
