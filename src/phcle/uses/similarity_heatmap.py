"""The similarity of labels as a heat map with a box around each cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from phcle.errors import OptionError
from phcle.files.writing import write_whole
from phcle.optional_imports import import_optional
from phcle.uses.clusters import Clusters
from phcle.uses.stable_svg import svg_of

__all__ = ["FORMATS", "draw_heatmaps"]

FORMATS = (".png", ".svg", ".pdf")

COLOURS = "RdBu_r"
"""White is 0; blue and red differ for colour-blind readers too."""

INCHES_PER_LABEL = 0.12
MARGIN = 0.8
"""Inches around a panel, for names and title."""

MOST_NAMES = 200
"""Names are drawn up to this many labels; more could not be read."""


def draw_heatmaps(
    panels: Mapping[str, Clusters],
    path: str | Path,
    *,
    name_of: Callable[[str], str] = str,
    columns: int = 2,
) -> None:
    """Draw heat maps side by side into one PNG, SVG or PDF file.

    Parameters
    ----------
    panels : mapping of str to Clusters
        The clusters of each panel, by the panel's title.
    path : str or Path
        The file to write; its ending sets the format.
    name_of : callable, default str
        Returns the readable name of a label.
    columns : int, default 2
        Number of panels in a row.

    Raises
    ------
    OptionError
        If the ending is not .png, .svg or .pdf.
    BackendError
        If Matplotlib is not installed.

    Examples
    --------
    >>> from phcle.uses.clusters import cluster_labels
    >>> clusters = cluster_labels(embedding, n=8)  # doctest: +SKIP
    >>> draw_heatmaps({"animals": clusters}, "animals.png")  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise OptionError(
            f"{path}: a picture must end in {', '.join(FORMATS)}. "
            f"Got {path.suffix or 'no ending'!r} instead."
        )
    matplotlib = import_optional("matplotlib", extra="figures", purpose="a picture")
    new_figure = import_module("matplotlib.figure").Figure  # no global state
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    most = max(len(clusters.labels) for clusters in panels.values())
    side = min(max(most * INCHES_PER_LABEL, 2.6), 16.0)
    with matplotlib.rc_context({"svg.hashsalt": "phcle"}):  # names without chance
        figure = new_figure(
            figsize=(columns * (side + MARGIN) + 0.6, rows * (side + MARGIN)),
            layout="compressed",
        )
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis, (title, clusters) in zip(axes, panels.items(), strict=False):
            image = _draw(axis, title, clusters, name_of)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        figure.colorbar(
            image, ax=axes, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
        )
        form = path.suffix.lower()[1:]
        cut = {"bbox_inches": "tight", "pad_inches": 0.05}
        with write_whole(path) as temporary:
            if form == "svg":
                temporary.write_text(svg_of(figure, **cut), encoding="utf-8")
            else:
                metadata = {"CreationDate": None} if form == "pdf" else None
                figure.savefig(
                    temporary, format=form, dpi=150, metadata=metadata, **cut
                )


def _draw(
    axis: Any, title: str, clusters: Clusters, name_of: Callable[[str], str]
) -> Any:
    """Draw one heat map with label names and a box around each cluster."""
    from matplotlib.patches import Rectangle

    image = axis.imshow(clusters.similarity, cmap=COLOURS, vmin=-1.0, vmax=1.0)
    axis.set_title(title, fontsize=9)
    axis.set_xticks([])
    axis.set_yticks([])
    if len(clusters.labels) <= MOST_NAMES:
        names = [name_of(label) for label in clusters.labels]
        axis.set_yticks(np.arange(len(names)), names, fontsize=7)
        axis.tick_params(length=0, pad=2)
    start = 0
    for group in clusters.groups:
        corner, size = (start - 0.5, start - 0.5), len(group)
        box = Rectangle(corner, size, size, fill=False, edgecolor="black", lw=1.4)
        axis.add_patch(box)
        start += size
    return image
