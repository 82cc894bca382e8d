"""Figures like the paper's fourth: related labels and attributes of pictures.

The paper's own, a centaur and a jetski, need a user's download of xlsa17.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from phcle.answers import UnderstoodPicture
from phcle.embedding import LabelEmbedding
from phcle.files import write_whole
from phcle.images import ImageMap
from phcle_paper.datasets import load_xlsa17
from phcle_paper.studies.described_objects import placed_objects
from phcle_paper.tables.image_benchmarks import FOLDERS

__all__ = ["Panel", "draw_panels", "novel_panels", "panel_of"]

HIT, MISS, BAR = "#0072B2", "#D55E00", "#8FB8D8"  # told apart without colour vision
COLUMNS = 3
NOVEL = ("centaur", "jetski")
N_PICTURES = 2  # of a novel class


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture's class, related labels and predicted attributes."""

    title: str
    related: tuple[tuple[str, float], ...]
    attributes: tuple[tuple[str, bool], ...]  # name, and whether it is there


def panel_of(
    title: str,
    found: UnderstoodPicture,
    embedding: LabelEmbedding,
    truth: Mapping[str, Any],
) -> Panel:
    """Make a panel from a description and the true attributes."""
    return Panel(
        title,
        tuple((embedding.name_of(x), share) for x, share in found.related),
        tuple((x.name, bool(truth[x.name])) for x in found.attributes),
    )


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


def draw_panels(panels: Sequence[Panel], stem: Path) -> None:
    """Write `stem` as .png and .svg."""
    rows = -(-len(panels) // COLUMNS)
    figure = Figure(figsize=(11.5, 2.6 * rows + 0.5), layout="constrained")
    parts = np.atleast_2d(figure.subfigures(rows, COLUMNS, squeeze=False))
    for place, panel in zip(parts.ravel(), panels, strict=False):
        _draw(place, panel)
    figure.supxlabel(
        "bars: share of the similarity    ✓ the object has it    ✗ it has not",
        fontsize=9,
    )
    for ending in ("png", "svg"):
        with write_whole(stem.with_name(f"{stem.name}.{ending}")) as path:
            figure.savefig(path, format=ending, dpi=150)


def _draw(place: Any, panel: Panel) -> None:
    place.suptitle(panel.title, fontsize=12, fontweight="bold")
    bars, words = place.subplots(1, 2, width_ratios=(1.25, 1))
    _draw_related(bars, panel.related)
    words.axis("off")
    words.set(xlim=(0, 1), ylim=(-0.5, 5.5))
    for i, (name, is_there) in enumerate(panel.attributes):
        mark = "✓" if is_there else "✗"
        colour = HIT if is_there else MISS
        text = f"{mark} {name}"
        words.text(0.02, 5 - i, text, color=colour, fontsize=10, va="center")
    if not panel.attributes:
        words.text(0.02, 5, "no attribute stands out", fontsize=10, va="center")


def _draw_related(axes: Any, related: Sequence[tuple[str, float]]) -> None:
    """Bars with the label inside, so that long names fit."""
    for i, (name, share) in enumerate(related):
        axes.barh(-i, share, color=BAR, height=0.8)
        axes.text(0.01, -i, f"{share:.0%}  {name}", fontsize=9, va="center")
    axes.set(ylim=(-5.5, 0.5), xlim=(0, 0.6))
    axes.axis("off")
