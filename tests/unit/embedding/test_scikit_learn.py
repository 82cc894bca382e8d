"""Frames and pickles: what users of scikit-learn expect."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from phcle import PHCLE, DescriptiveContext, RelationalContext

TREE = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
TREE += [("felid", "beast"), ("canid", "beast")]


@pytest.fixture(scope="module")
def contexts():
    return [
        RelationalContext.from_hierarchy(TREE),
        DescriptiveContext.from_frame(
            pd.DataFrame({"tame": [1, 0], "coat": ["red", None]}, index=["cat", "wolf"])
        ),
        DescriptiveContext.from_tags({"cat": ["pet"], "dog": ["pet"]}),
        DescriptiveContext.from_texts(
            {"cat": "a small pet", "dog": "a loyal pet"},
            encoder=lambda texts: np.eye(2),
        ),
        DescriptiveContext.from_texts(
            {"cat": "it purrs at home", "dog": "barks at home"}, name="words"
        ),
    ]


@pytest.fixture(scope="module")
def model(contexts):
    names = {"felid": "cat family", "cat": "house cat"}
    contexts = [*contexts[:3], contexts[4]]
    return PHCLE(dim=3, max_iter=20).fit(contexts, names=names)


def stored_and_read(thing, tmp_path):
    """A copy by every way that people keep Python's objects."""
    yield copy.deepcopy(thing)
    yield copy.copy(thing)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        yield pickle.loads(pickle.dumps(thing, protocol))
    joblib.dump(thing, tmp_path / "thing.joblib")
    yield joblib.load(tmp_path / "thing.joblib")
    # Arrays that live in a file cannot be written to.
    yield joblib.load(tmp_path / "thing.joblib", mmap_mode="r")


def test_a_fitted_model_survives_every_copy(model, tmp_path):
    later = RelationalContext.from_hierarchy([("lynx", "felid")])
    expected = model.transform(later).vectors
    for found in stored_and_read(model, tmp_path):
        assert found.get_params() == model.get_params()
        assert found.history_ == model.history_
        np.testing.assert_array_equal(found.transform(later).vectors, expected)


def test_an_embedding_survives_every_copy_with_names_and_contexts(model, tmp_path):
    embedding = model.embedding_
    embedding.nearest("cat")  # fills caches
    for found in stored_and_read(embedding, tmp_path):
        assert found.labels == embedding.labels
        assert found.versions == embedding.versions
        assert found.nearest("dog") == embedding.nearest("dog")
        assert found.describe("lion") == embedding.describe("lion")
        assert found.explain("cat", "lion") == embedding.explain("cat", "lion")


def test_contexts_survive_every_copy(contexts, tmp_path):
    for context in contexts:
        expected = objective(contexts[0], context)
        for found in stored_and_read(context, tmp_path):
            assert repr(found) == repr(context)
            assert objective(contexts[0], found) == expected


def objective(tree, context):
    """Where a fit gets from a context, alone or beside the hierarchy."""
    both = [context] if isinstance(context, RelationalContext) else [tree, context]
    model = PHCLE(dim=2, completion="none")
    return model.fit(both).history_[-1]["objective"]


def test_clone_drops_what_was_learned_and_keeps_options(model):
    plain = clone(model.set_params(ridge=3.0))
    assert plain.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(plain)
    check_is_fitted(model)
    model.set_params(ridge=10.0)


def test_an_embedding_comes_back_from_a_frame(model):
    found = DescriptiveContext.from_frame(model.embedding_.to_frame())
    assert found.labels == model.embedding_.labels
    np.testing.assert_array_equal(found.values, model.embedding_.vectors)
