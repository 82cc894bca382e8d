"""Files that somebody drops on a page: vectors of features, or pictures.

Nothing of a request names a file here: what was sent goes into a folder that is made
for it and gone afterwards, and the readers of the command line do the rest.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from phcle.datasets.feature_folder import read_feature_rows
from phcle.errors import FileError, OptionError, PhcleError
from phcle.explorer.workspace import Workspace
from phcle.uses import named_answers as answers

__all__ = ["understood"]

MOST_ROWS = 24
"""Pictures of one file that are described."""

NUMPY_MAGIC = b"\x93NUMPY"


def understood(workspace: Workspace, content: bytes, k: int) -> dict[str, Any]:
    """Related labels and attributes of what a file holds."""
    if not content:
        raise FileError("the file is empty; choose another.")
    rows, is_photo = _features(workspace, content)
    embedding = workspace.opened.embedding
    shown = rows[:MOST_ROWS]
    if workspace.image_map is not None:
        found = [
            each.to_dict()
            for each in workspace.image_map.understand(shown, embedding, k=k)
        ]
    else:
        found = [_described(workspace, row, k) for row in shown]
    return {
        "pictures": [
            answers.understood(
                embedding, "picture" if is_photo else f"row {i + 1}", each
            )
            for i, each in enumerate(found)
        ],
        "rows": len(rows),
    }


def _features(workspace: Workspace, content: bytes) -> tuple[Any, bool]:
    """Rows of features, and whether they were made of a picture here."""
    is_photo = not content.startswith(NUMPY_MAGIC)
    network = workspace.network() if is_photo else None
    with tempfile.TemporaryDirectory(prefix="phcle-") as folder:
        path = Path(folder) / ("sent" if is_photo else "sent.npy")
        path.write_bytes(content)
        try:
            if network is not None:
                from phcle.uses.pictures import read_photo

                return network.features([read_photo(path)]), True
            return read_feature_rows(path), False
        except PhcleError as error:
            told = str(error).replace(str(path), "the file")
            raise FileError(told) from error


def _described(workspace: Workspace, row: Any, k: int) -> dict[str, Any]:
    """Without a map of pictures, a vector is one of the embedding's own space."""
    embedding = workspace.opened.embedding
    if len(row) != embedding.dim:
        raise OptionError(
            f"without a map of pictures a vector must lie in the embedding's own space "
            f"and have {embedding.dim} numbers. Got {len(row)}; learn a map with "
            "`phcle map` and start the explorer with --model."
        )
    found = embedding.describe(np.asarray(row, np.float64), k=k).to_dict()
    attributes = [
        {key: x[key] for key in ("context", "name", "value")}
        for x in found["predicted"]
    ]
    return {"related": found["related"], "attributes": attributes}
