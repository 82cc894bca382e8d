"""Known attributes of single pictures against plain least squares."""

from __future__ import annotations

import numpy as np

from phcle import PHCLE, DescriptiveContext
from phcle.images import ImageMap, TrainingImages
from phcle_paper.studies.picture_attributes import PictureAttributes


def test_own_attributes_move_vectors_where_the_best_fit_lies(rng):
    labels = tuple("abcdef")
    described = DescriptiveContext("looks", labels, tuple("uvwxy"), rng.random((6, 5)))
    model = PHCLE(dim=4, ridge=1.0, backend="numpy", completion="none")
    embedding = model.fit(described).embedding_
    y = np.repeat(labels, 15)
    X = rng.normal(size=(90, 20))
    images = TrainingImages(X, y)
    context = embedding.contexts[0]
    own = rng.random((90, 5))
    own[3, 2] = np.nan
    found = PictureAttributes(images, embedding, "looks", own, pull=0.5)
    U = context.factor.astype(float)
    dim = U.shape[1]
    rho = 0.5 * np.trace(U.T @ U) / dim
    away = []
    for a, label in zip(own, y, strict=True):
        s = embedding[label].astype(float)
        a = (a - context.offset) / context.scale
        a = np.where(np.isnan(a), U @ s, a)
        rows = np.vstack([U, np.sqrt(rho) * np.eye(dim)])
        target = np.concatenate([a, np.sqrt(rho) * s])
        away.append(np.linalg.lstsq(rows, target, rcond=None)[0] - s)
    away = np.array(away)
    np.testing.assert_allclose(found.mean, away.mean(axis=0), atol=1e-8)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    gamma = 3.0 * (Z**2).sum() / len(Z)
    expected = np.linalg.solve(
        Z.T @ Z + gamma * np.eye(20), Z.T @ (away - away.mean(axis=0))
    )
    np.testing.assert_allclose(found.weights(3.0), expected, atol=1e-8)
    image_map = ImageMap.fit(images, None, embedding)
    moved = found.improve(image_map, 3.0).vectors(X) - image_map.vectors(X)
    np.testing.assert_allclose(moved, found.mean + Z @ expected, atol=1e-8)
