"""Neighbours, map and clusters of all labels, computed once and stored.

They are slow to compute, so a file beside the embedding keeps them. The file holds a
digest of labels and vectors; if that does not match the embedding, or the file is
damaged, all is computed again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.atlas.layout import lay_out
from phcle.embedding.groups import cluster_names
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.search import Neighbours
from phcle.errors import FileError
from phcle.files.container import Tensors, checksum, read_sealed, write_sealed

FORMAT, VERSION = "phcle.explorer", 1

N_CLUSTERS = 20
"""Most clusters: so many colours of the style sheet differ."""

FEWEST = 8
"""Labels of a cluster, on average: smaller ones have no names that say much."""

MANY = 10_000
"""Use mini-batch k-means above this many labels; it is faster."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Neighbours, places and clusters of all labels.

    Attributes
    ----------
    table : Neighbours
        The nearest labels of every label.
    places : array of shape (labels, 2)
        Places on the map, from −1 to 1.
    clusters : array of shape (labels,)
        The cluster of each label; 0 is the largest.
    cluster_names : tuple of str
        Names of the clusters.
    method : str
        How the places were computed.
    """

    table: Neighbours
    places: npt.NDArray[np.float32]
    clusters: npt.NDArray[np.uint8]
    cluster_names: tuple[str, ...]
    method: str

    def save(self, path: Path, embedding: LabelEmbedding) -> None:
        """Write one file; an existing file is replaced only when all is written.

        Parameters
        ----------
        path : Path
            The file.
        embedding : LabelEmbedding
            The embedding that the results belong to.
        """
        tensors: Tensors = {
            "rows": self.table.rows,
            "cosines": self.table.cosines,
            "places": self.places,
            "clusters": self.clusters,
        }
        content = {
            "embedding": digest_of(embedding),
            "cluster_names": list(self.cluster_names),
            "method": self.method,
        }
        write_sealed(path, FORMAT, VERSION, content, tensors)


def prepared_file(embedding_file: Path) -> Path:
    """Name the file that is stored beside an embedding.

    Parameters
    ----------
    embedding_file : Path
        The file of the embedding.

    Returns
    -------
    Path
        The file of the results.

    Examples
    --------
    >>> prepared_file(Path("labels.phcle")).name
    'labels.phcle.explorer'
    """
    return embedding_file.with_name(embedding_file.name + ".explorer")


def digest_of(embedding: LabelEmbedding) -> str:
    """Compute a digest of an embedding's labels, names and vectors.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.

    Returns
    -------
    str
        The digest.
    """
    names = json.dumps([*embedding.labels, sorted(embedding.names.items())])
    return checksum(names, {"vectors": embedding.vectors})


def load_prepared(path: Path, embedding: LabelEmbedding) -> Prepared | None:
    """Load stored results.

    Parameters
    ----------
    path : Path
        The file.
    embedding : LabelEmbedding
        The embedding that the results must belong to.

    Returns
    -------
    Prepared or None
        None if there is no file, or it is damaged or belongs to another embedding.
    """
    if not path.is_file():
        return None
    try:
        content, tensors = read_sealed(path, FORMAT, VERSION, "is not of the explorer.")
        if content["embedding"] != digest_of(embedding):
            return None
        found = Prepared(
            Neighbours(tensors["rows"], tensors["cosines"]),
            tensors["places"],
            tensors["clusters"],
            tuple(map(str, content["cluster_names"])),
            str(content["method"]),
        )
    except (FileError, KeyError, ValueError, TypeError):
        return None
    return found if _is_whole(found, len(embedding)) else None


def _is_whole(found: Prepared, n: int) -> bool:
    """Whether the arrays are valid for n labels, so that no answer can fail."""
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


def prepare(embedding: LabelEmbedding, progress: Progress) -> Prepared:
    """Compute neighbours, places and clusters of all labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    progress : callable
        Called with stage, labels done and all labels.

    Returns
    -------
    Prepared
        The results.
    """
    n = len(embedding)
    near = partial(progress, "finding neighbours")
    table = embedding.search.neighbour_table(progress=near)
    units = np.asarray(embedding.unit_vectors, np.float32)
    progress("grouping labels", 0, n)
    clusters, names = _clusters(embedding, units)
    progress("placing labels on the map", 0, n)
    layout = lay_out(units, table=table)
    progress("done", n, n)
    return Prepared(table, layout.places, clusters, names, layout.method)


def _clusters(
    embedding: LabelEmbedding, units: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Cluster labels; largest cluster first, each named after what its labels share.

    With k-means, because hierarchical clustering puts almost all labels into one of
    a few clusters.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans

    # Siblings of a hierarchy may have equal vectors, up to rounding.
    n_distinct = len(np.unique(units.round(4), axis=0))
    n_groups = min(N_CLUSTERS, n_distinct, max(2, len(units) // FEWEST))
    if len(units) > MANY:
        found = MiniBatchKMeans(n_groups, random_state=0, n_init=3, batch_size=4096)
    else:
        found = KMeans(n_groups, random_state=0, n_init=3)
    codes = found.fit_predict(units)
    order = np.argsort(-np.bincount(codes, minlength=n_groups), kind="stable")
    rank = np.empty(n_groups, np.uint8)
    rank[order] = np.arange(n_groups)
    groups = [
        [embedding.labels[i] for i in np.flatnonzero(codes == code)] for code in order
    ]
    return rank[codes], cluster_names(embedding, groups)
