"""Read what a query names by files: lists of labels, and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phcle.errors import FileError
from phcle.files.writing import is_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["labels_or_files", "read_queries"]


def labels_or_files(given: Sequence[str] | None) -> list[str] | None:
    """Read labels that are given directly or in files.

    Parameters
    ----------
    given : sequence of str or None
        Labels, or names of files with one label per line.

    Returns
    -------
    list of str or None
        All labels; None if none are given.
    """
    from phcle.contexts.readers.label_files import read_labels

    if not given:
        return None
    found: list[str] = []
    for word in given:
        found += read_labels(word) if is_file(word) else [word]
    return found


def read_queries(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Read the vectors of an `.npy` file.

    Parameters
    ----------
    path : Path
        A file with one vector, or a matrix with a vector in each row.

    Returns
    -------
    dict of str to array
        The vectors, named after the file and the row.
    """
    import numpy as np

    from phcle.files.numpy_arrays import read_npy

    found = read_npy(path)
    if found.dtype.kind not in "fiub":
        raise FileError(
            f"{path}: is not an .npy file of numbers. Got {found.dtype} instead."
        )
    array = found.astype(np.float64)
    if array.ndim == 1:
        return {path.name: array}
    if array.ndim != 2 or not len(array):
        raise FileError(
            f"{path}: must hold one vector, or a matrix with a vector in each row. "
            f"Got shape {array.shape}."
        )
    return {f"{path.name}, row {i}": row for i, row in enumerate(array, 1)}
