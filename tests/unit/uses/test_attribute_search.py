"""Labels by a description: observed counts as certain, predicted by its chance."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ContextError, OptionError
from phcle.uses.attribute_search import Criterion, attribute_column, find_labels

TREE = [(f"cat {i}", "felid") for i in range(8)] + [
    (f"bird {i}", "bird") for i in range(8)
]
TREE += [("felid", "animal"), ("bird", "animal")]


@pytest.fixture(scope="module")
def embedding():
    tags = {f"cat {i}": ["claws", "fur"] for i in range(6)}
    tags |= {f"bird {i}": ["claws", "wings"] for i in range(6)}
    weights = np.array([[4.0 + i] for i in range(6)] + [[0.1 * i] for i in range(6)])
    return (
        PHCLE(dim=4, backend="numpy")
        .fit(
            [
                RelationalContext.from_hierarchy(TREE, name="tree"),
                DescriptiveContext.from_tags(tags, name="looks"),
                DescriptiveContext("sizes", tuple(tags), ("weight",), weights),
            ]
        )
        .embedding_
    )


def test_labels_that_fit_come_first_observed_before_predicted(embedding):
    found = find_labels(embedding, [Criterion("looks", "wings")], k=16)
    names = [fit.label for fit in found]
    assert set(names[:6]) == {f"bird {i}" for i in range(6)}
    assert set(names[6:8]) == {"bird 6", "bird 7"}  # predicted
    assert [fit.chances[0][1] for fit in found[:8]] == [True] * 6 + [False] * 2


def test_an_unwanted_attribute_counts_against_a_label(embedding):
    wanted = [Criterion("looks", "claws"), Criterion("looks", "wings", present=False)]
    best = {fit.label for fit in find_labels(embedding, wanted, k=6)}
    assert best == {f"cat {i}" for i in range(6)}


def test_one_wrong_attribute_is_not_outweighed(embedding):
    wanted = [Criterion("looks", "fur"), Criterion("looks", "wings")]
    found = find_labels(embedding, wanted, k=16)
    known = [fit.score for fit in found if all(x for _, x in fit.chances)]
    assert len(known) == 12
    assert max(known) < 0.2


def test_a_column_has_observed_values_where_known_and_predictions_elsewhere(embedding):
    column = attribute_column(embedding, "sizes", "weight")
    row = embedding.labels.index
    assert column.value[row("cat 3")] == 7
    assert column.is_observed.sum() == 12
    assert not column.is_observed[row("cat 7")]
    assert column.value[row("cat 7")] > column.value[row("bird 7")]
    assert set(np.unique(column.chance[column.is_observed])) <= {0.0, 1.0}
    assert not (column.is_confident & column.is_observed).any()


def test_what_a_column_predicts_is_what_a_description_lists(embedding):
    for label in ("cat 7", "bird 6"):
        listed = {
            x.name for x in embedding.describe(label).predicted if x.context == "looks"
        }
        columns = {
            name: attribute_column(embedding, "looks", name)
            for name in ("claws", "fur", "wings")
        }
        telling = {
            name
            for name, column in columns.items()
            if column.is_confident[embedding.labels.index(label)]
        }
        assert listed <= telling


@pytest.mark.parametrize(
    ("wanted", "error", "told"),
    [
        ([], OptionError, "an attribute or more"),
        ([Criterion("tree", "felid")], OptionError, "no attributes are called 'tree'"),
        ([Criterion("looks", "wing")], ContextError, "Did you mean 'wings'"),
    ],
)
def test_what_cannot_be_asked_is_refused(embedding, wanted, error, told):
    with pytest.raises(error, match=told):
        find_labels(embedding, wanted)
