"""Files that visitors upload: features of pictures, or pictures.

No part of a request is used as a path. What was sent is written to a temporary folder
and read by the same readers that the command line uses.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


@cache
def network_of(image_map: ImageMap) -> FeatureNetwork:
    """Open the network of a map of pictures, once.

    Parameters
    ----------
    image_map : ImageMap
        The map.

    Returns
    -------
    FeatureNetwork
        The network.
    """
    return image_map.open_network()


def understood(
    embedding: LabelEmbedding, image_map: ImageMap | None, content: bytes
) -> dict[str, Any]:
    """Describe the pictures, or features of pictures, of an uploaded file.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    image_map : ImageMap or None
        A map of pictures to its vectors.
    content : bytes
        A picture, or an .npy file with one row for each picture.

    Returns
    -------
    dict
        The first pictures of the file in labels and attributes.
    """
    if image_map is None:
        raise OptionError(
            "there is no map of pictures: learn one with `phcle understand --learn`, "
            "and start the explorer with --model."
        )
    if not content:
        raise FileError("the file is empty; choose another.")
    is_photo = not content.startswith(NUMPY_MAGIC)
    rows = _features(network_of(image_map) if is_photo else None, content)
    found = image_map.understand(rows[:MOST_ROWS], embedding, k=K)
    titles = ["picture"] if is_photo else [f"row {i}" for i in range(1, len(found) + 1)]
    named = [
        replace(each, picture=title) for title, each in zip(titles, found, strict=True)
    ]
    return {"pictures": as_json(named), "n": len(rows)}


def _features(network: FeatureNetwork | None, content: bytes) -> Any:
    """Read rows of features, or compute them from a picture."""
    from phcle.images import read_feature_rows, read_photo

    with tempfile.TemporaryDirectory(prefix="phcle-") as folder:
        path = Path(folder) / ("sent" if network else "sent.npy")
        path.write_bytes(content)
        try:
            if network is not None:
                return network.features([read_photo(path)])
            return read_feature_rows(path)
        except PhcleError as error:
            message = str(error).replace(str(path), "the file")
            raise FileError(message) from error
