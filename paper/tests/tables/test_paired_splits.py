"""Comparisons over splits, and the choice of variants on validation classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from phcle import LabelEmbedding
from phcle.errors import OptionError
from phcle.images import ESZSL, Search, ZeroShotTask
from phcle_paper.tables.paired_splits import compare, evaluate_variants


def test_the_variant_is_chosen_on_validation_classes():
    random = np.random.default_rng(0)
    labels = tuple(f"class{i:02d}" for i in range(20))
    good = LabelEmbedding(labels, random.normal(size=(20, 4)))
    noise = LabelEmbedding(labels, random.normal(size=(20, 4)))
    X = np.repeat(good.vectors @ random.normal(size=(4, 9)), 6, axis=0)
    y = np.repeat(labels, 6)
    task = ZeroShotTask("planted", X, y, seen=labels[:15], unseen=labels[15:])
    variants = {"one": {"noise": noise, "good": good}, "other": {"": noise}}
    searches = {"eszsl": Search(ESZSL, {"class_ridge": [0.1, 1.0]})}
    frame = evaluate_variants(variants, searches, task, seeds=(3, 4), n_validation=2)
    assert frame["embedding"].tolist() == ["one", "other"] * 2
    assert frame["variant"].tolist() == ["good", ""] * 2
    assert frame["seed"].tolist() == [3, 3, 4, 4]


def test_compare_corrects_the_standard_error_for_shared_classes():
    a, b = np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.5, 0.6])
    frame = pd.DataFrame(
        {
            "embedding": ["a"] * 6 + ["b"] * 6,
            "classifier": "eszsl",
            "task": "toy",
            "split": [0, 1, 2] * 4,
            "seed": ([0] * 3 + [1] * 3) * 2,
            "accuracy": np.r_[a - 0.1, a + 0.1, b, b],
            "n_seen": 20,
            "n_unseen": 5,
        }
    )
    row = compare(frame, "b").set_index("embedding").loc["a"]
    assert row["accuracy"] == pytest.approx(0.6)
    assert row["spread"] == pytest.approx(np.std(a, ddof=1))
    assert row["difference"] == pytest.approx(0.1)
    error = np.sqrt(np.var(a - b, ddof=1) * (1 / 3 + 5 / 20))
    assert row["standard_error"] == pytest.approx(error)
    assert row["n_splits"] == 3
    single = compare(frame[frame["split"] == 0], "b")
    assert single["standard_error"].isna().all()
    with pytest.raises(OptionError, match="reference must be one of 'a', 'b'"):
        compare(frame, "c")
