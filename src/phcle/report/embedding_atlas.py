"""An embedding as the table that Embedding Atlas shows.

A row per label with the columns label, name, x, y and neighbors; a label's neighbours
are row numbers from 0 and cosine distances, {"ids": [...], "distances": [...]}, the
label itself first, as the Atlas computes them where they are not given.

    embedding-atlas labels.parquet --text name --x x --y y --neighbors neighbors
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import BackendError
from phcle.files.writing import write_whole
from phcle.report.map_layout import lay_out
from phcle.uses.neighbour_table import NeighbourTable

__all__ = ["ATLAS", "write_atlas"]

ATLAS = "atlas"
"""The name of the format."""

NEIGHBOURS = 15


def write_atlas(
    embedding: LabelEmbedding, path: str | Path, *, k: int = NEIGHBOURS, seed: int = 0
) -> None:
    """Write a Parquet file with a map of the labels and the k nearest of each."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise BackendError(
            "Parquet files need PyArrow: pip install 'phcle[parquet]'."
        ) from error
    table = NeighbourTable.of(embedding)
    layout = lay_out(embedding.unit_vectors, seed=seed, table=table)
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
