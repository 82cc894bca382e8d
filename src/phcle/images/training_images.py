"""The image side of zero-shot learning: all that does not depend on class vectors.

Many embeddings are tested on the same images. Slow steps (an eigendecomposition, a
logistic regression) are computed once for a set of images and kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y
from threadpoolctl import threadpool_limits

from phcle.arrays import AnyFloats
from phcle.contexts.labels import as_labels
from phcle.errors import OptionError, check_choice

Value = TypeVar("Value")

SCALINGS = ("standardize", "none")
PRECISIONS = (np.float64, np.float32)


def as_features(X: Any, width: int, owner: object) -> AnyFloats:
    """Check features and return them in single or double precision.

    Parameters
    ----------
    X : array of shape (images, features)
        Features of images.
    width : int
        The number of features that each image must have.
    owner : object
        What takes them, for the message.

    Returns
    -------
    ndarray of shape (images, features)
        The same numbers; half precision becomes double precision.
    """
    found = np.asarray(check_array(X, dtype=PRECISIONS))
    if found.shape[1] != width:
        raise OptionError(
            f"X has {found.shape[1]} features, but {type(owner).__name__} is expecting "
            f"{width} features as input; use the network of the training images."
        )
    return found


def ridge_path(X: AnyFloats, Y: AnyFloats) -> Callable[[float], AnyFloats]:
    """Return the ridge regression of Y on X as a function of its penalty.

    One eigendecomposition, of the smaller of XᵀX and XXᵀ, makes every penalty cheap.

    Parameters
    ----------
    X : ndarray of shape (images, features)
        Scaled features.
    Y : ndarray of shape (images, targets)
        What the regression predicts.

    Returns
    -------
    callable
        Gives the weights (features, targets) for a penalty in units of the mean squared
        length of a row of X.

    Examples
    --------
    >>> weights = ridge_path(np.eye(2), np.eye(2))
    >>> weights(1.0).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    X = X.astype(np.float64)
    unit = float((X**2).sum() / len(X)) or 1.0
    # One thread: on a busy machine, BLAS threads that wait for each other make the
    # decomposition thirty times slower. On an idle one, more threads help little.
    with threadpool_limits(1):
        if X.shape[0] < X.shape[1]:
            values, vectors = np.linalg.eigh(X @ X.T)
            left, right = X.T @ vectors, vectors.T @ Y
        else:
            values, left = np.linalg.eigh(X.T @ X)
            right = left.T @ (X.T @ Y)

    def weights(ridge: float) -> AnyFloats:
        return np.asarray(left @ (right / (values.clip(0) + ridge * unit)[:, None]))

    return weights


class TrainingImages:
    """Images of seen classes, with the intermediate results computed from them so far.

    Pass the same object to `fit` of several classifiers, and each slow step is computed
    once.

    Parameters
    ----------
    X : array of shape (images, features)
        Features of the images.
    y : array of shape (images,)
        Their classes; there must be two or more.

    Attributes
    ----------
    X : ndarray of shape (images, features)
        The features.
    classes : ndarray of str
        The classes, sorted.
    codes : ndarray of int, shape (images,)
        Position of each image's class in `classes`.

    Examples
    --------
    >>> images = TrainingImages([[0.0], [1.0], [2.0]], ["cat", "dog", "cat"])
    >>> images.classes.tolist(), images.codes.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """

    def __init__(self, X: Any, y: Any) -> None:
        X, y = check_X_y(X, y, dtype=PRECISIONS)
        check_classification_targets(y)
        values, codes = np.unique(y, return_inverse=True)
        self.X: AnyFloats = X
        self.codes: npt.NDArray[np.intp] = codes
        self.classes = np.array(as_labels(values.tolist(), "y"))
        if len(self.classes) < 2:
            only = str(self.classes[0])
            raise OptionError(
                f"y must have two classes or more. Got one class, {only!r}."
            )
        self._computed: dict[tuple[Any, ...], Any] = {}

    def scaling(self, kind: str) -> Any:
        """Return the scaling fitted to these images.

        Parameters
        ----------
        kind : {"standardize", "none"}
            "standardize" gives every feature mean zero and variance one.

        Returns
        -------
        StandardScaler
            The scaling.
        """
        check_choice("features", kind, SCALINGS)
        is_scaled = kind == "standardize"
        scaling = StandardScaler(with_mean=is_scaled, with_std=is_scaled)
        return self._once(("scaling", kind), lambda: scaling.fit(self.X))

    def ridge_weights(self, kind: str, ridge: float) -> AnyFloats:
        """Return the weights of the ridge regression of the classes on the features.

        The target of a class is 1 for its own images and −1 for the others.

        Parameters
        ----------
        kind : {"standardize", "none"}
            How to scale the features.
        ridge : float
            γ, in units of the mean squared length of an image's scaled features.

        Returns
        -------
        ndarray of shape (features, classes)
            The weights.
        """

        def decompose() -> Callable[[float], AnyFloats]:
            Y = np.where(self.codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0)
            return ridge_path(self.scaling(kind).transform(self.X), Y)

        weights = self._once(("path", kind), decompose)
        return self._once(("ridge", kind, ridge), lambda: weights(ridge))

    def logistic(self, kind: str, C: float) -> Any:
        """Return a multinomial logistic regression of the classes on the features.

        Parameters
        ----------
        kind : {"standardize", "none"}
            How to scale the features.
        C : float
            Inverse of the penalty.

        Returns
        -------
        sklearn.linear_model.LogisticRegression
            The fitted regression; its classes are `codes`.
        """

        def compute() -> Any:
            # A tighter tolerance changes the accuracy of ConSE by less than half a
            # point and takes several times as long.
            model = LogisticRegression(C=C, tol=1e-3, max_iter=1000)
            with threadpool_limits(1):  # as in ridge_path
                return model.fit(self.scaling(kind).transform(self.X), self.codes)

        return self._once(("logistic", kind, C), compute)

    def _once(self, key: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """Compute a value the first time it is asked for."""
        if key not in self._computed:
            self._computed[key] = compute()
        found: Value = self._computed[key]
        return found
