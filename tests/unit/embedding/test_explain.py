"""Reasons for a similarity: groups of columns that add up to the parts of contexts."""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ContextError

TREE = [
    *((label, "felid") for label in ("cat", "lion", "tiger")),
    *[("dog", "canid"), ("wolf", "canid")],
    *[("felid", "carnivore"), ("canid", "carnivore")],
]
HABITS = {"cat": ["pet"], "dog": ["pet", "guard"], "lion": ["hunt"], "wolf": ["hunt"]}


@pytest.fixture(scope="module")
def zoo():
    looks = DescriptiveContext(
        "looks",
        ("cat", "lion", "tiger", "dog"),
        ("kg", "stripes"),
        [[4.0, 0.0], [190.0, 0.0], [220.0, 1.0], [20.0, np.nan]],
    )
    contexts = [
        RelationalContext.from_hierarchy(TREE, name="tree"),
        RelationalContext.from_edges(
            [("cat", "milk"), ("dog", "milk"), ("dog", "bone"), ("wolf", "bone")],
            name="eats",
        ),
        looks,
        DescriptiveContext.from_tags(HABITS, name="habits"),
        DescriptiveContext.from_vectors(
            {"cat": [1.0, 2.0, 0.5], "dog": [0.5, 2.0, 1.0], "wolf": [0.0, 1.0, 1.0]},
            name="words",
        ),
    ]
    # To the end: a fit of six labels may rest where a column still says nothing.
    model = PHCLE(dim=4, dtype="float64", completion="none", tol=1e-5, max_iter=100)
    return model.fit(contexts).embedding_


def groups_of(embedding, a, b, context, k=5):
    (part,) = (x for x in embedding.explain(a, b, k).parts if x.context == context)
    return {group.group: group for group in part.groups}


def adds_up(explanation):
    for part in explanation.parts:
        if part.groups:
            total = sum(group.part for group in part.groups)
            assert total == pytest.approx(part.part, abs=1e-12)
        for group in part.groups:
            named = sum(x.part for x in group.columns)
            assert named + group.others == pytest.approx(group.part, abs=1e-12)
            assert len(group.columns) + group.n_others == group.size


@pytest.mark.parametrize("k", [1, 5])
def test_the_groups_of_every_context_add_up_to_its_part(zoo, rng, k):
    random = PHCLE(dim=4, completion="none").fit(random_contexts(rng, 9)).embedding_
    assert groups_of(zoo, "cat", "dog", "words") == {}  # dimensions have no names
    for embedding in (zoo, random):
        for a in embedding.labels:
            for b in embedding.labels:
                found = embedding.explain(a, b, k)
                adds_up(found)
                assert found.percentile == embedding.percentile_of(found.similarity)
    bare = zoo.select(zoo.labels)
    with pytest.raises(ContextError, match="has no contexts"):
        bare.explain("cat", "dog")


def test_what_both_have_is_named_first_and_the_nearest_ancestor_leads(zoo):
    groups = groups_of(zoo, "cat", "lion", "tree")
    assert list(groups) == ["both", "neither"]
    assert [x.column for x in groups["both"].columns] == ["felid", "carnivore"]
    assert groups["both"].words == "both are below"


def test_what_both_lack_has_a_group_of_its_own(zoo):
    assert [
        x.column for x in groups_of(zoo, "cat", "lion", "tree")["neither"].columns
    ] == ["canid"]
    groups = groups_of(zoo, "cat", "lion", "habits")
    assert [x.column for x in groups["neither"].columns] == ["guard"]
    assert {x.column for x in groups["one"].columns} == {"pet", "hunt"}
    assert groups["neither"].words == "neither has"


def test_numbers_are_compared_with_their_mean_and_zero_or_one_is_yes_or_no(zoo):
    groups = groups_of(zoo, "lion", "tiger", "looks")
    assert [x.column for x in groups["both_high"].columns] == ["kg"]
    assert [x.column for x in groups["one"].columns] == ["stripes"]
    groups = groups_of(zoo, "cat", "lion", "looks")
    assert [x.column for x in groups["different"].columns] == ["kg"]
    assert [x.column for x in groups["neither"].columns] == ["stripes"]


def test_a_value_that_is_known_of_one_label_only_says_so(zoo):
    groups = groups_of(zoo, "cat", "dog", "looks")
    assert set(groups) == {"both_low", "known_of_one"}
    groups = groups_of(zoo, "cat", "tiger", "habits")  # nobody knows the tiger's habits
    assert list(groups) == ["known_of_one"]
    assert [x.column for x in groups["known_of_one"].columns] == ["pet"]


def test_counts_name_what_both_occur_with(zoo):
    groups = groups_of(zoo, "cat", "dog", "eats")
    assert "milk" in [x.column for x in groups["both"].columns]
    assert groups["both"].words == "both occur with"


def test_labels_that_occur_with_each_other_are_one_reason():
    edges = [
        ("wine", "cheese"),
        ("wine", "pasta"),
        ("cheese", "pasta"),
        ("tea", "milk"),
    ]
    embedding = PHCLE(dim=3).fit(RelationalContext.from_edges(edges)).embedding_
    groups = groups_of(embedding, "wine", "cheese", "edges")
    assert {x.column for x in groups["together"].columns} == {"wine", "cheese"}
    assert groups["together"].words == "occur with each other"
    assert [x.column for x in groups["both"].columns] == ["pasta"]
    adds_up(embedding.explain("wine", "cheese"))
