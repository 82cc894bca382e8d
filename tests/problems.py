"""Random partial problems, small enough to check by hand."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from phcle import DescriptiveContext, RelationalContext
from phcle.contexts import align
from phcle.contexts.protocol import Penalties
from phcle.model.problem import pose


def cells(context):
    """Counts by label and column."""
    matrix = context.counts.tocoo()
    return {
        (context.labels[i], context.columns[j]): value
        for i, j, value in zip(*matrix.coords, matrix.data, strict=True)
        if value
    }


def random_contexts(rng, n_labels=6, *, sparse_tags=True):
    """Two relational and three descriptive contexts, each missing some labels."""
    labels = [f"label{i}" for i in range(n_labels)]

    def some(least):
        n = rng.integers(least, n_labels + 1)
        return [labels[i] for i in rng.permutation(n_labels)[:n]]

    def counts(rows, columns):
        drawn = rng.integers(0, 5, (rows, columns)) * (
            rng.random((rows, columns)) < 0.6
        )
        drawn[np.arange(rows), rng.integers(0, columns, rows)] += 1
        return drawn.astype(float)

    everyone = list(labels)
    first = RelationalContext.from_matrix(
        counts(n_labels, 5), everyone, [f"c{i}" for i in range(5)], name="first"
    )
    rows = some(2)
    second = RelationalContext.from_matrix(
        counts(len(rows), 4), rows, [f"d{i}" for i in range(4)], name="second"
    )
    rows = some(3)
    values = rng.normal(size=(len(rows), 4)) * 3 + 1
    values[rng.random(values.shape) < 0.3] = np.nan
    values[0] = rng.normal(size=4)  # one row is known in full
    patchy = DescriptiveContext(
        "patchy", tuple(rows), tuple(f"a{i}" for i in range(4)), values
    )
    rows = some(2)
    tags = DescriptiveContext(
        "tags",
        tuple(rows),
        ("x", "y", "z"),
        sp.csr_array((rng.random((len(rows), 3)) < 0.5).astype(float)),
    )
    rows = some(2)
    whole = DescriptiveContext(
        "whole", tuple(rows), ("u", "v"), rng.normal(size=(len(rows), 2))
    )
    return [first, second, patchy, tags, whole]


def table(name, labels, values):
    """A table whose columns are called after it."""
    columns = tuple(f"{name}{i}" for i in range(values.shape[1]))
    return DescriptiveContext(name, tuple(labels), columns, values)


def tree_of(labels, group, name="tree", **options):
    """A hierarchy of groups below one root."""
    edges = [(label, f"group{g}") for label, g in zip(labels, group, strict=True)]
    edges += [(f"group{g}", "root") for g in sorted(set(group))]
    return RelationalContext.from_hierarchy(edges, name=name, **options)


def family_contexts(n_labels=6):
    """A tree and a graph of relatives; one label is in neither of them."""
    labels = [f"label{i}" for i in range(n_labels - 1)]
    edges = [(label, f"group{i % 3}") for i, label in enumerate(labels)]
    edges += [("label1", "group0"), ("group0", "all"), ("group1", "all")]
    tree = RelationalContext.from_hierarchy(edges, name="tree", role="family")
    ring = list(zip(labels, labels[1:] + labels[:1], strict=True))
    graph = RelationalContext.from_edges(ring, name="graph", role="family")
    return [tree, graph]


def make_problem(contexts, dim=3, **changes):
    penalties = {
        "negatives": 5.0,
        "descriptive": 0.7,
        "sparsity": 0.3,
        "ridge": 0.8,
        "context_ridge": 1.3,
    } | changes
    return pose(align(contexts), Penalties(**penalties), dim)
