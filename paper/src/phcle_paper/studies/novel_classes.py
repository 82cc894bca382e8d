"""The paper's Figure 4: a centaur and a jetski, from a user's download of xlsa17."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phcle.uses.pictures import ImageMap
from phcle_paper.datasets import load_xlsa17
from phcle_paper.studies.described_objects import placed_objects
from phcle_paper.studies.picture_panels import Panel, panel_of
from phcle_paper.tables.image_benchmarks import FOLDERS

__all__ = ["NOVEL", "novel_panels"]

NOVEL = ("centaur", "jetski")
N_PICTURES = 2


def novel_panels(
    data: Path,
    columns: Sequence[str],
    penalties: Mapping[str, float],
    options: Mapping[str, Any],
) -> list[Panel]:
    """The first pictures of each novel class, as far as the download has them.

    xlsa17 has attributes of classes only, so a hit is one that half of the class's
    objects have; and it does not say what its columns are called, but `columns` does.
    """
    images = load_xlsa17(
        data / FOLDERS["apy"], attributes="original_att", attribute_names=columns
    )
    assert images.attributes is not None
    known = images.attributes
    unknown = np.zeros((len(images.labels), len(known.columns)))
    objects = placed_objects("aPY", images, unknown, known)
    embedding = objects.embedding(NOVEL, options)
    learned = objects.training(NOVEL)
    image_map = ImageMap.fit(
        objects.X[learned],
        objects.y[learned],
        embedding,
        feature_ridge=penalties["feature_ridge"],
        class_ridge=penalties["class_ridge"],
    )
    panels = []
    for name in NOVEL:
        for row in np.flatnonzero(objects.y == name)[:N_PICTURES]:
            (found,) = image_map.understand(objects.X[[row]], embedding)
            (usual,) = objects.class_values([name])
            truth = dict(zip(known.columns, usual >= 0.5, strict=True))
            panels.append(panel_of(name, found, embedding, truth))
    return panels
