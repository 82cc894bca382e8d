"""Which contexts help to predict hidden cells, measured from an embedding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from problems import table, tree_of

from phcle import PHCLE, DescriptiveContext, RelationalContext, context_help, load

LABELS = tuple(f"label{i}" for i in range(150))


@pytest.fixture(scope="module")
def contexts():
    """A tree and two tables that it explains, and noise."""
    rng = np.random.default_rng(1)
    group = np.arange(150) // 5
    latent = rng.normal(size=(30, 6))[group]
    first = latent @ rng.normal(size=(6, 4)) + 0.3 * rng.normal(size=(150, 4))
    second = latent @ rng.normal(size=(6, 4)) + 0.3 * rng.normal(size=(150, 4))
    return [
        tree_of(LABELS, group),
        table("first", LABELS, first),
        table("second", LABELS, second),
        table("noise", LABELS, rng.normal(size=(150, 4))),
    ]


@pytest.fixture(scope="module")
def embedding(contexts):
    return PHCLE(completion="none").fit(contexts).embedding_


def test_a_telling_tree_helps_and_noise_has_no_effect(embedding):
    found = {x.context: x for x in context_help(embedding).contexts}
    assert list(found) == ["tree", "first", "second", "noise"]
    assert found["tree"].verdict == "helps"
    assert found["tree"].without < found["tree"].skill - 0.1
    assert set(found["tree"].tables) == {"first", "second"}
    assert found["tree"].words.endswith("it helps")
    assert found["noise"].verdict == "no effect"
    assert set(found["first"].tables) == {"second"}


def test_a_stored_embedding_answers_as_the_fresh_one(embedding, tmp_path):
    embedding.save(tmp_path / "a.phcle")
    assert context_help(load(tmp_path / "a.phcle")) == context_help(embedding)


def test_categories_of_a_stored_embedding_are_hidden_whole(tmp_path):
    kinds = ["red", "green", "blue", "black", "white", "grey"]
    colours = np.random.default_rng(0).choice(kinds, 150)
    frame = pd.DataFrame({"colour": colours}, index=LABELS)
    model = PHCLE(completion="none").fit(DescriptiveContext.from_frame(frame))
    model.embedding_.save(tmp_path / "a.phcle")
    found = context_help(load(tmp_path / "a.phcle"))
    assert found == context_help(model.embedding_)
    assert found.cells > 0
    assert found.cells % len(kinds) == 0


def test_without_readable_tables_it_says_why():
    model = PHCLE(dim=2).fit(RelationalContext.from_edges([("a", "b"), ("b", "c")]))
    found = context_help(model.embedding_)
    assert found.contexts == ()
    assert str(found).startswith("Nothing can be measured: no cell of readable")
