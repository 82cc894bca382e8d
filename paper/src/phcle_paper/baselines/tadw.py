"""TADW, text-associated DeepWalk: relations factorised through the labels' features.

Yang et al., "Network representation learning with rich text information", IJCAI 2015.

M (labels, labels) is (A + A²)/2, where A holds the chances of one step from label to
label; see `proximity`. T (labels, features) is U·S of the uncentred SVD of the
descriptions, scaled to columns of length one on average; see `text_features`. Both
halves of a sweep solve their least squares exactly, so the objective never rises.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts import DescriptiveContext, RelationalContext, as_labels
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, ConvergenceWarning, OptionError, some
from phcle_paper.baselines.complete_contexts import is_fully_known, known_values
from phcle_paper.baselines.reduction import (
    NEGLIGIBLE,
    Floats,
    Matrix,
    check_dim,
    left_singular,
)

__all__ = ["factorise", "proximity", "tadw_embedding", "text_features"]


def tadw_embedding(
    relational: RelationalContext,
    descriptive: DescriptiveContext,
    *,
    labels: Iterable[Any] | None = None,
    dim: int = 100,
    ridge: float = 0.2,
    feature_dim: int = 200,
    max_iter: int = 500,
    tol: float = 1e-6,
    random_state: int = 0,
    names: Mapping[str, str] | None = None,
) -> LabelEmbedding:
    """TADW: minimise ‖M − W Zᵀ‖² + λ/2 (‖W‖² + ‖H‖²) with Z = T Hᵀ; returns [W, Z].

    Parameters
    ----------
    relational, descriptive
        Both contexts must know a label: who is missing from one, or has an unknown
        value, is left out, and so are the counts with such labels.
    labels
        Which labels, in which order; then a label that is missing is an error.
    dim
        Length of the whole vector, half of it W and half Z; an even number.
    ridge
        λ. A direction in which M T is weaker than λ/2 gets nothing.
    feature_dim
        Columns of T at most.
    max_iter, tol
        Stop when a sweep lowers the objective by less than this share of it.
    random_state
        Seed of the start of H (dim/2, features).
    names
        Readable names of labels.
    """
    _check(dim=dim, feature_dim=feature_dim, ridge=ridge, max_iter=max_iter)
    kept, M, values = _both_contexts(relational, descriptive, labels)
    T = text_features(values, feature_dim)
    start = np.random.default_rng(random_state).standard_normal((dim // 2, T.shape[1]))
    W, H, history = factorise(M, T, start, ridge, max_iter=max_iter, tol=tol)
    return LabelEmbedding(
        kept,
        np.hstack([W, T @ H.T]),
        names=dict(names or {}),
        options={
            "method": "TADW",
            "contexts": [relational.name, descriptive.name],
            "dim": dim,
            "ridge": ridge,
            "feature_dim": feature_dim,
            "max_iter": max_iter,
            "tol": tol,
            "random_state": random_state,
        },
        history=tuple(
            {"iteration": float(i), "objective": x} for i, x in enumerate(history)
        ),
    )


def proximity(context: RelationalContext, labels: tuple[str, ...]) -> sp.csr_array:
    """M = (A + A²)/2 (labels, labels), with A one random step between these labels.

    If the columns of the context are its labels, A is the counts, each row divided by
    its sum. If they are something else (ancestors, words), a step leads from a label
    to a column and back to a label, each in proportion to the counts, and never back
    to where it began. A label without a count to any other has an empty row.
    """
    counts = context.rows_for(labels)
    if set(context.columns) == set(context.labels):
        position = {column: i for i, column in enumerate(context.columns)}
        step = sp.csr_array(counts[:, [position[label] for label in labels]])
    else:
        step = sp.csr_array(_row_shares(counts) @ _row_shares(sp.csr_array(counts.T)))
        step.setdiag(0.0)
        step.eliminate_zeros()
    step = _row_shares(step)
    return sp.csr_array((step + step @ step) / 2)


def text_features(values: Matrix, feature_dim: int) -> Floats:
    """T (labels, features): orthogonal columns, of length one on average.

    At most `feature_dim`, and no more than the rank of the descriptions.
    """
    left, strength = left_singular(values, feature_dim)
    if not strength.any():
        raise ContextError("all descriptions are zero, so they tell no labels apart.")
    strength = strength[strength > NEGLIGIBLE * strength[0]]
    return np.asarray(
        left[:, : len(strength)] * strength / np.sqrt(np.mean(strength**2))
    )


def factorise(
    M: sp.csr_array, T: Floats, H: Floats, ridge: float, *, max_iter: int, tol: float
) -> tuple[Floats, Floats, list[float]]:
    """W (labels, k), H (k, features) and the objective after each sweep.

    Alternates exact solutions, beginning with W for the given H. The columns of T must
    be orthogonal, which makes the equations of H separate.
    """
    equations = _Equations(
        MT=np.asarray(M @ T),
        column_energy=(T**2).sum(axis=0),
        square=float((M.data**2).sum()),
        half=ridge / 2,
    )
    history: list[float] = []
    for _ in range(max_iter):
        W = equations.solve_labels(H)
        if not history:
            history.append(equations.objective(W, H))
        H = equations.solve_features(W)
        history.append(equations.objective(W, H))
        if history[-2] - history[-1] <= tol * abs(history[-1]):
            return W, H, history
    warnings.warn(
        f"TADW has not converged after {max_iter} sweeps; raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return W, H, history


@dataclass(frozen=True, eq=False)
class _Equations:
    """The least squares of both factors, without a dense (labels, labels)."""

    MT: Floats  # M T (labels, features)
    column_energy: Floats  # (features,), the diagonal of TᵀT
    square: float  # ‖M‖²
    half: float  # λ/2

    def solve_labels(self, H: Floats) -> Floats:
        """W (labels, k) for this H."""
        gram = (H * self.column_energy) @ H.T  # ZᵀZ
        return np.asarray(
            np.linalg.solve(gram + self.half * np.eye(len(H)), H @ self.MT.T).T
        )

    def solve_features(self, W: Floats) -> Floats:
        """H (k, features) for this W.

        WᵀW h t² + λ/2 h = Wᵀ(M T), column by column, in the eigenbasis of WᵀW.
        """
        energy, basis = np.linalg.eigh(W.T @ W)
        right = basis.T @ (W.T @ self.MT)
        shares = right / (np.outer(energy, self.column_energy) + self.half)
        return np.asarray(basis @ shares)

    def objective(self, W: Floats, H: Floats) -> float:
        """‖M − W H Tᵀ‖² written out, and the penalties."""
        fit = np.vdot(W.T @ W, (H * self.column_energy) @ H.T)
        fit -= 2 * np.vdot(W.T @ self.MT, H)
        penalty = self.half * (np.vdot(W, W) + np.vdot(H, H))
        return float(self.square + fit + penalty)


def _check(*, dim: int, feature_dim: int, ridge: float, max_iter: int) -> None:
    """Refuse options that no factorisation can have."""
    check_dim(dim, must_be_even=True)
    check_dim(feature_dim)
    for option, value in (("ridge", ridge), ("max_iter", max_iter)):
        if not (np.isfinite(value) and value > 0):
            raise OptionError(f"{option} must be above 0. Got {value!r} instead.")


def _row_shares(counts: sp.csr_array) -> sp.csr_array:
    """Each row divided by its sum; an empty row stays empty."""
    mass = np.asarray(counts.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(1 / np.where(mass > 0, mass, 1)) @ counts)


def _both_contexts(
    relational: RelationalContext,
    descriptive: DescriptiveContext,
    wanted: Iterable[Any] | None,
) -> tuple[tuple[str, ...], sp.csr_array, Matrix]:
    """Labels that both contexts know in full, M, and the descriptions."""
    if wanted is None:
        labels = tuple(dict.fromkeys((*relational.labels, *descriptive.labels)))
    else:
        labels = as_labels(wanted, "labels")
    relational = relational.naming_also(labels)
    known = set(relational.observed_labels) & set(descriptive.observed_labels)
    kept = _complete(tuple(x for x in labels if x in known), descriptive, wanted)
    _, values = known_values(descriptive, kept)
    return kept, proximity(relational, kept), values


def _complete(
    found: tuple[str, ...],
    descriptive: DescriptiveContext,
    wanted: Iterable[Any] | None,
) -> tuple[str, ...]:
    """Labels in both contexts with all values known; wanted ones must be among them."""
    full = is_fully_known(descriptive)
    kept = tuple(label for label in found if full[descriptive.index[label]])
    if wanted is not None:
        missing = [x for x in as_labels(wanted, "labels") if x not in set(kept)]
        if missing:
            raise ContextError(
                "TADW needs both contexts in full, but they are incomplete for "
                f"{some(missing)}; leave them out of labels=."
            )
    if not kept:
        raise ContextError(
            "no label has counts and all its descriptions; TADW needs both in full."
        )
    return kept
