"""SJE: structured joint embedding (Akata et al., CVPR 2015).

An image x scores x W s for a class with vector s. For every image the seen class that
violates the margin most is sought,

    y* = argmax_y  margin · [y ≠ y_x] + x W s_y,

and W moves along x (s_{y_x} − s_{y*})ᵀ. The average of W over all steps is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, positive
from phcle.uses.zero_shot.image_features import FeatureSide, Scaling, TrainingImages

__all__ = ["SJE"]

Floats = npt.NDArray[np.floating]
Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _ScaledSide:
    """The features themselves, at scale."""

    scaling: Scaling

    def read(self, X: Floats) -> Floats:
        return self.scaling.apply(X)


class SJE(ZeroShotClassifier):
    """A bilinear map learned by ranking the right class first.

    Parameters
    ----------
    embedding, candidates, seen_penalty, normalize, features
        As for `ESZSL`.
    step : float
        Length of a step, in units of one over the mean squared length of an image's
        features. W starts at zero, so only `step / margin` matters for the answers.
    epochs : int
        How often every image is visited; few, for the map is not penalised otherwise.
    margin : float
        By how much the right class must lead.
    batch_size : int
        Images per step; the step is their mean.
    random_state : int, RandomState instance or None
        Order in which images are visited.

    Attributes
    ----------
    losses_ : list of float
        Mean ranking loss met in every epoch.
    """

    feature_parameters = ("features",)

    def __init__(
        self,
        embedding: LabelEmbedding,
        *,
        candidates: str | Sequence[str] = "unseen",
        seen_penalty: float | str = 0.0,
        step: float = 10.0,
        epochs: int = 3,
        margin: float = 1.0,
        batch_size: int = 100,
        random_state: int | np.random.RandomState | None = 0,
        normalize: str = "l2",
        features: str = "standardize",
    ) -> None:
        self.embedding = embedding
        self.candidates = candidates
        self.seen_penalty = seen_penalty
        self.step = step
        self.epochs = epochs
        self.margin = margin
        self.batch_size = batch_size
        self.random_state = random_state
        self.normalize = normalize
        self.features = features

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """The scaling of the features."""
        return _ScaledSide(images.scaling(self.features))

    def decide(self, readings: Floats) -> Floats:
        """Scores by the bilinear map."""
        return np.asarray(readings @ self.map_)

    def _check_options(self) -> None:
        for name in ("step", "margin"):
            positive(name, getattr(self, name))
        for name in ("epochs", "batch_size"):
            positive(name, getattr(self, name), whole=True)

    def _learn_classes(
        self, images: TrainingImages, seen: Floats, candidates: Floats
    ) -> None:
        X = self.feature_side_.read(images.X)
        basis = np.eye(seen.shape[1])
        if seen.shape[0] < seen.shape[1]:
            # W only ever moves within the span of the seen classes: with long vectors
            # the same steps are cheaper in a basis of that span.
            basis = np.linalg.qr(seen.T)[0]
        # Small products: threads that wait for each other on a busy machine cost more
        # than they bring.
        with threadpool_limits(1):
            W, self.losses_ = self._descend(X, images.codes, seen @ basis)
        self.map_ = (W @ (candidates @ basis).T).astype(X.dtype)  # (p, candidates)

    def _descend(
        self, X: Floats, codes: Positions, seen: Floats
    ) -> tuple[Floats, list[float]]:
        """Average of W (p, dim) over all steps, and the loss met in every epoch."""
        random = check_random_state(self.random_state)
        S = seen.astype(X.dtype)
        step = self.step / (float((X**2).sum() / len(X)) or 1.0)
        W = np.zeros((X.shape[1], S.shape[1]), X.dtype)
        total = np.zeros_like(W)
        losses, n_steps = [], 0
        for _ in range(self.epochs):
            order = random.permutation(len(X))
            loss = 0.0
            for start in range(0, len(X), self.batch_size):
                rows = order[start : start + self.batch_size]
                batch = X[rows]
                violations, pull = self._violations(batch, codes[rows], S, W)
                loss += float(violations.sum())
                W += (step / len(rows)) * (batch.T @ pull)
                total += W
                n_steps += 1
            losses.append(loss / len(X))
        return np.asarray(total / n_steps), losses

    def _violations(
        self, X: Floats, codes: Positions, S: Floats, W: Floats
    ) -> tuple[Floats, Floats]:
        """Ranking loss per image, and s_right − s_worst (zero where the margin holds).

        Where the right class leads by the margin it is its own y*, so both are zero.
        """
        images = np.arange(len(X))
        scores = (X @ W) @ S.T + self.margin  # (images, seen)
        scores[images, codes] -= self.margin
        worst = scores.argmax(axis=1)
        # At equal scores the right class wins: nothing is violated.
        worst = np.where(scores[images, worst] > scores[images, codes], worst, codes)
        return scores[images, worst] - scores[images, codes], S[codes] - S[worst]
