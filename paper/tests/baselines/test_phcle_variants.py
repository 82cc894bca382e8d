"""Variants of PHCLE are PHCLE with one option fixed."""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_contexts

from phcle import PHCLE
from phcle.errors import OptionError
from phcle_paper.baselines import phcle_full_context, phcle_without_sparsity


def test_full_context_keeps_the_labels_that_every_context_knows(rng):
    contexts = random_contexts(rng, 9)[:3]
    embedding = phcle_full_context(contexts, dim=3, backend="numpy")
    common = set.intersection(*(set(c.observed_labels) for c in contexts))
    assert set(embedding.labels) == common
    model = PHCLE(dim=3, backend="numpy", complete_only=True).fit(contexts)
    np.testing.assert_array_equal(embedding.vectors, model.embedding_.vectors)
    assert embedding.options["method"] == "PHCLE_FC"
    assert embedding.options["dim"] == 3


def test_without_sparsity_there_is_no_penalty_of_that_kind(rng):
    contexts = random_contexts(rng, 9)
    embedding = phcle_without_sparsity(contexts, dim=3, backend="numpy")
    assert embedding.penalties["sparsity"] == 0
    assert embedding.options["method"] == "PHCLE_NoSp"
    model = PHCLE(dim=3, backend="numpy", sparsity=0.0).fit(contexts)
    np.testing.assert_array_equal(embedding.vectors, model.embedding_.vectors)


def test_a_fixed_option_cannot_be_changed(rng):
    contexts = random_contexts(rng, 6)
    with pytest.raises(OptionError, match="PHCLE_FC means complete_only=True"):
        phcle_full_context(contexts, complete_only=False)
    with pytest.raises(OptionError, match="no option 'sparse'"):
        phcle_without_sparsity(contexts, sparse=1)
