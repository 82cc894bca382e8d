"""An embedding as a table for Embedding Atlas.

One row for each label, with the columns label, name, x, y and neighbors. Neighbours are
row numbers from 0 and cosine distances, {"ids": [...], "distances": [...]}, with the
label itself first, as the Atlas computes them if the column is missing.

    embedding-atlas labels.parquet --text name --x x --y y --neighbors neighbors
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.files.atomic import write_whole
from phcle.optional_imports import import_optional
from phcle.report.map_layout import lay_out
from phcle.uses.neighbour_table import NeighbourTable

ATLAS = "atlas"
"""Name of the format for `phcle export`."""

NEIGHBOURS = 15
"""Default number of nearest labels of each label."""


def write_atlas(
    embedding: LabelEmbedding,
    path: str | Path,
    *,
    k: int = NEIGHBOURS,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> None:
    """Write a Parquet file with a map of the labels and their nearest labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    path : str or Path
        The file to write.
    k : int, default 15
        Number of nearest labels of each label.
    seed : int, default 0
        Seed of the map.
    progress : callable, optional
        Called with each stage, and the numbers of labels done and in total; a total of
        0 is unknown.

    Raises
    ------
    BackendError
        If PyArrow is not installed.
    """
    pa = import_optional("pyarrow", extra="parquet", purpose="writing Parquet")
    pq = import_module("pyarrow.parquet")
    near = partial(progress, "finding neighbours")
    table = NeighbourTable.of(embedding, progress=near)
    progress("placing labels on the map", 0, 0)
    layout = lay_out(embedding.unit_vectors, seed=seed, table=table)
    progress(f"writing {path}", 0, 0)
    own = np.arange(len(embedding))[:, None]
    rows = np.hstack([own, table.rows[:, :k]])
    cosines = np.hstack([np.ones_like(own), table.cosines[:, :k]])
    neighbours = [
        {"ids": ids, "distances": distances}
        for ids, distances in zip(
            rows.tolist(), np.clip(1 - cosines, 0, None).tolist(), strict=True
        )
    ]
    kind = pa.struct(
        [("ids", pa.list_(pa.int64())), ("distances", pa.list_(pa.float64()))]
    )
    columns = {
        "label": list(embedding.labels),
        "name": [embedding.name_of(label) for label in embedding.labels],
        "x": layout.places[:, 0].astype(np.float32),
        "y": layout.places[:, 1].astype(np.float32),
        "neighbors": pa.array(neighbours, kind),
    }
    with write_whole(Path(path)) as temporary:
        pq.write_table(pa.table(columns), temporary)
