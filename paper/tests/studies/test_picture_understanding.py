"""The study of pictures of hidden classes, on objects and on a copy of aPY's layout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle_paper.config import SHIPPED, read_config, settings_of
from phcle_paper.studies import picture_understanding as understanding
from phcle_paper.studies.described_objects import (
    APY_LABELS,
    METHODS,
    DescribedObjects,
    Penalties,
    apy_objects,
    attribute_auc,
    predictions,
)
from phcle_paper.studies.picture_panels import novel_panels

CONFIG = SHIPPED / "understanding.toml"
OPTIONS = {"dim": 20, "backend": "numpy", "max_iter": 30, "completion": "none"}
ONE = Penalties([1.0], [0.1], [1.0], [0.01])


@pytest.fixture(scope="module")
def objects():
    """Objects of nine classes, with noisy attributes that the picture shows."""
    rng = np.random.default_rng(0)
    classes = tuple(f"class {i}" for i in range(9))
    kinds = np.arange(9) % 3
    of_kind = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]], float)
    means = np.hstack([of_kind[kinds], rng.integers(0, 2, (9, 4))])
    y = np.repeat(classes, 6)
    flips = rng.random((54, 8)) < 0.1
    attributes = np.abs(np.repeat(means, 6, axis=0) - flips)
    edges = [*zip(classes, (f"kind {i}" for i in kinds), strict=True)]
    edges += [(f"kind {i}", "thing") for i in range(3)]
    return DescribedObjects(
        "objects",
        attributes @ rng.normal(size=(8, 12)) + 0.1 * rng.normal(size=(54, 12)),
        y,
        attributes,
        DescriptiveContext("attributes", classes, tuple("abcdefgh"), means),
        RelationalContext.from_hierarchy(edges),
        {},
    )


UNSEEN = ("class 7", "class 8")


def test_areas_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (30, 7)).astype(float)
    truth[:, 3] = 0
    predicted = rng.integers(0, 4, (30, 7)).astype(float)  # with ties
    by_attribute, by_object = attribute_auc(truth, predicted)
    assert np.isnan(by_attribute[3])
    for j in (0, 1, 2, 4, 5, 6):
        expected = roc_auc_score(truth[:, j], predicted[:, j])
        assert by_attribute[j] == pytest.approx(expected)
    for i in range(30):
        assert by_object[i] == pytest.approx(roc_auc_score(truth[i], predicted[i]))


def test_hidden_classes_reach_no_prediction(objects):
    is_hidden = np.isin(objects.y, UNSEEN)
    lies = np.array(objects.classes.values)
    lies[np.isin(objects.classes.labels, UNSEEN)] = 5.0
    attributes = np.where(is_hidden[:, None], 9.0, objects.attributes)
    liar = replace(
        objects,
        attributes=attributes,
        classes=replace(objects.classes, matrix=lies),
    )
    found = [
        predictions(x, x.embedding(UNSEEN, OPTIONS), UNSEEN, UNSEEN, ONE)
        for x in (objects, liar)
    ]
    for method in METHODS:
        for choice, values in found[0][method].items():
            np.testing.assert_array_equal(values, found[1][method][choice])


def test_penalties_are_chosen_without_the_hidden_classes(objects, monkeypatch):
    settings = replace(
        settings_of(understanding.Settings, read_config(CONFIG), "understanding"),
        feature_ridge=[1.0, 1e6],
        class_ridge=[0.1],
        own_ridge=[1.0],
        C=[0.01],
        n_validation=2,
        fewest_objects=1,
        options=OPTIONS,
    )
    asked = []

    def remember(objects, embedding, hidden, tested, choices):
        asked.append((set(hidden), set(tested)))
        return predictions(objects, embedding, hidden, tested, choices)

    monkeypatch.setattr(understanding, "predictions", remember)
    chosen = understanding._choose(objects, UNSEEN, settings)
    assert set(chosen) == set(METHODS)
    assert len(asked) == 2
    for hidden, tested in asked:
        assert tested.isdisjoint(UNSEEN)
        assert hidden == {*UNSEEN, *tested}


def test_a_users_download_gives_the_papers_novel_classes(tmp_path, write_xlsa17):
    classes = ["person", "horse", "boat", "car", "dog", "centaur", "jetski"]
    write_xlsa17(tmp_path / "xlsa17" / "APY", classes, 6)
    ridges = {"feature_ridge": 1.0, "class_ridge": 0.1}
    names = ("Tail", "Leg", "Sail", "Wheel", "Skin", "Shiny")
    panels = novel_panels(tmp_path, names, ridges, OPTIONS)
    assert [x.title for x in panels] == ["centaur", "centaur", "jetski", "jetski"]
    for panel in panels:
        assert panel.related
        assert {name for name, _ in panel.attributes} == set(names)


def test_apy_objects_have_labels_of_the_hierarchy(shared_data):
    objects = apy_objects(shared_data / "apy")
    assert objects.X.shape == (2363, 1280)
    assert len(objects.classes.labels) == 32
    nodes = {APY_LABELS[x] for x in ("cow", "sheep", "horse")}
    assert np.isin(objects.y, list(nodes)).sum() == 727
    assert nodes <= set(objects.hierarchy.labels)
