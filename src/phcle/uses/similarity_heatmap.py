"""The similarity of labels as a picture: a heat map with a box around each cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phcle.errors import BackendError, OptionError
from phcle.files.writing import write_whole
from phcle.uses.clusters import Clusters
from phcle.uses.stable_svg import svg_of

__all__ = ["FORMATS", "draw_heatmaps"]

FORMATS = (".png", ".svg", ".pdf")

COLOURS = "RdBu_r"  # also for who cannot tell red from green; white is 0
INCHES_PER_LABEL = 0.12
MARGIN = 0.8  # inches around a panel, for names and title
MOST_NAMES = 200
"""With more labels than this, names could not be read and are left out."""


def draw_heatmaps(
    panels: Mapping[str, Clusters],
    path: str | Path,
    *,
    name_of: Callable[[str], str] = str,
    columns: int = 2,
) -> None:
    """Draw one heat map for each title, side by side, into a PNG, SVG or PDF file.

    Parameters
    ----------
    panels
        Clusters by the title of their panel.
    path
        The file; its ending says the format.
    name_of
        Readable name of a label.
    columns
        Panels in a row.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise OptionError(
            f"{path}: a picture must end in {', '.join(FORMATS)}. "
            f"Got {path.suffix or 'no ending'!r} instead."
        )
    matplotlib = _matplotlib()
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    most = max(len(clusters.labels) for clusters in panels.values())
    side = min(max(most * INCHES_PER_LABEL, 2.6), 16.0)
    with matplotlib.rc_context({"svg.hashsalt": "phcle"}):  # no random numbers in names
        figure = matplotlib.figure.Figure(
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
        form, cut = (
            path.suffix.lower()[1:],
            {"bbox_inches": "tight", "pad_inches": 0.05},
        )
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
    """One heat map, with the names of the labels and a box around each cluster."""
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
        axis.add_patch(_box(start, len(group)))
        start += len(group)
    return image


def _box(start: int, size: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(
        (start - 0.5, start - 0.5), size, size, fill=False, edgecolor="black", lw=1.4
    )


def _matplotlib() -> Any:
    """Matplotlib without its global state, or the way to get it."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise BackendError(
            "a picture needs Matplotlib: pip install 'phcle[figures]'."
        ) from error
    return matplotlib
