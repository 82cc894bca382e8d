"""The data set that is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.contexts import Hierarchy
from phcle.datasets import load_shapes, picture_features
from phcle.errors import OptionError


@pytest.fixture(scope="module")
def shapes():
    return load_shapes()


def test_pictures_depend_on_the_seed_alone():
    one, same, other = (load_shapes(n_images=2, seed=seed) for seed in (3, 3, 4))
    assert (one.images == same.images).all()
    assert (one.features == same.features).all()
    assert (one.images != other.images).any(axis=(1, 2, 3)).all()


def test_more_pictures_leave_the_first_as_they_were(shapes):
    few = load_shapes(n_images=2)
    kept = np.arange(len(shapes.labels)).reshape(-1, 20)[:, :2].ravel()
    assert (few.images == shapes.images[kept]).all()
    assert few.labels.tolist() == shapes.labels[kept].tolist()


def test_there_are_twenty_pictures_of_32_classes(shapes):
    assert shapes.images.shape == (640, 32, 32, 3)
    assert shapes.images.dtype == np.uint8
    data = shapes.image_data()
    assert set(data.n_images.values()) == {20}
    assert set(data.classes) == set(shapes.classes)
    assert data.splits == {"seen": shapes.seen, "unseen": shapes.unseen}
    assert (len(shapes.seen), len(shapes.unseen)) == (24, 8)


def test_unseen_classes_are_new_combinations_of_known_parts(shapes):
    seen = [set(name.split()) for name in shapes.seen]
    for name in shapes.unseen:
        for part in name.split():
            assert sum(part in own for own in seen) >= 3
        assert set(name.split()) not in seen


def test_the_tree_knows_shapes_but_no_colours(shapes):
    tree = Hierarchy.from_edges(shapes.edges)
    assert set(tree.leaves) == set(shapes.classes)
    assert tree.parents_of("striped red triangle") == ("triangle",)
    inner = set(tree.nodes) - set(shapes.classes)
    assert not any("red" in node.split() or "striped" in node for node in inner)
    assert shapes.hierarchy().observed_labels


def test_attributes_are_known_in_part_and_true_where_known(shapes):
    known, truth = shapes.attributes, shapes.all_attributes
    assert len(known.labels) == 24
    assert set(shapes.unseen) <= set(known.labels)
    assert truth.labels == shapes.classes
    same = truth.rows_for(known.labels).values
    unknown = np.isnan(known.values)
    assert unknown.sum(axis=1).tolist() == [1] * 24
    assert unknown.any(axis=0).all()  # every attribute is unknown somewhere
    np.testing.assert_array_equal(known.values[~unknown], same[~unknown])


def test_classes_differ_in_their_attributes(shapes):
    rows = {tuple(row) for row in shapes.all_attributes.values}
    assert len(rows) == len(shapes.classes)
    red = shapes.all_attributes.columns.index("red")
    values = dict(zip(shapes.classes, shapes.all_attributes.values, strict=True))
    assert values["striped red triangle"][red] == 1
    assert values["plain blue triangle"][red] == 0


def test_shapes_stay_inside_the_picture():
    """The border is background: close to its own median in every picture."""
    images = load_shapes(n_images=4).images.astype(float)
    border = np.concatenate(
        [images[:, 0], images[:, -1], images[:, :, 0], images[:, :, -1]], axis=1
    )
    apart = np.abs(border - np.median(border, axis=1, keepdims=True)).max(axis=2)
    assert np.quantile(apart, 0.99) < 60
    assert apart.max() < 100


def test_features_are_finite_and_see_colour(shapes):
    assert shapes.features.shape[0] == 640
    assert np.isfinite(shapes.features).all()
    hues = shapes.features[:, :12]
    plain = {
        name: hues[shapes.labels == name].mean(axis=0)
        for name in ("plain red square", "plain red ring", "plain blue circle")
    }
    red, ring, blue = plain.values()
    assert np.linalg.norm(red - ring) < np.linalg.norm(red - blue) / 3


def test_features_of_an_empty_picture_are_finite():
    assert np.isfinite(picture_features(np.full((1, 32, 32, 3), 255, np.uint8))).all()


def test_pictures_can_be_of_another_size():
    data = load_shapes(n_images=1, size=48)
    assert data.images.shape == (32, 48, 48, 3)
    assert data.features.shape[1] == load_shapes(n_images=1, size=21).features.shape[1]


@pytest.mark.parametrize("option", [{"n_images": 0}, {"size": 8}])
def test_sizes_have_a_least_value(option):
    with pytest.raises(OptionError, match=r"or more\. Got"):
        load_shapes(**option)


def test_unseen_classes_are_recognised_from_attributes(shapes):
    """Ridge regression to attributes, nearest class by cosine; chance is 1 in 8."""
    attributes = shapes.all_attributes
    seen = np.isin(shapes.labels, shapes.seen)
    features = shapes.features - shapes.features[seen].mean(axis=0)
    features = features / (features[seen].std(axis=0) + 1e-6)
    target = attributes.values[[attributes.index[name] for name in shapes.labels]]
    mean = target[seen].mean(axis=0)
    gram = features[seen].T @ features[seen] + 10 * np.eye(features.shape[1])
    weights = np.linalg.solve(gram, features[seen].T @ (target[seen] - mean))
    found = features[~seen] @ weights
    classes = attributes.rows_for(shapes.unseen).values - mean
    classes = classes / np.linalg.norm(classes, axis=1, keepdims=True)
    guess = np.array(shapes.unseen)[(found @ classes.T).argmax(axis=1)]
    assert np.mean(guess == shapes.labels[~seen]) > 0.9
