"""Heat maps of several embeddings side by side, with one scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from phcle.files import write_whole
from phcle.uses.clusters import Clusters
from phcle.uses.similarity_heatmap import CUT, draw_heatmap

__all__ = ["draw_panels"]

COLUMNS = 2


def draw_panels(
    panels: Mapping[str, Clusters], path: Path, name_of: Callable[[str], str]
) -> None:
    """Draw clusters, by the title of their panel, into a .png or .svg file."""
    rows = -(-len(panels) // COLUMNS)
    most = max(len(clusters.labels) for clusters in panels.values())
    side = min(max(most * 0.12, 2.6), 16.0) + 0.8  # inches
    figure = Figure(figsize=(COLUMNS * side + 0.6, rows * side), layout="compressed")
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    ends = _ends(panels)
    for axis, (title, clusters) in zip(axes, panels.items(), strict=False):
        image = draw_heatmap(axis, clusters, name_of, ends)
        axis.set_title(title, fontsize=9)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.colorbar(
        image, ax=axes, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
    )
    with write_whole(path) as temporary:
        ending = path.suffix.removeprefix(".")
        figure.savefig(temporary, format=ending, dpi=150, **CUT)


def _ends(panels: Mapping[str, Clusters]) -> tuple[float, float]:
    """The least and the largest cosine of two different labels."""
    found = np.concatenate(
        [x.similarity[~np.eye(len(x.labels), dtype=bool)] for x in panels.values()]
    )
    return float(found.min()), float(found.max())
