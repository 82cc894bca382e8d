"""The layout of a second map that starts on another map, stored beside its file.

It takes a while for many labels, so a file keeps it. The file holds digests of the
embedding and of the map that the layout started on; if one does not match, or the file
is damaged, the layout is computed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError
from phcle.explorer.precomputed import digest_of
from phcle.files.container import checksum, read_sealed, write_sealed

FORMAT, VERSION = "phcle.explorer-compared", 1

Floats = npt.NDArray[np.float32]


def second_layout_file(embedding_file: Path) -> Path:
    """Name the file that is stored beside the second embedding.

    Parameters
    ----------
    embedding_file : Path
        The file of the second embedding.

    Returns
    -------
    Path
        The file of its layout.

    Examples
    --------
    >>> second_layout_file(Path("old.phcle")).name
    'old.phcle.explorer-compared'
    """
    return embedding_file.with_name(embedding_file.name + ".explorer-compared")


class SecondLayout:
    """Loads and saves the layout of an embedding that starts on another map.

    Parameters
    ----------
    path : Path or None
        The file; None loads and saves nothing.
    embedding : LabelEmbedding
        The embedding.
    labels : sequence of str
        Labels of the other map.
    places : array of shape (labels, 2)
        Their places.
    """

    def __init__(
        self,
        path: Path | None,
        embedding: LabelEmbedding,
        labels: Sequence[str],
        places: Floats,
    ) -> None:
        self._path = path
        self._n = len(embedding)
        self._content = {
            "embedding": digest_of(embedding),
            "start": checksum(json.dumps(list(labels)), {"places": places}),
        }

    def load(self) -> Floats | None:
        """Load the places.

        Returns
        -------
        array of shape (labels, 2) or None
            None if there is no file, or it is damaged or belongs to other maps.
        """
        if self._path is None or not self._path.is_file():
            return None
        try:
            content, tensors = read_sealed(
                self._path, FORMAT, VERSION, "is not of the explorer."
            )
            places = tensors["places"]
        except (FileError, KeyError):
            return None
        is_right = content == self._content and places.shape == (self._n, 2)
        is_right = is_right and places.dtype.kind == "f"
        return places if is_right and bool(np.isfinite(places).all()) else None

    def save(self, places: Floats) -> None:
        """Store the places; an existing file is replaced when all is written.

        Parameters
        ----------
        places : array of shape (labels, 2)
            The places.
        """
        if self._path is not None:
            write_sealed(self._path, FORMAT, VERSION, self._content, {"places": places})
