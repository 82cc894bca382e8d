"""Draw the figures of the documentation that show results, into docs/figures.

    python tools/draw_figures.py [NAME ...]

The colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import patheffects
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PALETTE = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", RED, "#000000")
REGIONS = (
    "dog|dogs", "bird|birds", "reptile|reptiles", "primate|primates",
    "feline|cats", "fish|fish", "insect|insects", "ungulate|ungulates",
    "crustacean|crustaceans", "musical instrument|musical instruments",
    "vessel (craft)|ships", "motor vehicle|cars and trucks", "garment|clothes",
    "furniture|furniture", "building|buildings", "produce|fruit and vegetables",
    "kitchen appliance|kitchen appliances", "game equipment|balls and games",
    "weapon|weapons", "computer|computers", "geological formation|landscapes",
    "fungus|fungi", "vessel (container)|bottles and pots",
)  # fmt: skip
"""Names on the map: a node of WordNet, and what to call it."""
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
ROWS = 10
"""Rows of the completed table: those with most gaps."""
mpl.rcParams.update(
    {"svg.hashsalt": "phcle", "font.size": 10, "font.family": "DejaVu Sans"}
)


def blank(width: float, height: float) -> tuple[Figure, Any]:
    """A figure and its axes, which are not drawn."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    return figure, axes


def label_map() -> Figure:
    """The map that `phcle demo` shows, with the names of regions."""
    from phcle import PHCLE
    from phcle.atlas.layout import lay_out
    from phcle.atlas.regions import find_branches
    from phcle.datasets import load_imagenet1k

    data = load_imagenet1k()
    tree, _, glosses = data.contexts()
    model = PHCLE(choose=False, completion="none", backend="numpy")
    embedding = model.fit(
        [tree, glosses, data.properties()], names=data.names
    ).embedding_
    places = lay_out(np.asarray(embedding.unit_vectors, np.float32)).places
    hierarchy = embedding.contexts[0].hierarchy
    branches = find_branches(hierarchy, embedding.labels, most=len(PALETTE))
    figure, axes = blank(10.5, 7.2)
    colours = np.array([*PALETTE[: len(branches.nodes)], "#A3A6AD"])
    x, y = 1.45 * places[:, 0], places[:, 1]
    axes.scatter(x, y, s=13, c=colours[branches.codes], alpha=0.75, linewidths=0)
    below: dict[str, list[int]] = {}
    rows, nodes, _ = hierarchy.ancestor_distances(list(embedding.labels))
    for row, node in zip(rows, nodes, strict=True):
        below.setdefault(embedding.name_of(hierarchy.nodes[node]), []).append(row)
    outline = [patheffects.withStroke(linewidth=3, foreground="white")]
    style = {**CENTRED, "weight": "bold", "fontsize": 13}
    style |= {"path_effects": outline, "in_layout": False}
    for name in REGIONS:
        at = below[name.partition("|")[0]]
        title = name.rpartition("|")[2]
        axes.text(np.median(x[at]), np.median(y[at]), title, **style)
    axes.margins(0.04, 0.02)
    return figure


def mammals() -> Figure:
    """A table with gaps, filled in: predictions, intervals, and what is true."""
    from phcle import PHCLE, read_contexts

    folder = FOLDER.parents[1] / "examples" / "mammals"
    files = {"hierarchy": folder / "taxonomy.csv", "attributes": folder / "traits.csv"}
    embedding = PHCLE(backend="numpy").fit(read_contexts(**files)).embedding_
    filled = {(x.label, x.column): x for x in embedding.complete().cells}
    with (folder / "truth" / "hidden.csv").open(encoding="utf-8") as file:
        true = {(x["mammal"], x["column"]): x["value"] for x in csv.DictReader(file)}
    with (folder / "traits.csv").open(encoding="utf-8") as file:
        known = {x["mammal"]: x for x in csv.DictReader(file)}
    rows = [x for x, _ in Counter(label for label, _ in true).most_common(ROWS)]
    titles = {
        "mass_kg": "mass, kg",
        "gestation_days": "gestation, days",
        "litter": "litter",
        "lifespan_years": "lifespan, years",
        "diet": "diet",
    }
    figure, axes = blank(9.6, 0.62 * len(rows) + 0.6)
    axes.set(xlim=(0, 13.2), ylim=(-len(rows), 0.9))
    for j, column in enumerate(titles):
        axes.text(3.6 + 2.12 * j, 0.4, titles[column], ha="center", weight="bold")
    for i, label in enumerate(rows):
        axes.axhline(-i, color="#D3D6DC", lw=0.8)
        axes.text(0.05, -i - 0.5, label, va="center", weight="bold")
        for j, column in enumerate(titles):
            middle = (3.6 + 2.12 * j, -i - 0.5)
            if known[label][column]:
                axes.text(*middle, known[label][column], **CENTRED)
                continue
            _filled_cell(axes, middle, filled[label, column], true.get((label, column)))
    return figure


def _two_digits(number: float) -> str:
    """A number with two digits that matter, never with an exponent."""
    return f"{float(f'{number:.2g}'):,g}"


def _filled_cell(axes: Any, at: tuple[float, float], cell: Any, true: Any) -> None:
    """A predicted cell with its interval or probability, and the truth below."""
    x, y = at
    axes.add_patch(Rectangle((x - 1.03, y - 0.46), 2.06, 0.92, fc="#E3F0F8", ec="none"))
    if cell.low is None:
        said = f"{cell.value} ({cell.confidence:.0%} sure)"
        is_right = cell.value == true
    else:
        value, low, high = map(_two_digits, (cell.value, cell.low, cell.high))
        said = f"{value} ({low} to {high})"
        is_right = true is not None and cell.low <= float(true) <= cell.high
    style = {**CENTRED, "fontsize": 8.5}
    axes.text(x, y + 0.19 * bool(true), said, color=BLUE, weight="bold", **style)
    if true is None:
        return
    colour = "#00704F" if is_right else RED
    mark = "✓" if is_right else "✗"
    axes.text(x, y - 0.22, f"{mark} true: {true}", color=colour, **style)


FIGURES: dict[str, tuple[Callable[[], Figure], str]] = {
    "label-map": (label_map, "png"),
    "mammals": (mammals, "svg"),
}


def main() -> None:
    """Draw the named figures, or all."""
    for name in sys.argv[1:] or FIGURES:
        draw, ending = FIGURES[name]
        path = FOLDER / f"{name}.{ending}"
        about = {"Date": None} if ending == "svg" else {"Software": None}
        draw().savefig(path, dpi=110, metadata=about, facecolor="white")
        print(path.relative_to(FOLDER.parents[1]))


if __name__ == "__main__":
    main()
