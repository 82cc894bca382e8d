"""Files that visitors upload: vectors of features, or pictures.

No part of a request is used as a path. What was sent is written to a temporary folder
and read by the same readers that the command line uses.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from phcle.answers import Attribute, Related, UnderstoodPicture
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, OptionError, PhcleError
from phcle.explorer.answers import UnderstoodFile
from phcle.explorer.workspace import Workspace
from phcle.images import read_feature_rows

MOST_ROWS = 24
"""Pictures of one file that are described; more do not fit on a page."""

NUMPY_MAGIC = b"\x93NUMPY"


def understood(workspace: Workspace, content: bytes, k: int) -> UnderstoodFile:
    """Describe the pictures, or vectors of features, of an uploaded file.

    Parameters
    ----------
    workspace : Workspace
        The embedding and, for pictures, the map of pictures.
    content : bytes
        A picture, or an .npy file with one row for each picture.
    k : int
        Number of related labels and attributes.

    Returns
    -------
    UnderstoodFile
        The first pictures of the file in labels and attributes.
    """
    if not content:
        raise FileError("the file is empty; choose another.")
    rows, is_photo = _features(workspace, content)
    embedding, image_map = workspace.opened.embedding, workspace.image_map
    shown = rows[:MOST_ROWS]
    if image_map is None:
        found = [_described(embedding, row, k) for row in shown]
    else:
        described = image_map.understand(shown, embedding, k=k)
        found = [(each.related, each.attributes) for each in described]
    titles = ["picture"] if is_photo else [f"row {i}" for i in range(1, len(found) + 1)]
    pictures = (
        UnderstoodPicture(title, related, attributes)
        for title, (related, attributes) in zip(titles, found, strict=True)
    )
    return UnderstoodFile(tuple(pictures), len(rows))


def _features(workspace: Workspace, content: bytes) -> tuple[Any, bool]:
    """Read rows of features, or compute them from a picture; say which it was."""
    is_photo = not content.startswith(NUMPY_MAGIC)
    network = workspace.network() if is_photo else None
    with tempfile.TemporaryDirectory(prefix="phcle-") as folder:
        path = Path(folder) / ("sent" if is_photo else "sent.npy")
        path.write_bytes(content)
        try:
            if network is not None:
                from phcle.images import read_photo

                return network.features([read_photo(path)]), True
            return read_feature_rows(path), False
        except PhcleError as error:
            message = str(error).replace(str(path), "the file")
            raise FileError(message) from error


def _described(
    embedding: LabelEmbedding, row: Any, k: int
) -> tuple[tuple[Related, ...], tuple[Attribute, ...]]:
    """Without a map of pictures, a vector must be one of the embedding's own space."""
    if len(row) != embedding.dim:
        raise OptionError(
            f"without a map of pictures a vector must lie in the embedding's own space "
            f"and have {embedding.dim} numbers. Got {len(row)}; learn a map with "
            "`phcle understand --learn` and start the explorer with --model."
        )
    found = embedding.describe(np.asarray(row, np.float64), k=k)
    return found.related, found.predicted
