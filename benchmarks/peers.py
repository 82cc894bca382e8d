"""Peers that factorise the same counts, each minimising a loss of its own.

A peer is prepared outside the clock (imports) and then trained inside it, from D to
W and C. None of them knows our objective.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.relational.fitted import FittedRelational

Floats = npt.NDArray[np.floating]
Train = Callable[[FittedRelational, int], tuple[Floats, Floats]]


BIGGRAPH_RATE = 0.02
"""Learning rate of PyTorch-BigGraph: the best of 0.01, 0.02, 0.03, 0.05, 0.1 and 0.2 by
our objective at 1,000 labels."""


@dataclass(frozen=True)
class Peer:
    """A title for the table, and a function that imports the peer."""

    title: str
    prepare: Callable[[], Train]


def prepare_pmi() -> Train:
    """Positive PMI and a randomised SVD."""
    from sklearn.utils.extmath import randomized_svd

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
        D = sp.coo_array(data.counts)
        i, j = D.coords
        pmi = np.log(D.data * data.total / (data.row_mass[i] * data.column_mass[j]))
        positive = sp.csr_array((np.maximum(pmi, 0.0), (i, j)), shape=D.shape)
        left, strength, right = randomized_svd(positive, dim, random_state=0)
        root = np.sqrt(strength)
        return left * root, right.T * root

    return train


def prepare_implicit() -> Train:
    """Logistic matrix factorisation; its two bias columns are part of W and C."""
    from implicit.lmf import LogisticMatrixFactorization
    from threadpoolctl import threadpool_limits

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
        # implicit has threads of its own and asks that BLAS has none beside them.
        with threadpool_limits(1, "blas"):
            model = LogisticMatrixFactorization(dim, iterations=30, random_state=0)
            counts = sp.csr_matrix(data.counts, dtype=np.float32)
            model.fit(counts, show_progress=False)
        return model.user_factors, model.item_factors

    return train


def prepare_cmfrec() -> Train:
    """Alternating least squares for implicit feedback: a squared loss, all pairs."""
    from cmfrec import CMF_implicit

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
        model = CMF_implicit(k=dim, niter=15, use_float=True, random_state=0)
        model.fit(sp.coo_matrix(data.counts, dtype=np.float32))
        return model.A_, model.B_

    return train


def prepare_gensim() -> Train:
    """Skip-gram with negative sampling, on (label, column) pairs drawn from D.

    As many two-word sentences as D has counts, each pair in proportion to D. Negatives
    come from labels and columns alike, by frequency, so 20 of them are 10 per side, as
    in our k.
    """
    from gensim.models import Word2Vec

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
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
        at, (n_labels, n_columns) = model.wv.key_to_index, data.counts.shape
        W = rows_by_name(model.wv.vectors, at, "w", n_labels)
        return W, rows_by_name(model.syn1neg, at, "c", n_columns)

    return train


def prepare_pycleora() -> Train:
    """Cleora: labels and columns as one graph, whose vectors are averaged repeatedly.

    The same drawn pairs as for gensim are its edges. Without a residual, labels would
    average random vectors of columns and columns those of labels, so the scores of
    pairs would be noise.
    """
    from pycleora import SparseMatrix, embed

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
        edges = (f"w{i}\tc{j}" for i, j in draw_pairs(data))
        graph = SparseMatrix.from_iterator(edges, "label column")
        vectors = embed(graph, feature_dim=dim, residual_weight=0.5)
        at = {name: i for i, name in enumerate(graph.entity_ids)}
        n_labels, n_columns = data.counts.shape
        W = rows_by_name(vectors, at, "w", n_labels)
        return W, rows_by_name(vectors, at, "c", n_columns)

    return train


def prepare_biggraph() -> Train:
    """PyTorch-BigGraph: logistic loss of dot products, edges drawn as for gensim.

    One worker, as a thread of this process: starting Python again does not count, and
    processor time and memory are those of one process.
    """
    import h5py
    import torch
    from torchbiggraph import train as biggraph
    from torchbiggraph.config import parse_config
    from torchbiggraph.edgelist import EdgeList
    from torchbiggraph.entitylist import EntityList
    from torchbiggraph.graph_storages import FileEdgeStorage, FileEntityStorage

    biggraph.create_pool = lambda n_workers, **_: ThreadPool(n_workers)
    torch.set_num_threads(1)

    def train(data: FittedRelational, dim: int) -> tuple[Floats, Floats]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sizes = dict(zip(("label", "column"), data.counts.shape, strict=True))
            for kind, size in sizes.items():
                FileEntityStorage(name).save_count(kind, 0, size)
            pairs = torch.from_numpy(draw_pairs(data).astype(np.int64))
            ends = (EntityList.from_tensor(end) for end in pairs.T)
            edges = EdgeList(*ends, torch.zeros(len(pairs), dtype=torch.int64))
            FileEdgeStorage(name).save_edges(0, 0, edges)
            biggraph.train(
                parse_config(
                    {
                        "entity_path": name,
                        "edge_paths": [name],
                        "checkpoint_path": str(folder / "trained"),
                        "entities": {kind: {"num_partitions": 1} for kind in sizes},
                        "relations": [{"name": "D", "lhs": "label", "rhs": "column"}],
                        "dimension": dim,
                        "comparator": "dot",
                        "loss_fn": "logistic",
                        "global_emb": False,
                        "num_epochs": 5,
                        "lr": BIGGRAPH_RATE,
                        "eval_fraction": 0.0,
                        "workers": 1,
                    }
                )
            )
            W, C = (
                h5py.File(next((folder / "trained").glob(f"embeddings_{kind}_*")))
                for kind in sizes
            )
            return W["embeddings"][:], C["embeddings"][:]

    return train


def draw_pairs(data: FittedRelational) -> npt.NDArray[np.intp]:
    """As many (label, column) pairs as D has counts, in proportion to D."""
    D = sp.coo_array(data.counts)
    rng = np.random.default_rng(0)
    drawn = rng.choice(D.nnz, size=round(data.total), p=D.data / D.data.sum())
    return np.column_stack(D.coords)[drawn]


def rows_by_name(
    vectors: Floats, at: Mapping[str, int], letter: str, n_rows: int
) -> Floats:
    """Vectors of letter0, letter1, …; zeros for a name that was never drawn."""
    rows = np.zeros((n_rows, vectors.shape[1]))
    for i in range(n_rows):
        if (name := f"{letter}{i}") in at:
            rows[i] = vectors[at[name]]
    return rows


PEERS: dict[str, Peer] = {
    "pmi": Peer("PMI + SVD, scikit-learn", prepare_pmi),
    "implicit": Peer("implicit LMF, 30 iterations", prepare_implicit),
    "cmfrec": Peer("cmfrec implicit, 15 iterations", prepare_cmfrec),
    "gensim": Peer("gensim SGNS, 5 epochs", prepare_gensim),
    "pycleora": Peer("pycleora, 40 iterations", prepare_pycleora),
    "biggraph": Peer("PyTorch-BigGraph, 5 epochs", prepare_biggraph),
}
"""By the name that --only takes."""
