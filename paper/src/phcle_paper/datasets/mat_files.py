"""Arrays from MAT files, with errors that name the file, the key and the remedy."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError, some
from phcle.files import read_bytes
from phcle_paper.datasets.mat5 import HEADER, Mat5Error, is_version_7_3, read_variables
from phcle_paper.datasets.releases import Release

__all__ = ["MatFile"]


class MatFile:
    """Chosen arrays of a MAT file of version 5 to 7, read once.

    Structures, objects and function handles are refused, and never looked into.
    """

    def __init__(self, path: Path, keys: Sequence[str], release: Release) -> None:
        self.path = path
        self.release = release
        try:
            data = memoryview(read_bytes(path))
        except FileError as error:
            raise FileError(f"{error} {release.remedy}") from error
        if is_version_7_3(data):
            raise FileError(
                f"{path}: is a MAT file of version 7.3 (HDF5), which cannot be read "
                "here; open it in MATLAB or Octave and save it again with "
                "save(..., '-v7')."
            )
        if len(data) <= HEADER:
            raise self._damaged("it is too short")
        try:
            self._variables = read_variables(data, keys)
        except (Mat5Error, zlib.error) as error:
            raise self._damaged(str(error)) from error

    def __contains__(self, key: str) -> bool:
        return key in self._variables

    def numbers(self, key: str, shape: tuple[int | None, int | None], form: str) -> Any:
        """A matrix of finite numbers; `form` describes it in messages."""
        array = self._numbers(key, form)
        if not _fits(array.shape, shape) or not array.size:
            turned = _fits(array.shape[::-1], shape) and array.size
            hint = "; is it transposed?" if turned else ""
            raise self._error(key, f"must be {form}. Got shape {array.shape}{hint}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self._error(key, f"must be {form}, all finite. Got NaN or infinity")
        return array

    def positions(self, key: str, n: int, form: str) -> npt.NDArray[np.int64]:
        """Whole numbers from 1 to n in one column or row, as positions from 0."""
        array = self._numbers(key, form)
        if array.ndim != 2 or min(array.shape) != 1:
            raise self._error(key, f"must be {form}. Got shape {array.shape}")
        flat = array.ravel().astype(np.float64)
        fits = (flat >= 1) & (flat <= n) & (flat == np.floor(flat))
        if not fits.all():
            raise self._error(
                key,
                f"must be {form}, whole numbers from 1 to {n}. Got {flat[~fits][0]:g}",
            )
        return flat.astype(np.int64) - 1

    def names(self, key: str, form: str) -> tuple[str, ...]:
        """A cell array of texts."""
        content = self._content(key, form)
        if not isinstance(content, tuple):
            raise self._error(key, f"must be {form}. Got {self._kind(key)!r}")
        return tuple(text.strip() for text in content)

    def _numbers(self, key: str, form: str) -> npt.NDArray[Any]:
        content = self._content(key, form)
        if not isinstance(content, np.ndarray):
            raise self._error(key, f"must be {form}. Got {self._kind(key)!r}")
        return content

    def _content(
        self, key: str, form: str
    ) -> npt.NDArray[Any] | tuple[str, ...] | None:
        if key not in self._variables:
            raise FileError(
                f"{self.path}: has no key {key!r}, which must be {form}; it has "
                f"{some(self._variables) or 'none'}. {self.release.remedy}"
            )
        return self._variables[key].content

    def _kind(self, key: str) -> str:
        return self._variables[key].kind

    def _error(self, key: str, what: str) -> FileError:
        return FileError(f"{self.path}: {key!r} {what}. {self.release.remedy}")

    def _damaged(self, why: str) -> FileError:
        return FileError(
            f"{self.path}: is not a MAT file of version 5 to 7, or it is damaged "
            f"({why}). {self.release.remedy}"
        )


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    """Whether a shape has every size that is given."""
    return len(shape) == len(wanted) and all(
        want is None or have == want for have, want in zip(shape, wanted, strict=True)
    )
