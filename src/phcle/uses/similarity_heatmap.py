"""The similarity of labels as a heat map with a box around each cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.errors import OptionError
from phcle.files.writing import write_whole
from phcle.optional_imports import import_optional
from phcle.uses.clusters import Clusters
from phcle.uses.stable_svg import svg_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CUT", "FORMATS", "draw_heatmaps", "heatmap_figure", "shortened"]

FORMATS = (".png", ".svg", ".pdf")

COLOURS = "viridis"
"""From dark to light in steps of equal size, also for colour-blind readers; neither end
is lost on a light or a dark page."""

INCHES_PER_LABEL = 0.12
MARGIN = 0.8
"""Inches around a panel, for names and title."""

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
    with matplotlib.rc_context({"svg.hashsalt": "phcle"}):  # names without chance
        figure = heatmap_figure(panels, name_of=name_of, columns=columns)
        form = path.suffix.lower()[1:]
        with write_whole(path) as temporary:
            if form == "svg":
                temporary.write_text(svg_of(figure, **CUT), encoding="utf-8")
            else:
                metadata = {"CreationDate": None} if form == "pdf" else None
                figure.savefig(
                    temporary, format=form, dpi=150, metadata=metadata, **CUT
                )


def heatmap_figure(
    panels: Mapping[str, Clusters],
    *,
    name_of: Callable[[str], str] = str,
    columns: int = 2,
) -> Figure:
    """Draw heat maps side by side, with one scale from the least to the largest cosine.

    Parameters
    ----------
    panels : mapping of str to Clusters
        The clusters of each panel, by the panel's title.
    name_of : callable, default str
        Returns the readable name of a label.
    columns : int, default 2
        Number of panels in a row.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; save it with the options `CUT`.
    """
    new_figure: type[Figure] = import_module("matplotlib.figure").Figure  # no pyplot
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    most = max(len(clusters.labels) for clusters in panels.values())
    side = min(max(most * INCHES_PER_LABEL, 2.6), 16.0)
    figure = new_figure(
        figsize=(columns * (side + MARGIN) + 0.6, rows * (side + MARGIN)),
        layout="compressed",
    )
    ends = _ends(panels.values())
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, (title, clusters) in zip(axes, panels.items(), strict=False):
        image = _draw(axis, title, clusters, name_of, ends)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.colorbar(
        image, ax=axes, shrink=0.5, aspect=40, pad=0.01, label="cosine similarity"
    )
    return figure


def _ends(panels: Iterable[Clusters]) -> tuple[float, float]:
    """The least and the largest cosine of two different labels."""
    cosines = [x.similarity[~np.eye(len(x.labels), dtype=bool)].ravel() for x in panels]
    found = np.concatenate(cosines)
    if not found.size:  # single labels
        return 0.0, 1.0
    return float(found.min()), float(found.max())


def _draw(
    axis: Any,
    title: str,
    clusters: Clusters,
    name_of: Callable[[str], str],
    ends: tuple[float, float],
) -> Any:
    """Draw one heat map with label names and a box around each cluster."""
    from matplotlib.patches import Rectangle

    low, high = ends
    image = axis.imshow(clusters.similarity, cmap=COLOURS, vmin=low, vmax=high)
    axis.set_title(title, fontsize=9)
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
            box = Rectangle(corner, size, size, fill=False, ec=colour, lw=width)
            axis.add_patch(box)
        start += size
    return image
