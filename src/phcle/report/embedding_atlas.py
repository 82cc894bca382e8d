"""An embedding as a table for Embedding Atlas.

One row for each label, with the columns label, name, x, y and neighbors. Neighbours are
row numbers from 0 and cosine distances, {"ids": [...], "distances": [...]}, with the
label itself first, as the Atlas computes them if the column is missing.

    embedding-atlas labels.parquet --text name --x x --y y --neighbors neighbors
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from phcle.embedding.export import write_table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.optional_imports import import_optional
from phcle.report.map_layout import lay_out

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
    near = partial(progress, "finding neighbours")
    table = embedding.search.neighbour_table(progress=near)
    progress("placing labels on the map", 0, 0)
    layout = lay_out(embedding.unit_vectors, seed=seed, table=table)
    progress(f"writing {path}", 0, 0)
    own = np.arange(len(embedding))[:, None]
    rows = np.hstack([own, table.rows[:, :k]])
    cosines = np.hstack([np.ones_like(own), table.cosines[:, :k]])
    kind = pa.struct(
        [("ids", pa.list_(pa.int64())), ("distances", pa.list_(pa.float64()))]
    )
    types = {"x": pa.float32(), "y": pa.float32(), "neighbors": kind}
    lines = zip(
        embedding.labels,
        map(embedding.name_of, embedding.labels),
        *layout.places.T.tolist(),
        rows.tolist(),
        np.clip(1 - cosines, 0, None).tolist(),
        strict=True,
    )
    write_table(
        Path(path),
        ("label", "name", *types),
        ((*line[:-2], {"ids": line[-2], "distances": line[-1]}) for line in lines),
        ending=".parquet",
        types=types,
    )
