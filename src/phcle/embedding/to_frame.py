"""An embedding as a data frame of pandas, Polars or PyArrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.errors import BackendError, OptionError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

__all__ = ["LIBRARIES", "column_names", "embedding_frame"]

LIBRARIES = {"pandas": "frames", "polars": "", "pyarrow": "parquet"}
"""Libraries of frames, with the extra that brings each, if there is one."""


def column_names(dim: int) -> list[str]:
    """What the dimensions are called in frames and tables."""
    return [f"x{i}" for i in range(dim)]


def embedding_frame(embedding: LabelEmbedding, library: str) -> Any:
    """A row per label: the labels as the index of pandas, else as the first column."""
    if library not in LIBRARIES:
        raise OptionError(
            f"a frame must be of {', '.join(LIBRARIES)}. Got {library!r} instead."
        )
    import narwhals as nw

    backend: Any = library
    columns = column_names(embedding.dim)
    cells: dict[str, Any] = dict(
        zip(columns, np.ascontiguousarray(embedding.vectors.T), strict=True)
    )
    try:
        if library == "pandas":
            import pandas as pd

            index = pd.Index(embedding.labels, name="label")
            return pd.DataFrame(cells, index=index)
        table = {"label": list(embedding.labels), **cells}
        return nw.from_dict(table, backend=backend).to_native()
    except ImportError as error:
        extra = LIBRARIES[library]
        remedy = f"'phcle[{extra}]'" if extra else library
        raise BackendError(
            f"a frame of {library} needs it: pip install {remedy}."
        ) from error
