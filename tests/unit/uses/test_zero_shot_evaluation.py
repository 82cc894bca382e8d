from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD

from phcle import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError
from phcle.images import (
    ESZSL,
    SEARCHES,
    SJE,
    ConSE,
    Search,
    compare,
    evaluate,
    mean_class_accuracy,
    resplits,
    select,
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
            for feature_choice in search.feature_grid:
                for class_choice in search.class_grid:
                    chosen = {**feature_choice, **class_choice}
                    scores = []
                    for split in splits:
                        model = search.classifier(
                            vectors, candidates=split.unseen, **chosen
                        ).fit(*split.images(split.seen))
                        X, y = split.images(split.unseen)
                        scores.append(mean_class_accuracy(y, model.predict(X)))
                    found[variant, tuple(sorted(chosen.items()))] = np.mean(scores)
        choice = select(search, variants, splits)["own"]
        assert choice.accuracy == pytest.approx(max(found.values()))
        key = choice.variant, tuple(sorted(choice.parameters.items()))
        assert found[key] == pytest.approx(choice.accuracy)
        assert choice.variant == "good"


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


def test_seeds_repeat_and_given_validation_classes_do_not_change_with_them(
    planted_problem,
):
    embedding, task = planted_problem
    fixed = type(task)(
        "fixed", task.X, task.y, task.seen, task.unseen, validation=task.seen[:6]
    )
    run = [
        evaluate({"e": embedding}, {"sje": SMALL["sje"]}, [task, fixed], seeds=[0, 3])
        for _ in range(2)
    ]
    pd.testing.assert_frame_equal(*run)
    deterministic = evaluate(
        {"e": embedding}, {"eszsl": SMALL["eszsl"]}, [fixed], seeds=[0, 3]
    )
    assert deterministic["accuracy"].nunique() == 1


def test_generalised_answers_are_among_all_classes(planted_problem):
    embedding, task = planted_problem
    frame = evaluate({"e": embedding}, SMALL, [task], generalised=True)
    assert (frame["unseen"] <= frame["accuracy"] + 1e-12).all()
    harmonic = 2 / (1 / frame["seen"] + 1 / frame["unseen"].clip(lower=1e-9))
    np.testing.assert_allclose(frame["harmonic"], harmonic, atol=1e-6)
    assert frame["seen"].min() > 0.1  # chance: 1/30


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
    with pytest.raises(OptionError, match="among eszsl, conse, sje"):
        evaluate({"e": embedding}, ["svm"], [task])
    for missing in [({}, SMALL, [task]), ({"e": embedding}, SMALL, [])]:
        with pytest.raises(OptionError, match="evaluate needs"):
            evaluate(*missing)


def test_default_searches_only_name_options_that_exist(planted_problem):
    embedding, _ = planted_problem
    for search in SEARCHES.values():
        known = search.classifier(embedding).get_params()
        assert {*search.grid, *search.options} <= set(known)
        assert set(search.classifier.feature_parameters) <= set(known)


def test_real_features_beat_chance_with_a_hierarchy(tiny_imagenet, imagenet):
    counts = imagenet.hierarchy().counts
    vectors = TruncatedSVD(50, random_state=0).fit_transform(counts)
    embedding = LabelEmbedding(imagenet.hierarchy().labels, vectors)
    searches = {
        "eszsl": Search(ESZSL, {"class_ridge": [0.1, 1.0]}, {"feature_ridge": 10.0}),
        "conse": Search(ConSE, {"top": [3, 10]}, {"C": 0.001}),
        "sje": Search(SJE, {"epochs": [1]}),
    }
    frame = evaluate({"hierarchy": embedding}, searches, [tiny_imagenet])
    assert frame["accuracy"].min() > 0.1  # chance: 1/50
