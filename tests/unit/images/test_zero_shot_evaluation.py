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
        "classifier", "embedding", "task", "split", "seed", "parameters",
        "validation_accuracy", "accuracy", "n_seen", "n_unseen",
    ]  # fmt: skip
    keys = ["classifier", "split"]
    good, noise = (
        frame[frame["embedding"] == name].set_index(keys)["accuracy"]
        for name in ("good", "noise")
    )
    assert (good > noise + 0.2).all()


def test_selection_matches_a_plain_search_over_the_splits(planted_problem):
    embedding, task = planted_problem
    splits = validation_splits(task, 2)
    for search in SMALL.values():
        found = {}
        for chosen in ParameterGrid(search.grid):
            scores = []
            for split in splits:
                model = search.classifier(
                    embedding, candidates=split.unseen, **chosen
                ).fit(*split.images(split.seen))
                X, y = split.images(split.unseen)
                scores.append(mean_class_accuracy(y, model.predict(X)))
            found[tuple(sorted(chosen.items()))] = np.mean(scores)
        row = evaluate({"": embedding}, {"it": search}, [task], n_validation=2).iloc[0]
        assert row["validation_accuracy"] == pytest.approx(max(found.values()))
        key = tuple(sorted(row["parameters"].items()))
        assert found[key] == pytest.approx(row["validation_accuracy"])


def test_test_classes_take_no_part_in_the_choice(planted_problem):
    embedding, task = planted_problem
    # An embedding that tells nothing but the unseen classes apart must not look good.
    vectors = noise_like(embedding).vectors.copy()
    rows = [embedding.labels.index(label) for label in task.unseen]
    vectors[rows] = embedding.vectors[rows]
    cheat = LabelEmbedding(embedding.labels, vectors)
    searches = {"eszsl": SMALL["eszsl"]}
    both = {"cheat": cheat, "good": embedding}
    frame = evaluate(both, searches, [task])
    chosen = frame.loc[frame["validation_accuracy"].idxmax()]
    assert chosen["embedding"] == "good"
    # and other images of the unseen classes change nothing that is chosen
    X = task.X.copy()
    X[np.isin(task.y, task.unseen)] = 0
    blank = type(task)("blank", X, task.y, task.seen, task.unseen)
    other = evaluate(both, searches, [blank])
    same = ["embedding", "parameters", "validation_accuracy"]
    pd.testing.assert_frame_equal(frame[same], other[same])


def test_a_generalised_test_holds_out_images_of_seen_classes(planted_problem):
    embedding, task = planted_problem
    searches = {"eszsl": Search(ESZSL, {"feature_ridge": [10.0]})}
    frame = evaluate({"e": embedding}, searches, [task], generalised=True)
    row = frame.iloc[0]
    assert row["unseen"] <= row["accuracy"]
    assert 0 < row["harmonic"] <= max(row["seen"], row["unseen"])


def test_what_is_missing_is_named_before_anything_is_learned(planted_problem):
    embedding, task = planted_problem
    part = embedding.select([x for x in embedding.labels if x != "class07"])
    with pytest.raises(UnknownLabelError, match=r"embedding 'e' .*'class07' of task"):
        evaluate({"e": part}, ["eszsl"], [task])
    with pytest.raises(OptionError, match="one of eszsl, conse, sje"):
        evaluate({"e": embedding}, ["svm"], [task])
    for missing in [({}, SMALL, [task]), ({"e": embedding}, SMALL, [])]:
        with pytest.raises(OptionError, match="evaluate needs"):
            evaluate(*missing)
