"""Questions to an embedding: nearest, describe, explain, names."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import call

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext
from phcle.errors import ContextError, UnknownLabelError


@pytest.fixture(scope="module")
def model(imagenet):
    return PHCLE(dim=40).fit(imagenet.contexts(), names=imagenet.names)


@pytest.fixture
def small(rng):
    return LabelEmbedding(
        tuple(f"label{i}" for i in range(30)),
        rng.normal(size=(30, 4)),
        names={"label0": "Zero", "label1": "One", "label2": "one"},
    )


def test_a_name_in_any_case_means_its_label_unless_several_have_it(small):
    assert np.array_equal(small["zero"], small["label0"])
    chosen = small.select(["label3", "Zero"])
    assert chosen.labels == ("label3", "label0")
    assert np.array_equal(chosen["label0"], small["label0"])
    with pytest.raises(UnknownLabelError, match="'label1', 'label2'"):
        small["ONE"]


@pytest.mark.parametrize(
    "vectors", [np.zeros((2, 3)), np.full((3, 2), np.nan), np.zeros(3)]
)
def test_vectors_that_do_not_fit_are_refused(small, vectors):
    with pytest.raises(ContextError):
        LabelEmbedding(("a", "b", "c"), vectors)
    with pytest.raises(ContextError, match="4 finite numbers"):
        small.nearest(vectors[0])


def test_describe_lists_observed_and_predicted_apart(model, imagenet):
    described = model.embedding_.describe("coffeepot")
    assert "handle" in {a.name for a in described.observed}
    seen = {(a.context, a.name) for a in described.observed}
    assert not seen & {(a.context, a.name) for a in described.predicted}
    assert described.contexts == {"hierarchy": True, "parts": True, "gloss words": True}
    without = next(x for x in imagenet.labels if x not in imagenet.parts)
    described = model.embedding_.describe(without)
    assert not any(a.context == "parts" for a in described.observed)
    assert described.contexts["parts"] is False


def test_describe_predicts_what_relatives_have():
    families = {"bird": "wings", "fish": "fins", "cat": "whiskers"}
    edges = [(f"{f}{i}", f) for f in families for i in range(8)]
    edges += [(family, "animal") for family in families]
    tags = {f"{f}{i}": [part] for f, part in families.items() for i in range(1, 8)}
    contexts = [
        RelationalContext.from_hierarchy(edges),
        DescriptiveContext.from_tags(tags),
    ]
    embedding = PHCLE(dim=5).fit(contexts).embedding_
    for family, part in families.items():
        described = embedding.describe(f"{family}0")
        assert [a.name for a in described.predicted] == [part]
        assert not described.observed
        assert 0.5 < described.predicted[0].value < 1.2


def test_explanation_names_the_most_specific_ancestors_and_no_general_ones(model):
    embedding = model.embedding_
    part = embedding.explain("coffeepot", "teapot").parts[0]
    names = [node.name for node in part.shared]
    assert names[:2] == ["pot (cooking utensil)", "cooking utensil"]
    assert names[-1] == "instrumentality"  # artifact, …, entity are above most labels


@pytest.fixture(scope="module")
def lines(model, tmp_path_factory):
    """What `phcle explain` says about two labels, in words."""
    file = tmp_path_factory.mktemp("imagenet") / "imagenet.phcle"
    model.embedding_.save(file)

    def lines(a, b, k=5):
        told = call("explain", file, a, b, "-k", k, "--json").stdout
        return json.loads(told)["lines"]

    return lines


def test_what_most_labels_are_below_is_counted_but_not_named(model, lines):
    part = model.embedding_.explain("airliner", "goldfish").parts[0]
    assert part.shared == ()
    assert [group.group for group in part.groups] == ["both", "one", "neither"]
    assert sum(group.part for group in part.groups) == pytest.approx(part.part)
    assert lines("airliner", "goldfish", 3)[0]["columns"] == ["4 general columns"]


def test_the_percentile_of_a_cosine_is_the_share_of_pairs_below_it(rng):
    embedding = LabelEmbedding(tuple("abcdefgh"), rng.normal(size=(8, 3)))
    units = embedding.unit_vectors
    cosines = (units @ units.T)[np.triu_indices(8, 1)]
    for cosine in (-1.1, -0.3, 0.0, 0.7, 1.0):
        expected = 100 * (cosines < cosine).mean()
        assert embedding.percentile_of(cosine) == pytest.approx(expected)
