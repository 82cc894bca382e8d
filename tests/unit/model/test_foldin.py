"""Labels that arrive after the fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from problems import random_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext, fold_in
from phcle.errors import ContextError, ContextWarning

PLAIN = {"choose": False, "completion": "none"}


def worst(embedding, again):
    """Largest relative difference of a label's two vectors."""
    return max(
        np.linalg.norm(embedding[x] - again[x]) / np.linalg.norm(embedding[x])
        for x in again.labels
    )


def test_training_labels_fold_back_onto_their_own_vectors(rng, backend_options):
    contexts = random_contexts(rng, 9)
    model = PHCLE(dim=4, **backend_options).fit(contexts)
    assert worst(model.embedding_, model.transform(contexts)) < 1e-4


@pytest.mark.parametrize("kind", ["ancestors", "path"])
def test_a_hierarchy_needs_only_the_new_edges(imagenet, kind):
    held_out = [x for x in imagenet.labels if imagenet.names[x] == "teapot"]
    edges = [pair for pair in imagenet.edges if pair[0] not in held_out]
    known = [x for x in imagenet.labels[400:] if x not in held_out]
    tree = RelationalContext.from_hierarchy(edges, kind=kind, labels=known)
    model = PHCLE(dim=30).fit(tree, names=imagenet.names)
    new_edges = [pair for pair in imagenet.edges if pair[0] in held_out]
    new = model.transform(RelationalContext.from_hierarchy(new_edges))
    assert new.labels == tuple(held_out)
    near = model.embedding_.joined(new).nearest("teapot", k=4)
    assert {"coffeepot", "caldron"} <= {imagenet.names[label] for label, _ in near}


def test_held_out_labels_find_the_neighbours_of_a_full_fit(imagenet):
    contexts = imagenet.contexts()
    rng = np.random.default_rng(0)
    held_out = [imagenet.labels[i] for i in rng.choice(1000, 50, replace=False)]
    kept = [x for x in imagenet.labels if x not in set(held_out)]
    full = PHCLE(dim=50, **PLAIN).fit(contexts).embedding_
    model = PHCLE(dim=50, **PLAIN).fit(contexts, labels=kept)
    new = model.transform(
        [
            RelationalContext.from_hierarchy(imagenet.edges, labels=held_out),
            *(context.rows_for(held_out) for context in contexts[1:]),
        ]
    )
    joined = model.embedding_.joined(new)
    overlap = [
        len({x for x, _ in full.nearest(q, 10)} & {x for x, _ in joined.nearest(q, 10)})
        for q in held_out
    ]
    assert np.mean(overlap) > 7


def test_a_start_on_a_sample_of_many_columns_ends_at_the_optimum(rng, backend_options):
    n_columns = 4_000  # the start of the solve takes a sample of them
    counts = rng.random((30, n_columns)) * (rng.random((30, n_columns)) < 0.4)
    columns = tuple(f"c{i}" for i in range(n_columns))
    labels = tuple(f"l{i}" for i in range(30))
    many = RelationalContext("many", labels, columns, sp.csr_array(counts))
    model = PHCLE(dim=3, completion="none", **backend_options).fit(many)
    assert worst(model.embedding_, model.transform(many)) < 1e-4


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("whole", [[1, 2], [np.nan, np.nan]], "anything about 'blank'"),
        ("hole", [[1, 2], [1, 2]], "no context 'hole'. Did you mean 'whole'"),
        ("first", [[1, 2], [1, 2]], "'first' was relational at the fit"),
    ],
)
def test_a_context_that_does_not_belong_to_the_fit_is_refused(
    rng, name, values, message
):
    model = PHCLE(dim=3).fit(random_contexts(rng))
    with pytest.raises(ContextError, match=message):
        model.transform(DescriptiveContext(name, ("new", "blank"), ("u", "v"), values))


def test_unknown_columns_are_counted_in_a_warning(rng):
    model = PHCLE(dim=3).fit(random_contexts(rng))
    new = DescriptiveContext("whole", ("fresh",), ("u", "w"), np.array([[1.0, 2.0]]))
    with pytest.warns(ContextWarning, match="1 columns were not in the fit.*'w'"):
        model.transform(new)


def test_later_texts_are_weighed_as_at_the_fit(rng):
    texts = {
        "cat": "small furry pet that purrs and hunts mice",
        "dog": "loyal furry pet that barks and guards",
        "wolf": "wild furry hunter that howls and hunts in packs",
        "mouse": "small furry rodent that squeaks",
        "lion": "large wild hunter that roars and hunts",
    }
    model = PHCLE(dim=3).fit(DescriptiveContext.from_texts(texts))
    one = {"cat": texts["cat"]}
    alone = model.transform(DescriptiveContext.from_texts(one, min_count=1))
    assert np.allclose(alone["cat"], model.embedding_["cat"], atol=1e-4)


@pytest.mark.parametrize("others", [{}, {"weight": range(300)}])
@pytest.mark.filterwarnings("error")
def test_later_cells_are_a_category_if_they_were_one_at_the_fit(others):
    cities = [f"city {i % 100}" for i in range(300)]
    frame = pd.DataFrame(
        {"city": cities, **others}, index=[f"label{i}" for i in range(300)]
    )
    model = PHCLE(dim=3, backend="numpy").fit(DescriptiveContext.from_frame(frame))
    later = frame.iloc[:100]  # every label in another city
    folded = fold_in(model.embedding_, DescriptiveContext.from_frame(later))
    assert worst(model.embedding_, folded) < 1e-3


def test_adding_a_label_twice_is_refused(rng):
    contexts = random_contexts(rng)
    model = PHCLE(dim=3).fit(contexts)
    with pytest.raises(ContextError, match="'label0'"):
        model.embedding_.joined(model.transform(contexts))
