"""An embedding as a data frame of pandas, Polars or PyArrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.errors import BackendError, OptionError

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding

__all__ = ["LIBRARIES", "column_names", "embedding_frame"]

LIBRARIES = {"pandas": "frames", "polars": "", "pyarrow": "parquet"}
"""Libraries of data frames, with the extra of phcle that installs each, if any."""


def column_names(dim: int) -> list[str]:
    """Name the dimensions in data frames and tables.

    Parameters
    ----------
    dim : int
        Number of dimensions.

    Returns
    -------
    list of str
        Such as "x0", "x1", ….
    """
    return [f"x{i}" for i in range(dim)]


def embedding_frame(embedding: LabelEmbedding, library: str) -> Any:
    """Convert an embedding to a data frame; see `LabelEmbedding.to_frame`.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to convert.
    library : {"pandas", "polars", "pyarrow"}
        Library of the frame.

    Returns
    -------
    data frame
        One row per label.
    """
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
            f"a {library} frame needs {library}: pip install {remedy}."
        ) from error
