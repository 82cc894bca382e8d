"""SJE: structured joint embedding (Akata et al., CVPR 2015).

An image x scores x W s for a class with vector s. For every image, find the seen class
that violates the margin most,

    y* = argmax_y  margin · [y ≠ y_x] + x W s_y,

and move W along x (s_{y_x} − s_{y*})ᵀ. The result is the average of W over all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from phcle.arrays import AnyFloats
from phcle.uses.zero_shot.classifier import ZeroShotClassifier, positive
from phcle.uses.zero_shot.image_features import FeatureSide, TrainingImages

Positions = npt.NDArray[np.intp]


@dataclass(repr=False, eq=False, kw_only=True)
class SJE(ZeroShotClassifier):
    """Structured joint embedding: a bilinear map trained to rank the right class first.

    Parameters
    ----------
    embedding : LabelEmbedding
        One vector for every seen and every candidate class.
    candidates : "unseen", "all" or sequence of str, default "unseen"
        The classes that `predict` chooses among.
    seen_penalty : float or "auto", default 0.0
        Subtracted from the scores of seen classes; see `ESZSL`.
    normalize : {"l2", "center", "none"}, default "l2"
        How class vectors are scaled; see `class_matrix`.
    features : {"standardize", "l2", "none"}, default "standardize"
        How features are scaled; see `ESZSL`.
    step : float, default 10.0
        Length of a step, divided by the mean squared length of an image's features. W
        starts at zero, so only `step / margin` matters for the answers.
    epochs : int, default 3
        How often every image is visited. Stopping early is the only regularisation.
    margin : float, default 1.0
        By how much the right class must lead.
    batch_size : int, default 100
        Number of images in a step, which moves W by their mean.
    random_state : int, RandomState instance or None, default 0
        Order in which images are visited.

    Attributes
    ----------
    losses_ : list of float
        Mean ranking loss of each epoch.
    classes_ : ndarray of str
        The seen classes.
    candidates_ : ndarray of str
        The candidate classes, in the order of the columns of scores.
    seen_penalty_ : float
        The penalty in use.

    Examples
    --------
    >>> from phcle import LabelEmbedding
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), np.array([[1, 0], [0, 1], [1, 1]]))
    >>> model = SJE(pets, features="none").fit([[1, 0], [0, 1]], ["cat", "dog"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['fox']
    """

    feature_parameters = ("features",)
    # Steps from 0.1 to 10 gave the same accuracy; the number of epochs matters.
    grid = MappingProxyType({"epochs": [1, 3, 10], "normalize": ["l2", "center"]})

    step: float = 10.0
    epochs: int = 3
    margin: float = 1.0
    batch_size: int = 100
    random_state: int | np.random.RandomState | None = 0

    def feature_side(self, images: TrainingImages) -> FeatureSide:
        """Fit the scaling of the features."""
        return images.scaling(self.features)

    def decide(self, readings: AnyFloats) -> AnyFloats:
        """Score by the bilinear map."""
        return np.asarray(readings @ self.map_)

    def _check_options(self) -> None:
        for name in ("step", "margin"):
            positive(name, getattr(self, name))
        for name in ("epochs", "batch_size"):
            positive(name, getattr(self, name), whole=True)

    def _learn_classes(
        self, images: TrainingImages, seen: AnyFloats, candidates: AnyFloats
    ) -> None:
        X = self.feature_side_.apply(images.X)
        basis = np.eye(seen.shape[1])
        if seen.shape[0] < seen.shape[1]:
            # W stays within the span of the seen classes. With long vectors the steps
            # are cheaper in a basis of that span.
            basis = np.linalg.qr(seen.T)[0]
        # One thread: the products are small, and on a busy machine threads that wait
        # for each other are slower.
        with threadpool_limits(1):
            W, self.losses_ = self._descend(X, images.codes, seen @ basis)
        self.map_ = (W @ (candidates @ basis).T).astype(X.dtype)  # (p, candidates)

    def _descend(
        self, X: AnyFloats, codes: Positions, seen: AnyFloats
    ) -> tuple[AnyFloats, list[float]]:
        """Average of W (p, dim) over all steps, and the mean loss of each epoch."""
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
        self, X: AnyFloats, codes: Positions, S: AnyFloats, W: AnyFloats
    ) -> tuple[AnyFloats, AnyFloats]:
        """Ranking loss per image, and s_right − s_worst (zero where the margin holds).

        Where the right class leads by the margin it is its own y*, so both are zero.
        """
        images = np.arange(len(X))
        scores = (X @ W) @ S.T + self.margin  # (images, seen)
        scores[images, codes] -= self.margin
        worst = scores.argmax(axis=1)
        # At equal scores the right class wins, so that nothing is violated.
        worst = np.where(scores[images, worst] > scores[images, codes], worst, codes)
        return scores[images, worst] - scores[images, codes], S[codes] - S[worst]
