from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterGrid

from phcle import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError
from phcle.images import (
    ESZSL,
    SJE,
    ConSE,
    Search,
    compare,
    evaluate,
    mean_class_accuracy,
    resplits,
    validation_splits,
)

SMALL = {
    "eszsl": Search(ESZSL, {"feature_ridge": [1, 10], "class_ridge": [0.1, 10]}),
    "conse": Search(ConSE, {"C": [0.01], "top": [1, 5], "normalize": ["l2", "center"]}),
    "sje": Search(SJE, {"epochs": [1, 3]}),
}


def noise_like(embedding):
    random = np.random.default_rng(5)
    return LabelEmbedding(embedding.labels, random.normal(size=embedding.vectors.shape))


def test_a_good_embedding_beats_noise_with_every_classifier(planted_problem):
    embedding, task = planted_problem
    steps = []
    frame = evaluate(
        {"good": embedding, "noise": noise_like(embedding)},
        SMALL,
        resplits(task, 4, 6, seed=0),
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps == [(i, 12) for i in range(1, 13)]
    assert len(frame) == 2 * 3 * 4
    assert frame.columns.tolist() == [
        "embedding", "variant", "classifier", "task", "split", "seed", "parameters",
        "validation_accuracy", "accuracy", "n_seen", "n_unseen",
    ]  # fmt: skip
    found = compare(frame, "noise").set_index(["classifier", "embedding"])
    for classifier in SMALL:
        row = found.loc[(classifier, "good")]
        assert row["difference"] > 3 * row["standard_error"] > 0
        assert found.loc[(classifier, "noise"), "difference"] == 0


def test_selection_matches_a_plain_search_over_the_splits(planted_problem):
    embedding, task = planted_problem
    variants = {"own": {"good": embedding, "noise": noise_like(embedding)}}
    splits = validation_splits(task, 2)
    for search in SMALL.values():
        found = {}
        for variant, vectors in variants["own"].items():
            for chosen in ParameterGrid(search.grid):
                scores = []
                for split in splits:
                    model = search.classifier(
                        vectors, candidates=split.unseen, **chosen
                    ).fit(*split.images(split.seen))
                    X, y = split.images(split.unseen)
                    scores.append(mean_class_accuracy(y, model.predict(X)))
                found[variant, tuple(sorted(chosen.items()))] = np.mean(scores)
        row = evaluate(variants, {"it": search}, [task], n_validation=2).iloc[0]
        assert row["validation_accuracy"] == pytest.approx(max(found.values()))
        key = row["variant"], tuple(sorted(row["parameters"].items()))
        assert found[key] == pytest.approx(row["validation_accuracy"])
        assert row["variant"] == "good"


def test_test_classes_take_no_part_in_the_choice(planted_problem):
    embedding, task = planted_problem
    # An embedding that tells nothing but the unseen classes apart must not look good.
    vectors = noise_like(embedding).vectors.copy()
    rows = [embedding.labels.index(label) for label in task.unseen]
    vectors[rows] = embedding.vectors[rows]
    cheat = LabelEmbedding(embedding.labels, vectors)
    frame = evaluate(
        {"variants": {"cheat": cheat, "good": embedding}},
        {"eszsl": SMALL["eszsl"]},
        [task],
        seeds=[0, 1, 2],
    )
    assert set(frame["variant"]) == {"good"}
    # and other images of the unseen classes change nothing that is chosen
    X = task.X.copy()
    X[np.isin(task.y, task.unseen)] = 0
    blank = type(task)("blank", X, task.y, task.seen, task.unseen)
    other = evaluate(
        {"variants": {"cheat": cheat, "good": embedding}},
        {"eszsl": SMALL["eszsl"]},
        [blank],
        seeds=[0, 1, 2],
    )
    same = ["variant", "parameters", "validation_accuracy"]
    pd.testing.assert_frame_equal(frame[same], other[same])


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


def test_what_is_missing_is_named_before_anything_is_learned(planted_problem):
    embedding, task = planted_problem
    part = embedding.select([x for x in embedding.labels if x != "class07"])
    with pytest.raises(UnknownLabelError, match=r"'e', variant 'v', .*'class07' of"):
        evaluate({"e": {"v": part}}, ["eszsl"], [task])
    with pytest.raises(OptionError, match="no variant"):
        evaluate({"e": {}}, ["eszsl"], [task])
    with pytest.raises(OptionError, match="one of eszsl, conse, sje"):
        evaluate({"e": embedding}, ["svm"], [task])
    for missing in [({}, SMALL, [task]), ({"e": embedding}, SMALL, [])]:
        with pytest.raises(OptionError, match="evaluate needs"):
            evaluate(*missing)
