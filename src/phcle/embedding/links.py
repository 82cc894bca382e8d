"""Links between the labels of an embedding, and where they place each label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.labels import index_of, positions_of
from phcle.contexts.protocol import Context

MOST_BY_RELATION, MOST_BY_LABEL = 40, 60
"""Directions of a label's links by relation, and by the label at the other end."""

LABELS_A_DIRECTION, FEWEST_DIRECTIONS = 20, 10
"""Labels for each direction, and directions of few labels: with more, trees that grow
on a few hundred labels read noise."""


@dataclass(frozen=True, eq=False)
class Links:
    """Links between labels, each from a source to a target that hears it.

    Both ends hear a link, so it stands here twice, and each direction has a relation of
    its own.

    Parameters
    ----------
    source, target : array of int of shape (links,)
        Rows of labels.
    relation : array of int of shape (links,)
        Which relation and direction, from 0.
    weight : array of shape (links,), optional
        Shares of the sources in what a label hears by a relation; by default equal.
    """

    source: Ints
    target: Ints
    relation: Ints
    weight: Floats | None = None

    @property
    def n_relations(self) -> int:
        """How many relations there are, each direction on its own."""
        return int(self.relation.max(initial=0)) + 1

    @property
    def weights(self) -> Floats:
        """The weights of all links."""
        return np.ones(len(self.source)) if self.weight is None else self.weight


def structure(links: Links, n_labels: int, seed: int) -> Floats:
    """Describe each label's place in the graph by numbers, for a reader.

    Parameters
    ----------
    links : Links
        Links between the rows.
    n_labels : int
        How many labels there are.
    seed : int
        Seed of the decompositions.

    Returns
    -------
    array of shape (labels, at most 100)
        Counts by relation (40) and by linked label (60), or their leading directions
        where there are more of either.
    """
    from sklearn.decomposition import TruncatedSVD

    found = []
    for ends, n_ends, most in (
        (links.relation, links.n_relations, MOST_BY_RELATION),
        (links.source, n_labels, MOST_BY_LABEL),
    ):
        places = links.weights, (links.target, ends)
        counts = sp.csr_matrix(places, shape=(n_labels, n_ends)).log1p()
        most = min(most, max(n_labels // LABELS_A_DIRECTION, FEWEST_DIRECTIONS))
        if n_ends <= most:
            found.append(counts.toarray())
        else:
            svd = TruncatedSVD(most, random_state=seed)
            found.append(svd.fit_transform(counts))
    return np.hstack(found)


def links_between(contexts: Iterable[Context], labels: Sequence[str]) -> Links | None:
    """Collect the links of all contexts that link labels to labels.

    Parameters
    ----------
    contexts : iterable of Context
        The contexts of a fit. Graphs, triples and co-occurrence of labels have links;
        hierarchies, words and tables have none.
    labels : sequence of str
        The labels whose rows are meant. Links to others are left out.

    Returns
    -------
    Links or None
        The links, if there are any. A relation of one context is not that of another.
    """
    index = index_of(labels)
    found: list[tuple[Ints, Ints, Ints, Floats]] = []
    n_relations = 0
    # A graph that is both counted and a family is there twice, under one name.
    given = {getattr(x, "given_name", x.name): x.links for x in contexts}
    for links in given.values():
        if links is None:
            continue
        heads, tails = positions_of(links.names, index)[links.ends[:2]]
        kept = (heads >= 0) & (tails >= 0) & (heads != tails) & (links.weight > 0)
        head, tail, weight = heads[kept], tails[kept], links.weight[kept]
        relation = n_relations + 2 * links.ends[2][kept]
        found += [(head, tail, relation, weight), (tail, head, relation + 1, weight)]
        n_relations = int(relation.max(initial=n_relations - 2)) + 2
    if not n_relations:
        return None
    source, target, relation, weight = map(np.concatenate, zip(*found, strict=True))
    return Links(source, target, np.unique(relation, return_inverse=True)[1], weight)
