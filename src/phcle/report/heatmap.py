"""The similarity of labels as a heat map with a box around each cluster."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.embedding.groups import Clusters
from phcle.errors import OptionError
from phcle.files.atomic import write_whole
from phcle.optional_imports import import_optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMATS = (".png", ".svg", ".pdf")

COLOURS = "viridis"
"""From dark to light in steps of equal size, also for colour-blind readers; neither end
is lost on a light or a dark page."""

INCHES_PER_LABEL = 0.12
MARGIN = 0.8
"""Inches around the picture, for names."""

CUT: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.05}
"""Options to save a figure without empty margins."""

MOST_NAMES = 200
"""Names are drawn up to this many labels; more could not be read."""

LONGEST = 30
"""Letters of a name in a figure; longer names would leave no room for the figure."""


def shortened(name: str) -> str:
    """Cut a name so that it fits into a figure.

    Parameters
    ----------
    name : str
        A name of any length.

    Returns
    -------
    str
        The name, or its beginning and an ellipsis.

    Examples
    --------
    >>> shortened("cat"), shortened("x" * 200)[-3:]
    ('cat', 'xx…')
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def save_heatmap(
    clusters: Clusters, path: Path, *, name_of: Callable[[str], str] = str
) -> None:
    """Draw a heat map into a PNG, SVG or PDF file.

    Parameters
    ----------
    clusters : Clusters
        The clusters to draw.
    path : Path
        The file to write; its ending sets the format.
    name_of : callable, default str
        Returns the readable name of a label.

    Raises
    ------
    OptionError
        If the ending is not .png, .svg or .pdf.
    BackendError
        If Matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise OptionError(
            f"{path}: a picture must end in {', '.join(FORMATS)}. "
            f"Got {path.suffix or 'no ending'!r} instead."
        )
    import_optional("matplotlib", extra="figures", purpose="a picture")
    figure = heatmap_figure(clusters, name_of=name_of)
    with write_whole(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lower()[1:], dpi=150, **CUT)


def heatmap_figure(
    clusters: Clusters, *, name_of: Callable[[str], str] = str
) -> Figure:
    """Draw a heat map, with a scale from the least to the largest cosine.

    Parameters
    ----------
    clusters : Clusters
        The clusters to draw.
    name_of : callable, default str
        Returns the readable name of a label.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; save it with the options `CUT`.
    """
    new_figure: type[Figure] = import_module("matplotlib.figure").Figure  # no pyplot
    patches: Any = import_module("matplotlib.patches")
    side = min(max(len(clusters.labels) * INCHES_PER_LABEL, 2.6), 16.0) + MARGIN
    figure = new_figure(figsize=(side + 0.6, side), layout="compressed")
    axis = figure.subplots()
    between = clusters.similarity[~np.eye(len(clusters.labels), dtype=bool)]
    low, high = float(between.min()), float(between.max())
    image = axis.imshow(clusters.similarity, cmap=COLOURS, vmin=low, vmax=high)
    axis.set_xticks([])
    axis.set_yticks([])
    if len(clusters.labels) <= MOST_NAMES:
        names = [shortened(name_of(label)) for label in clusters.labels]
        axis.set_yticks(np.arange(len(names)), names, fontsize=7)
        axis.tick_params(length=0, pad=2)
    start = 0
    for group in clusters.groups:
        corner, size = (start - 0.5, start - 0.5), len(group)
        for colour, width in (("white", 2.8), ("black", 1.4)):  # seen on any colour
            box = patches.Rectangle(corner, size, size, fill=False, ec=colour, lw=width)
            axis.add_patch(box)
        start += size
    figure.colorbar(
        image, ax=axis, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
    )
    return figure
