"""Names, arrays and sparse matrices among the tensors of one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.errors import FileError
from phcle.files.json_toml import parse_json

PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class TensorStore:
    """Tensors by key, with a prefix that keeps the parts of a file apart.

    Parameters
    ----------
    tensors : dict
        Arrays by their whole key; filled when writing.
    prefix : str
        Put before every key.

    Examples
    --------
    >>> store = TensorStore({}, "contexts/0/")
    >>> store.put_names("labels", ["cat", "dog"])
    >>> store.names("labels")
    ('cat', 'dog')
    """

    tensors: dict[str, npt.NDArray[Any]]
    prefix: str = ""

    def __setitem__(self, key: str, array: npt.NDArray[Any]) -> None:
        self.tensors[self.prefix + key] = array

    def __getitem__(self, key: str) -> npt.NDArray[Any]:
        return self.tensors[self.prefix + key]

    def __contains__(self, key: str) -> bool:
        return self.prefix + key in self.tensors

    def put_names(self, key: str, names: Sequence[str]) -> None:
        """Store names as the bytes of a JSON list.

        Parameters
        ----------
        key : str
            Where to store them.
        names : sequence of str
            The names.
        """
        data = json.dumps(list(names), ensure_ascii=False).encode()
        self[key] = np.frombuffer(data, dtype=np.uint8)

    def names(self, key: str) -> tuple[str, ...]:
        """Read names that `put_names` stored.

        Parameters
        ----------
        key : str
            Where they are stored.

        Returns
        -------
        tuple of str
            The names.
        """
        names = parse_json(self[key].tobytes().decode(), key)
        if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
            raise FileError(f"{key} is not a list of names")
        return tuple(names)

    def put_sparse(self, key: str, matrix: sp.csr_array) -> None:
        """Store a sparse matrix as three arrays.

        Parameters
        ----------
        key : str
            Where to store it.
        matrix : csr_array
            The matrix.
        """
        for part in PARTS:
            self[f"{key}/{part}"] = getattr(matrix, part)

    def sparse(self, key: str, n_columns: int) -> sp.csr_array:
        """Read and check a sparse matrix that `put_sparse` stored.

        Parameters
        ----------
        key : str
            Where it is stored.
        n_columns : int
            Its number of columns, which is not stored.

        Returns
        -------
        csr_array
            The matrix.
        """
        data, indices, indptr = (self[f"{key}/{part}"] for part in PARTS)
        # SciPy's own check misses rows that begin beyond the end, and its compiled
        # code then reads memory that does not belong to the arrays.
        if not (
            data.ndim == indices.ndim == indptr.ndim == 1
            and data.dtype.kind == "f"
            and indices.dtype.kind == indptr.dtype.kind == "i"
            and len(indptr) >= 1
            and len(data) == len(indices) == indptr[-1]
            and indptr[0] == 0
            and (np.diff(indptr) >= 0).all()
            and indices.min(initial=0) >= 0
            and indices.max(initial=-1) < n_columns
        ):
            raise FileError(f"{key} is not a sparse matrix")
        return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
