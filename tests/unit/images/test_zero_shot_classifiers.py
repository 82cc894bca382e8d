from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from phcle import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError
from phcle.images import ESZSL, SJE, ConSE, mean_class_accuracy

CLASSIFIERS = [ESZSL, ConSE, SJE]


@pytest.fixture(params=CLASSIFIERS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def test_unseen_classes_are_recognised_well_above_chance(kind, planted_problem):
    embedding, task = planted_problem
    model = kind(embedding).fit(*task.images(task.seen))
    X, y = task.images(task.unseen)
    assert set(model.candidates_) == set(task.unseen)
    assert mean_class_accuracy(y, model.predict(X)) > 0.6  # chance: 1/6


def test_scores_have_a_column_per_candidate_in_the_order_given(kind, planted_problem):
    embedding, task = planted_problem
    wanted = [task.unseen[2], task.seen[0], task.unseen[0]]
    model = kind(embedding, candidates=wanted).fit(*task.images(task.seen))
    scores = model.decision_function(task.X)
    assert model.candidates_.tolist() == wanted
    assert scores.shape == (len(task.X), 3)
    np.testing.assert_array_equal(
        model.predict(task.X), np.array(wanted)[scores.argmax(axis=1)]
    )
    whole = kind(embedding, candidates="all").fit(*task.images(task.seen))
    columns = [embedding.labels.index(label) for label in wanted]
    np.testing.assert_allclose(
        scores, whole.decision_function(task.X)[:, columns], atol=1e-10
    )


@pytest.mark.parametrize(("n", "p"), [(30, 4), (8, 20)])
def test_eszsl_is_the_minimum_of_its_objective(rng, n, p):
    z, d = 5, 3
    X, S = scale(rng.normal(size=(n, p))), rng.normal(size=(z, d))
    codes = np.r_[np.arange(z), rng.integers(z, size=n - z)]
    labels = tuple("abcdefg")
    new = rng.normal(size=(2, d))
    model = ESZSL(
        LabelEmbedding(labels, np.vstack([S, new])),
        feature_ridge=0.3,
        class_ridge=0.7,
        normalize="none",
    ).fit(X, np.array(labels)[codes])
    gamma = 0.3 * (X**2).sum() / n
    lam = 0.7 * (S**2).sum() / z
    Y = np.where(codes[:, None] == np.arange(z), 1.0, -1.0)
    # The normal equations of ‖XVSᵀ − Y‖² + γ‖VSᵀ‖² + λ‖XV‖² + γλ‖V‖², with the product
    # of Kronecker written out.
    left = np.kron(X.T @ X + gamma * np.eye(p), S.T @ S + lam * np.eye(d))
    V = np.linalg.solve(left, (X.T @ Y @ S).ravel()).reshape(p, d)
    np.testing.assert_allclose(model.decision_function(X), X @ V @ new.T, atol=1e-10)


@pytest.mark.parametrize("top", [4, 1000])
def test_conse_matches_a_loop_over_images(planted_problem, top):
    embedding, task = planted_problem
    X, y = scale(task.images(task.seen)[0]), task.images(task.seen)[1]
    model = ConSE(embedding, top=top, C=0.1).fit(X, y)
    logistic = LogisticRegression(C=0.1, tol=1e-3, max_iter=1000).fit(X, y)
    new = task.images(task.unseen)[0][::7]
    expected = np.zeros((len(new), len(task.unseen)))
    for i, x in enumerate(new):
        probability = dict(
            zip(logistic.classes_, logistic.predict_proba([x])[0], strict=True)
        )
        best = sorted(probability, key=probability.get, reverse=True)[:top]
        total = sum(probability[label] for label in best)
        mean = sum(probability[label] * embedding[label] for label in best) / total
        for j, label in enumerate(model.candidates_):
            s = embedding[label]
            cosine = mean @ s / np.linalg.norm(mean) / np.linalg.norm(s)
            expected[i, j] = cosine
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-8)


@pytest.mark.parametrize(("batch_size", "dim"), [(1, 6), (7, 40)])
def test_sje_matches_a_loop_over_images_for_one_epoch(rng, batch_size, dim):
    labels = tuple("abcdefgh")
    embedding = LabelEmbedding(labels, rng.normal(size=(8, dim)))
    X = scale(rng.normal(size=(33, 5)))
    y = np.array(labels[:6])[np.r_[np.arange(6), rng.integers(6, size=27)]]
    model = SJE(
        embedding,
        step=3.0,
        epochs=1,
        batch_size=batch_size,
        random_state=4,
    ).fit(X, y)
    step = 3.0 / np.mean([x @ x for x in X])
    unit = {
        label: embedding[label] / np.linalg.norm(embedding[label])
        for label in "abcdefgh"
    }
    W, kept = np.zeros((5, dim)), []
    order = np.random.RandomState(4).permutation(33)
    for start in range(0, 33, batch_size):
        rows = order[start : start + batch_size]
        change = np.zeros_like(W)
        for row in rows:
            x, right = X[row], y[row]
            worst, most = right, 0.0
            for other in labels[:6]:
                lead = x @ W @ (unit[other] - unit[right]) + (other != right)
                if lead > most + 1e-12:
                    worst, most = other, lead
            change += np.outer(x, unit[right] - unit[worst]) / len(rows)
        W = W + step * change
        kept.append(W)
    mean = np.mean(kept, axis=0)
    expected = np.array([[x @ mean @ unit[c] for c in "gh"] for x in X])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_a_penalty_is_taken_off_seen_candidates_alone(kind, planted_problem):
    embedding, task = planted_problem
    X, y = task.images(task.seen)
    plain = kind(embedding, candidates="all").fit(X, y)
    lowered = kind(embedding, candidates="all", seen_penalty=0.25).fit(X, y)
    taken = plain.decision_function(X) - lowered.decision_function(X)
    is_seen = np.isin(plain.candidates_, task.seen)
    np.testing.assert_allclose(taken[:, is_seen], 0.25, atol=1e-6)
    np.testing.assert_allclose(taken[:, ~is_seen], 0.0)


def test_class_without_a_vector_is_named(kind, planted_problem):
    embedding, task = planted_problem
    X, y = task.images(task.seen)
    y = np.where(y == "class03", "clas03", y)
    with pytest.raises(UnknownLabelError, match=r"'clas03' of the classes of y.*class"):
        kind(embedding).fit(X, y)
    with pytest.raises(UnknownLabelError, match="'elk' of candidates"):
        kind(embedding, candidates=["elk"]).fit(*task.images(task.seen))
    with pytest.raises(OptionError, match="no unseen class is left"):
        kind(embedding.select(task.seen)).fit(*task.images(task.seen))


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (ESZSL, {"feature_ridge": 0}, "feature_ridge must be a number above 0"),
        (ESZSL, {"class_ridge": "1"}, "class_ridge must be a number above 0"),
        (ConSE, {"top": 2.5}, "top must be a whole number above 0"),
        (ConSE, {"C": -1}, "C must be"),
        (SJE, {"epochs": 0}, "epochs must be"),
        (SJE, {"step": float("nan")}, "step must be"),
        (SJE, {"normalize": "l1"}, "normalize must be one of l2"),
        (ESZSL, {"seen_penalty": "auto"}, "seen_penalty must be a number"),
        (SJE, {"seen_penalty": float("nan")}, "seen_penalty must be a number"),
        (ESZSL, {"candidates": "none"}, "candidates, where .* one of unseen, all"),
        (ESZSL, {"candidates": []}, "candidates must name one label"),
        (ESZSL, {"embedding": {"a": 1}}, "embedding must be a LabelEmbedding"),
    ],
)
def test_wrong_options_are_refused_by_fit(planted_problem, kind, options, words):
    embedding, task = planted_problem
    model = kind(**{"embedding": embedding, **options})
    with pytest.raises(OptionError, match=words):
        model.fit(*task.images(task.seen))


def test_unfitted_sparse_and_misshapen_input_is_refused(kind, planted_problem):
    embedding, task = planted_problem
    X, y = task.images(task.seen)
    with pytest.raises(NotFittedError):
        kind(embedding).predict(X)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        kind(embedding).fit(sp.csr_array(X), y)
    with pytest.raises(OptionError, match="two classes or more"):
        kind(embedding).fit(X[:5], [y[0]] * 5)
    model = kind(embedding).fit(X, y)
    with pytest.raises(ValueError, match="expecting 20 features"):
        model.predict(X[:, :3])
