"""What takes long to find out about an embedding, found once and kept beside its file.

The nearest labels of every label, a place on the map, and clusters to colour it by. The
file is known to belong to an embedding by a digest of labels and vectors; another one's
is found anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError
from phcle.files.archive import Tensors, checksum, read_sealed, write_sealed
from phcle.report.map_layout import lay_out
from phcle.uses.neighbour_table import NeighbourTable

__all__ = [
    "Precomputed",
    "digest_of",
    "load_precomputed",
    "precompute",
    "precomputed_file",
]

FORMAT = "phcle.explorer"
VERSION = 1

N_CLUSTERS = 7
"""As many as there are colours that all readers can tell apart."""

MANY = 10_000
"""With more labels clusters are found from samples of them."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Neighbours, places and clusters of all labels."""

    table: NeighbourTable
    places: npt.NDArray[np.float32]  # (labels, 2), −1 … 1
    clusters: npt.NDArray[np.uint8]  # (labels,), the largest first
    cluster_names: tuple[str, ...]
    method: str  # that the places were found by

    def save(self, path: Path, digest: str) -> None:
        """Write one file; an existing one is replaced only by a whole one."""
        tensors: Tensors = {
            "rows": self.table.rows,
            "cosines": self.table.cosines,
            "places": self.places,
            "clusters": self.clusters,
        }
        content = {
            "embedding": digest,
            "cluster_names": list(self.cluster_names),
            "method": self.method,
        }
        write_sealed(path, FORMAT, VERSION, content, tensors)


def precomputed_file(embedding_file: Path) -> Path:
    """Where it is kept: beside the embedding.

    >>> precomputed_file(Path("labels.phcle")).name
    'labels.phcle.explorer'
    """
    return embedding_file.with_name(embedding_file.name + ".explorer")


def digest_of(embedding: LabelEmbedding) -> str:
    """What tells an embedding from another: its labels and vectors."""
    names = json.dumps([*embedding.labels, sorted(embedding.names.items())])
    return checksum(names, {"vectors": embedding.vectors})


def load_precomputed(path: Path, embedding: LabelEmbedding) -> Precomputed | None:
    """What was kept, or None if there is nothing that fits and is whole."""
    if not path.is_file():
        return None
    try:
        content, tensors = read_sealed(path, FORMAT, VERSION, "is not of the explorer.")
        if content["embedding"] != digest_of(embedding):
            return None
        found = Precomputed(
            NeighbourTable(tensors["rows"], tensors["cosines"]),
            tensors["places"],
            tensors["clusters"],
            tuple(map(str, content["cluster_names"])),
            str(content["method"]),
        )
    except (FileError, KeyError, ValueError, TypeError):
        return None
    return found if _is_whole(found, len(embedding)) else None


def _is_whole(found: Precomputed, n: int) -> bool:
    """Whether the arrays are those of n labels, so that no answer can fail."""
    rows, cosines = found.table.rows, found.table.cosines
    return bool(
        rows.ndim == 2
        and rows.dtype.kind in "iu"
        and found.clusters.dtype.kind in "iu"
        and found.places.dtype.kind == cosines.dtype.kind == "f"
        and rows.shape == cosines.shape == (n, rows.shape[1])
        and (not rows.size or (rows.min() >= 0 and rows.max() < n))
        and np.isfinite(cosines).all()
        and found.places.shape == (n, 2)
        and np.isfinite(found.places).all()
        and found.clusters.shape == (n,)
        and found.clusters.max(initial=0) < len(found.cluster_names)
    )


def precompute(
    embedding: LabelEmbedding,
    progress: Progress = lambda stage, done, total: None,
    *,
    seed: int = 0,
) -> Precomputed:
    """Find neighbours, places and clusters; `progress` is told stage, done, total."""
    n = len(embedding)
    table = NeighbourTable.of(
        embedding,
        progress=lambda done, total: progress("finding neighbours", done, total),
    )
    units = np.asarray(embedding.unit_vectors, np.float32)
    progress("grouping labels", 0, n)
    clusters, names = _clusters(embedding, units, seed)
    progress("placing labels on the map", 0, n)
    layout = lay_out(units, seed=seed, table=table)
    progress("done", n, n)
    return Precomputed(table, layout.places, clusters, names, layout.method)


def _clusters(
    embedding: LabelEmbedding, units: npt.NDArray[np.float32], seed: int
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Groups of about equal spread, the largest first, called by two typical labels.

    k-means, since a tree of clusters cut into seven has one that holds almost all.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans

    n_groups = min(N_CLUSTERS, len(np.unique(units, axis=0)))
    if len(units) > MANY:
        found = MiniBatchKMeans(n_groups, random_state=seed, n_init=3, batch_size=4096)
    else:
        found = KMeans(n_groups, random_state=seed, n_init=3)
    codes = found.fit_predict(units)
    order = np.argsort(-np.bincount(codes, minlength=n_groups), kind="stable")
    rank = np.empty(n_groups, np.uint8)
    rank[order] = np.arange(n_groups)
    names = []
    for code in order:
        rows = np.flatnonzero(codes == code)
        nearness = units[rows] @ found.cluster_centers_[code].astype(np.float32)
        typical = rows[np.argsort(-nearness, kind="stable")]
        told = dict.fromkeys(embedding.name_of(embedding.labels[i]) for i in typical)
        names.append("like " + ", ".join(list(told)[:2]))
    return rank[codes], tuple(names)
