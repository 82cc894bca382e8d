"""One file per embedding: exact round trips, and refusal of anything damaged."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from problems import random_contexts

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext, load
from phcle.errors import ContextError, FileError


@pytest.fixture(scope="module")
def embedding(imagenet):
    rng = np.random.default_rng(1)
    contexts = random_contexts(rng, 8)
    return PHCLE(dim=3).fit(contexts, names={"label0": "Nül ✓"}).embedding_


@pytest.fixture
def path(tmp_path, embedding):
    embedding.save(tmp_path / "labels.phcle")
    return tmp_path / "labels.phcle"


def test_everything_comes_back(embedding, path):
    again = load(path)
    assert again.labels == embedding.labels
    assert np.array_equal(again.vectors, embedding.vectors)
    assert again.vectors.dtype == embedding.vectors.dtype
    assert dict(again.names) == dict(embedding.names)
    assert again.history == tuple(map(dict, embedding.history))
    assert again.options == embedding.options
    assert again.penalties == embedding.penalties
    for old, new in zip(embedding.contexts, again.contexts, strict=True):
        assert (old.name, old.weight, old.columns) == (
            new.name,
            new.weight,
            new.columns,
        )
        assert np.array_equal(old.factor, new.factor)
    for a in embedding.labels:
        assert again.describe(a) == embedding.describe(a)
        assert again.explain("label0", a) == embedding.explain("label0", a)


@pytest.mark.parametrize("role", ["counts", "family", "both"])
def test_triples_come_back_in_every_role(tmp_path, role):
    triples = [("a", "in", "b"), ("b", "near", "c"), ("c", "in", "d")]
    graph = RelationalContext.from_triples(triples).changed(role=role)
    table = DescriptiveContext.from_tags({"a": ["x"], "b": ["y"], "d": ["x"]})
    model = PHCLE(dim=2, completion="none").fit([graph, table])
    model.embedding_.save(tmp_path / "graph.phcle")
    again = load(tmp_path / "graph.phcle")
    found = [c.links for c in again.contexts if c.links is not None]
    assert len(found) == (2 if role == "both" else 1)
    for links in found:
        names, kinds = links.names, links.relations
        assert [(names[a], kinds[r], names[b]) for a, b, r in links.ends.T] == triples


@settings(max_examples=30)
@given(data=st.data())
def test_any_labels_and_finite_vectors_round_trip(tmp_path_factory, data):
    vectors = data.draw(
        arrays(
            st.sampled_from([np.float32, np.float64]),
            array_shapes(min_dims=2, max_dims=2, max_side=6),
            elements=st.floats(-(2.0**99), 2.0**99, width=32),
        )
    )
    text = st.text(st.characters(codec="utf-8"), min_size=1)
    text = text.map(lambda x: unicodedata.normalize("NFC", x).strip())
    labels = data.draw(
        st.lists(
            text.filter(bool), min_size=len(vectors), max_size=len(vectors), unique=True
        )
    )
    path = tmp_path_factory.mktemp("round") / "trip.phcle"
    LabelEmbedding(tuple(labels), vectors).save(path)
    again = load(path)
    assert again.labels == tuple(labels)
    assert np.array_equal(again.vectors, vectors)


def test_contexts_that_were_not_fitted_are_refused_before_a_file_is_written(tmp_path):
    tags = DescriptiveContext.from_tags({"a": ["x"], "b": ["y"]}, name="colours")
    made = LabelEmbedding(("a", "b"), np.eye(2), contexts=(tags,))
    with pytest.raises(ContextError, match="learned from 'colours'"):
        made.save(tmp_path / "labels.phcle")
    assert not list(tmp_path.iterdir())


def test_same_embedding_gives_the_same_bytes(embedding, path, tmp_path):
    load(path).save(tmp_path / "again.phcle")
    assert (tmp_path / "again.phcle").read_bytes() == path.read_bytes()


def test_every_cut_and_every_flipped_byte_is_refused(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = path.with_name("damaged.phcle")
    for cut in [0, 1, 7, 8, 9, *rng.integers(10, len(whole), 30), len(whole) - 1]:
        damaged.write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"damaged\.phcle"):
            load(damaged)
    for position in rng.integers(0, len(whole), 150):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << rng.integers(8)
        damaged.write_bytes(flipped)
        with pytest.raises(FileError, match=r"damaged\.phcle"):
            load(damaged)
