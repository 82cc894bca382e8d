"""A table of neighbours answers exactly as the search that it was made by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from phcle import LabelEmbedding
from phcle.errors import ContextError, UnknownLabelError
from phcle.uses.neighbour_table import (
    NeighbourTable,
    StoredNeighbours,
    neighbourhood_differences,
)


def embedding_of(vectors, prefix="label"):
    return LabelEmbedding(tuple(f"{prefix} {i}" for i in range(len(vectors))), vectors)


@given(
    arrays(np.float32, (7, 3), elements=st.floats(-4, 4, width=16)), st.integers(1, 9)
)
def test_the_table_names_the_neighbours_of_the_exact_search(vectors, k):
    embedding = embedding_of(vectors)
    stored = StoredNeighbours(embedding, NeighbourTable.of(embedding, 4))
    for label in embedding.labels:
        assert stored.nearest(label, k) == embedding.nearest(label, k)


def test_progress_ends_with_all_labels(rng):
    told = []
    embedding = embedding_of(rng.standard_normal((1200, 3)))
    NeighbourTable.of(embedding, 3, progress=lambda *x: told.append(x))
    assert told == [(500, 1200), (1000, 1200), (1200, 1200)]


def test_vectors_and_names_are_searched_for(rng):
    embedding = embedding_of(rng.standard_normal((20, 3)))
    stored = StoredNeighbours(embedding, NeighbourTable.of(embedding, 4))
    assert stored.nearest(embedding["label 3"], 1)[0][0] == "label 3"
    assert stored.nearest("LABEL 3", 2) == embedding.nearest("label 3", 2)
    with pytest.raises(UnknownLabelError):
        stored.nearest("nobody")
    with pytest.raises(ContextError, match="k must be 1 or more"):
        stored.nearest("label 3", 0)


def test_an_embedding_does_not_differ_from_itself(rng):
    embedding = embedding_of(rng.standard_normal((30, 4)))
    table = NeighbourTable.of(embedding)
    found = neighbourhood_differences(embedding, embedding, (table, table), k=5)
    assert found.mean == 1
    assert found.histogram() == [0, 0, 0, 0, 0, 30]


def test_the_label_that_moved_differs_most_among_the_common_ones(rng):
    vectors = rng.standard_normal((30, 4))
    one = embedding_of(vectors)
    moved = vectors.copy()
    moved[7] = -moved[7]
    # Others that only this one has, in another order.
    extra = embedding_of(rng.standard_normal((5, 4)), "extra")
    other = LabelEmbedding(
        (*extra.labels, *reversed(one.labels)), np.vstack([extra.vectors, moved[::-1]])
    )
    tables = NeighbourTable.of(one), NeighbourTable.of(other)
    found = neighbourhood_differences(one, other, tables, k=5)
    assert found.labels == one.labels
    assert found.largest(1)[0][0] == "label 7"
    assert found.mean > 0.7
    assert sum(found.histogram()) == 30


def test_embeddings_without_common_labels_cannot_be_compared(rng):
    one = embedding_of(rng.standard_normal((4, 2)))
    other = embedding_of(rng.standard_normal((4, 2)), "other")
    tables = NeighbourTable.of(one), NeighbourTable.of(other)
    with pytest.raises(ContextError, match="0 labels in common"):
        neighbourhood_differences(one, other, tables)
