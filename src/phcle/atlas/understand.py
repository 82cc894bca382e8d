"""Files that visitors upload: vectors of features, or pictures.

No part of a request is used as a path. What was sent is written to a temporary folder
and read by the same readers that the command line uses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.answers import as_json
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError, OptionError, PhcleError

if TYPE_CHECKING:
    from phcle.images import FeatureNetwork, ImageMap

MOST_ROWS = 24
"""Pictures of one file that are described; more do not fit on a page."""

K = 6
"""Related labels and attributes of each picture."""

NUMPY_MAGIC = b"\x93NUMPY"


@dataclass
class Pictures:
    """What describes pictures: a map of pictures, and the network before it.

    Attributes
    ----------
    image_map : ImageMap or None, default=None
        A map of pictures.
    open_network : callable or None, default=None
        Opens the network that makes features of pictures; called when first needed.
    """

    image_map: ImageMap | None = None
    open_network: Callable[[], FeatureNetwork] | None = None

    @cached_property
    def network(self) -> FeatureNetwork:
        """The network, which one request at a time asks for."""
        if self.open_network is None:
            raise OptionError(
                "pictures cannot be read here: give features (.npy), or start the "
                "explorer with a map that was learned from photos (--model)."
            )
        return self.open_network()


def understood(
    embedding: LabelEmbedding, pictures: Pictures, content: bytes
) -> dict[str, Any]:
    """Describe the pictures, or vectors of features, of an uploaded file.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    pictures : Pictures
        What describes pictures.
    content : bytes
        A picture, or an .npy file with one row for each picture.

    Returns
    -------
    dict
        The first pictures of the file in labels and attributes.
    """
    if not content:
        raise FileError("the file is empty; choose another.")
    rows, is_photo = _features(pictures, content)
    shown = rows[:MOST_ROWS]
    if pictures.image_map is None:
        found = [_described(embedding, row) for row in shown]
    else:
        said = pictures.image_map.understand(shown, embedding, k=K)
        found = [(each.related, each.attributes) for each in said]
    titles = ["picture"] if is_photo else [f"row {i}" for i in range(1, len(found) + 1)]
    described = [
        {
            "picture": title,
            "related": as_json(related),
            "attributes": as_json(attributes),
        }
        for title, (related, attributes) in zip(titles, found, strict=True)
    ]
    return {"pictures": described, "n": len(rows)}


def _features(pictures: Pictures, content: bytes) -> tuple[Any, bool]:
    """Read rows of features, or compute them from a picture; say which it was."""
    from phcle.images import read_feature_rows, read_photo

    is_photo = not content.startswith(NUMPY_MAGIC)
    network = pictures.network if is_photo else None
    with tempfile.TemporaryDirectory(prefix="phcle-") as folder:
        path = Path(folder) / ("sent" if is_photo else "sent.npy")
        path.write_bytes(content)
        try:
            if network is not None:
                return network.features([read_photo(path)]), True
            return read_feature_rows(path), False
        except PhcleError as error:
            message = str(error).replace(str(path), "the file")
            raise FileError(message) from error


def _described(embedding: LabelEmbedding, row: Any) -> tuple[Any, Any]:
    """Without a map of pictures, a vector must be one of the embedding's own space."""
    if len(row) != embedding.dim:
        raise OptionError(
            "without a map of pictures a vector must lie in the embedding's own space "
            f"and have {embedding.dim} numbers. Got {len(row)}; learn a map with "
            "`phcle understand --learn` and start the explorer with --model."
        )
    found = embedding.describe(np.asarray(row, np.float64), k=K)
    return found.related, found.predicted
