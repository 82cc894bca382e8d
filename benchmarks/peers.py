"""Peers that factorise the same counts, each minimising a loss of its own.

A peer is prepared outside the clock (imports) and then trained inside it, from D to
W and C. None of them knows our objective.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from phcle.contexts.counts import RelationalContext

Floats = npt.NDArray[np.floating]
Train = Callable[[RelationalContext, int], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Peer:
    """A title for the table, and a function that imports the peer."""

    title: str
    prepare: Callable[[], Train]


def prepare_pmi() -> Train:
    """Positive PMI and a randomised SVD."""
    from sklearn.utils.extmath import randomized_svd

    def train(data: RelationalContext, dim: int) -> tuple[Floats, Floats]:
        D = sp.coo_array(data.rows)
        i, j = D.coords
        pmi = np.log(D.data * data.total / (data.masses[0][i] * data.column_mass[j]))
        positive = sp.csr_array((np.maximum(pmi, 0.0), (i, j)), shape=D.shape)
        left, strength, right = randomized_svd(positive, dim, random_state=0)
        root = np.sqrt(strength)
        return left * root, right.T * root

    return train


def prepare_implicit() -> Train:
    """Logistic matrix factorisation; its two bias columns are part of W and C."""
    from implicit.lmf import LogisticMatrixFactorization
    from threadpoolctl import threadpool_limits

    def train(data: RelationalContext, dim: int) -> tuple[Floats, Floats]:
        # implicit has threads of its own and asks that BLAS has none beside them.
        with threadpool_limits(1, "blas"):
            model = LogisticMatrixFactorization(dim, iterations=30, random_state=0)
            counts = sp.csr_matrix(data.rows, dtype=np.float32)
            model.fit(counts, show_progress=False)
        return model.user_factors, model.item_factors

    return train


def prepare_gensim() -> Train:
    """Skip-gram with negative sampling, on (label, column) pairs drawn from D.

    As many two-word sentences as D has counts, each pair in proportion to D. Negatives
    come from labels and columns alike, by frequency, so 20 of them are 10 per side, as
    in our k.
    """
    from gensim.models import Word2Vec

    def train(data: RelationalContext, dim: int) -> tuple[Floats, Floats]:
        model = Word2Vec(
            [[f"w{i}", f"c{j}"] for i, j in draw_pairs(data)],
            vector_size=dim,
            sg=1,
            window=1,
            negative=20,
            ns_exponent=1.0,
            sample=0,
            min_count=1,
            epochs=5,
            seed=0,
            workers=os.cpu_count() or 1,
        )
        names, (n_labels, n_columns) = model.wv.index_to_key, data.rows.shape
        W = rows_by_name(model.wv.vectors, names, "w", n_labels)
        return W, rows_by_name(model.syn1neg, names, "c", n_columns)

    return train


def draw_pairs(data: RelationalContext) -> npt.NDArray[np.intp]:
    """As many (label, column) pairs as D has counts, in proportion to D."""
    D = sp.coo_array(data.rows)
    rng = np.random.default_rng(0)
    drawn = rng.choice(D.nnz, size=round(data.total), p=D.data / D.data.sum())
    return np.column_stack(D.coords)[drawn]


def rows_by_name(found: Floats, names: list[str], letter: str, n: int) -> Floats:
    """Vectors of letter0, letter1, …; zeros for a name that was never drawn."""
    wanted = [f"{letter}{i}" for i in range(n)]
    return pd.DataFrame(found, names).reindex(wanted).fillna(0.0).to_numpy()


PEERS: dict[str, Peer] = {
    "pmi": Peer("PMI + SVD, scikit-learn", prepare_pmi),
    "implicit": Peer("implicit LMF, 30 iterations", prepare_implicit),
    "gensim": Peer("gensim SGNS, 5 epochs", prepare_gensim),
}
"""By the name that --only takes."""
