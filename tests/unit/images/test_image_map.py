"""Maps from features to vectors: against ESZSL, on disk, and for other embeddings."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.errors import FileError, OptionError, UnknownLabelError
from phcle.images import ESZSL, SJE, ConSE, ImageMap, load_map


@pytest.fixture(scope="module")
def problem():
    """Eight labels of two groups, and pictures whose features follow the attributes."""
    rng = np.random.default_rng(4)
    labels = tuple(f"label {i}" for i in range(8))
    groups = np.arange(8) % 2
    values = np.eye(2)[groups] + 0.2 * rng.random((8, 2))
    values = np.column_stack([values, 0.4 * rng.random((8, 3))])
    columns = ("round", "square", "red", "blue", "green")
    edges = [(x, f"group {g}") for x, g in zip(labels, groups, strict=True)]
    edges += [("group 0", "all"), ("group 1", "all")]
    described = DescriptiveContext("looks", labels[:6], columns, values[:6])
    model = PHCLE(dim=4, ridge=1.0, context_ridge=1.0, backend="numpy", max_iter=500)
    embedding = model.fit([RelationalContext.from_hierarchy(edges), described])
    y = np.repeat(labels, 15)
    X = np.repeat(values, 15, axis=0) @ rng.normal(size=(5, 20))
    return embedding.embedding_, X + 0.1 * rng.normal(size=X.shape), y, values


@pytest.fixture(scope="module")
def image_map(problem):
    embedding, X, y, _ = problem
    seen = y < "label 6"
    return ImageMap.fit(X[seen], y[seen], embedding)


def test_directions_score_labels_as_eszsl_does(problem):
    embedding, X, y, _ = problem
    seen = y < "label 6"
    ridges = {"feature_ridge": 10.0, "class_ridge": 0.5}
    image_map = ImageMap.fit(X[seen], y[seen], embedding, **ridges)
    rival = ESZSL(embedding, normalize="none", candidates="all", **ridges)
    scores = rival.fit(X[seen], y[seen]).decision_function(X)
    ours = (image_map.vectors(X) - image_map.offset) @ embedding.vectors.T
    ratio = ours / scores
    np.testing.assert_allclose(ratio, np.median(ratio), rtol=1e-3)


def test_scale_brings_training_pictures_nearest_to_their_vectors(problem, image_map):
    embedding, X, y, _ = problem
    seen = y < "label 6"
    own = np.array([embedding[label] for label in y[seen]], dtype=float)
    vectors = image_map.vectors(X[seen])
    np.testing.assert_allclose(vectors.mean(axis=0), own.mean(axis=0), atol=1e-6)
    best = ((vectors - own) ** 2).sum()
    for stretch in (0.98, 1.02):
        other = image_map.offset + stretch * (vectors - image_map.offset)
        assert ((other - own) ** 2).sum() > best


def test_unseen_pictures_get_the_attributes_and_labels_of_their_group(
    problem, image_map
):
    embedding, X, y, _ = problem
    for label, attribute, group in (("label 6", "round", 0), ("label 7", "square", 1)):
        for found in image_map.understand(X[y == label], embedding, k=3):
            assert len(found.attributes) == 3
            assert found.attributes[0].name == attribute
            values = [x.value for x in found.attributes]
            assert values == sorted(values, reverse=True)
            assert int(found.related[0][0][-1]) % 2 == group
            assert sum(share for _, share in found.related) == pytest.approx(1)


def test_saved_map_gives_the_same_answers(problem, image_map, tmp_path):
    embedding, X, _, _ = problem
    image_map.save(tmp_path / "m.map")
    again = load_map(tmp_path / "m.map")
    np.testing.assert_array_equal(again.vectors(X), image_map.vectors(X))
    assert again.classes == image_map.classes
    assert again.penalties == image_map.penalties
    was, now = (x.understand(X[:1], embedding)[0] for x in (image_map, again))
    assert (now.related, now.attributes) == (was.related, was.attributes)


def test_maps_and_classifiers_survive_a_pickle(problem, image_map):
    embedding, X, y, _ = problem
    again = pickle.loads(pickle.dumps(image_map))
    np.testing.assert_array_equal(again.vectors(X), image_map.vectors(X))
    for kind in (ESZSL, ConSE, SJE):
        fitted = kind(embedding, candidates="all").fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X[:20]), fitted.predict(X[:20]))


def test_other_files_and_parts_that_do_not_fit_are_refused(
    problem, image_map, tmp_path
):
    problem[0].save(tmp_path / "labels.phcle")
    with pytest.raises(FileError, match="is not a map of pictures"):
        load_map(tmp_path / "labels.phcle")
    replace(image_map, offset=image_map.offset[:-1]).save(tmp_path / "m.map")
    with pytest.raises(FileError, match=r"its offset must be numbers of shape \(4,\)"):
        load_map(tmp_path / "m.map")
    broken = image_map.weights.copy()
    broken[0, 0] = np.nan
    replace(image_map, weights=broken).save(tmp_path / "m.map")
    with pytest.raises(FileError, match="its weights must be finite"):
        load_map(tmp_path / "m.map")


def test_another_embedding_is_refused_but_added_labels_are_not(problem, image_map):
    embedding, X, _, _ = problem
    turned = LabelEmbedding(embedding.labels, embedding.vectors[:, ::-1])
    with pytest.raises(OptionError, match=r"another embedding.* other vectors"):
        image_map.understand(X[:1], turned)
    fewer = embedding.select(embedding.labels[1:])
    with pytest.raises(OptionError, match="lacks 'label 0'"):
        image_map.understand(X[:1], fewer)
    more = LabelEmbedding(
        (*embedding.labels, "new"),
        np.vstack([embedding.vectors, embedding.vectors[:1]]),
    )
    assert image_map.understand(X[:1], more)[0].related


def test_wrong_input_is_refused_with_the_remedy(problem, image_map):
    embedding, X, y, _ = problem
    with pytest.raises(OptionError, match="ImageMap is expecting 20 features"):
        image_map.vectors(X[:, :3])
    with pytest.raises(UnknownLabelError, match="no vector for 'labl 1'"):
        ImageMap.fit(X[:20], np.where(y[:20] == "label 1", "labl 1", y[:20]), embedding)
    with pytest.raises(OptionError, match="class_ridge must be a number above 0"):
        ImageMap.fit(X, y, embedding, class_ridge=0.0)
