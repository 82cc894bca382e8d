"""Problems to measure with: random trees, made-up tables, and WordNet's nouns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import accumulate

import numpy as np
import pandas as pd
import scipy.sparse as sp

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.contexts.protocol import Context
from phcle.errors import ConvergenceWarning

N_COLUMNS, N_HIDDEN_DIMENSIONS, CHILDREN = 30, 8, 8


def tree_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """The leaves of a random tree with two to seven children per node."""
    rng = np.random.default_rng(seed)
    level = [f"l{i}" for i in range(n_labels)]
    labels, edges, depth = tuple(level), list[tuple[str, str]](), 0
    while len(level) > 1:
        depth += 1
        ends = list(accumulate(rng.integers(2, 8, size=len(level))))
        parent = np.searchsorted(ends, np.arange(len(level)), side="right")
        edges += [
            (child, f"n{depth}.{above}")
            for child, above in zip(level, parent, strict=True)
        ]
        level = [f"n{depth}.{i}" for i in range(parent[-1] + 1)]
    return [RelationalContext.from_hierarchy(edges, labels=labels)]


def table_contexts(n_labels: int, seed: int = 0) -> list[Context]:
    """A tree with eight children per node, and a table that follows it.

    Values follow the tree and eight hidden dimensions; half of the cells are known.
    """
    rng = np.random.default_rng(seed)
    labels = [f"label {i}" for i in range(n_labels)]
    edges, level, names = [], 0, labels
    place = np.zeros((n_labels, N_HIDDEN_DIMENSIONS))
    of_label = np.arange(n_labels)
    while len(names) > 1:
        of_label = of_label // CHILDREN
        above = [f"node {level}.{i}" for i in range(int(of_label.max()) + 1)]
        edges += [(name, above[i // CHILDREN]) for i, name in enumerate(names)]
        place += rng.standard_normal((len(above), N_HIDDEN_DIMENSIONS))[of_label]
        names, level = above, level + 1
    own = rng.standard_normal((n_labels, N_HIDDEN_DIMENSIONS))
    columns = rng.standard_normal((N_HIDDEN_DIMENSIONS, N_COLUMNS))
    values = (place + own) @ columns + rng.standard_normal((n_labels, N_COLUMNS))
    values[rng.random(values.shape) < 0.5] = np.nan
    frame = pd.DataFrame(values, index=labels).add_prefix("column ")
    return [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_frame(frame, name="table", log=False),
    ]


def noun_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """Hypernyms, gloss words and parts of random nouns of WordNet.

    A draw without any parts has no context of parts.
    """
    from phcle_paper.datasets import load_wordnet_nouns

    nouns = load_wordnet_nouns()
    wnids = list(nouns.lemmas)
    if n_labels < len(wnids):
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.choice(len(wnids), n_labels, replace=False))
        wnids = [wnids[i] for i in drawn]
    glosses = {x: nouns.definition_of(x) for x in wnids}
    parts = {x: nouns.parts[x] for x in wnids if x in nouns.parts}
    contexts = [
        RelationalContext.from_hierarchy(nouns.edges(wnids), labels=wnids),
        DescriptiveContext.from_texts(glosses, name="glosses"),
    ]
    if parts:
        contexts.append(DescriptiveContext.from_tags(parts, name="parts"))
    return contexts


def random_tree_context(
    n_labels: int, n_nonzeros: int, *, seed: int = 0
) -> RelationalContext:
    """Leaves of a random tree, each with a count for `n_nonzeros` leaves near it.

    Leaves are drawn until there are enough different ones; few labels may have fewer.
    """
    rng = np.random.default_rng(seed)
    drawn = near_leaves(random_levels(n_labels, rng), n_labels, 2 * n_nonzeros, rng)
    names = numbered(n_labels)
    counts = (ones(_first_different(x, n_nonzeros), (len(x), n_labels)) for x in drawn)
    return RelationalContext.from_matrix(counts, names, name="tree", self_loops=True)


def numbered(n: int, before: str = "") -> tuple[str, ...]:
    """Names with the numbers 0, 1, 2, … at their end."""
    return tuple(f"{before}{number}" for number in range(n))


def ones(places: tuple[np.ndarray, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    """How often each pair of a row and a column is named."""
    return sp.csr_array((np.ones(len(places[0])), places), shape=shape)


def random_levels(n_leaves: int, rng: np.random.Generator) -> list[np.ndarray]:
    """First leaves of the branches of each level, the smallest branches first.

    Leaves stand in the order of the tree. A branch of the next level joins four of the
    last one on average.
    """
    cuts, levels = np.arange(n_leaves), []
    while len(cuts) > 1 or not levels:
        keep = rng.random(len(cuts)) < 0.25
        keep[0] = True
        cuts = cuts[keep]
        levels.append(cuts)
    return levels


def branch_of(leaves: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Number of the branch that holds each leaf."""
    return np.searchsorted(cuts, leaves, side="right") - 1


def near_leaves(
    levels: list[np.ndarray],
    n_leaves: int,
    n_drawn: int,
    rng: np.random.Generator,
    *,
    smallest: float = 128,
) -> Iterator[np.ndarray]:
    """Leaves near each leaf, in blocks of rows: (leaves of a block, drawn).

    They are drawn from the branches that hold the leaf, small branches rather than
    large ones, if these have `smallest` leaves or more on average.
    """
    used = [x for x in levels if n_leaves / len(x) >= smallest or len(x) == 1]
    sizes = [np.diff(x, append=n_leaves) for x in used]
    for leaves in np.array_split(np.arange(n_leaves), 1 + n_leaves // 50_000):
        own = [branch_of(leaves, cuts) for cuts in used]
        parts = zip(used, sizes, own, strict=True)
        branches = np.array([(cuts[i], size[i]) for cuts, size, i in parts], np.int32)
        level = rng.geometric(0.25, size=(len(leaves), n_drawn)) - 1
        level = np.minimum(level, len(used) - 1)
        rows = np.arange(len(leaves))[:, None]
        first, size = branches[level, :, rows].transpose(2, 0, 1)
        yield first + (rng.random(size.shape, np.float32) * size).astype(np.int32)


def _first_different(leaves: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values of the first `n` different values of every row."""
    order = np.argsort(leaves, axis=1)
    ordered = np.take_along_axis(leaves, order, axis=1)
    again = np.zeros(leaves.shape, dtype=bool)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    np.put_along_axis(again, order[:, 1:], repeated, axis=1)
    taken = ~again & (np.cumsum(~again, axis=1) <= n)
    return np.nonzero(taken)[0], leaves[taken]


def warm_up(backend: str) -> None:
    """Import and compile what a fit needs, as peers do before their clock starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        PHCLE(dim=2, max_iter=2, backend=backend).fit(random_tree_context(60, 4))
