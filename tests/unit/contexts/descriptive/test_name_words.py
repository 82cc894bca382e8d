"""Words and pieces of names are a context like any other."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, fold_in, load
from phcle.errors import ContextError

JOBS = [
    *("data engineer", "senior data engineer", "data analyst", "engineering manager"),
    *("nurse", "ward nurse", "C developer", "C++ developer", "C# developer", "cook"),
]
TAGS = {job: [["office", "hands"][i % 2]] for i, job in enumerate(JOBS)}


def fitted(**options):
    contexts = [
        DescriptiveContext.from_tags(TAGS),
        DescriptiveContext.from_label_names(JOBS),
    ]
    options = {"dim": 4, "choose": False, "completion": "none", **options}
    return PHCLE(**options).fit(contexts).embedding_


def same_row(one, other):
    """Whether two names have the same words."""
    words = DescriptiveContext.from_label_names({"a": one, "b": other, "c": one})
    rows = words.values.toarray()
    return bool((rows[0] == rows[1]).all())


def test_case_hyphens_and_underscores_do_not_matter():
    assert same_row("Wine-glass", "wine_glass")
    assert same_row("Wine-glass", "WineGlass")
    assert not same_row("Wine-glass", "wine bottle")


def test_signs_of_programming_languages_are_part_of_their_words():
    assert same_row("C developer", "c developer")
    assert not same_row("C developer", "C++ developer")
    assert not same_row("C++ developer", "C# developer")


def test_rows_have_unit_length_and_names_without_company_are_left_out():
    words = DescriptiveContext.from_label_names(JOBS)
    assert "cook" not in words.labels
    lengths = np.sqrt(words.values.multiply(words.values).sum(axis=1))
    np.testing.assert_allclose(lengths, 1)


def test_names_that_share_nothing_are_refused():
    with pytest.raises(ContextError, match="no two names share a word"):
        DescriptiveContext.from_label_names(["cat", "dog"])


def test_an_explanation_names_shared_words_once():
    found = fitted().explain("data engineer", "senior data engineer")
    [part] = [x for x in found.parts if x.context == "label words"]
    [both] = [x for x in part.groups if x.group == "both"]
    assert both.words == "both names contain"
    assert {x.column for x in both.columns} == {"data", "engineer"}


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_new_label_is_placed_by_its_own_name(tmp_path, is_stored):
    embedding = fitted()
    if is_stored:
        embedding.save(tmp_path / "jobs.phcle")
        embedding = load(tmp_path / "jobs.phcle")
    tag = DescriptiveContext.from_tags({"new": ["office"]})
    by_id = fold_in(embedding, tag)
    by_name = fold_in(embedding, tag, names={"new": "junior data engineer"})
    near = embedding.joined(by_name).nearest("new", k=3)
    assert any("data" in label for label, _ in near)
    assert not np.allclose(by_id.vectors, by_name.vectors)
