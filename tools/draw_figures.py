"""Draw the figures of the documentation into docs/figures. Runs are reproducible.

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
GREY = "#555555"
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
ROWS = 10
"""Rows of the completed table: those with most gaps."""
mpl.rcParams.update(
    {"svg.hashsalt": "phcle", "font.size": 10, "font.family": "DejaVu Sans"}
)


def factors() -> Figure:
    """Two tables with missing values and the factors that approximate them."""
    rng = np.random.default_rng(3)
    figure = Figure(figsize=(9.6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(0, 20.4), ylim=(-1.6, 6.2), aspect="equal")
    axes.axis("off")
    counts = rng.poisson(1.2, (5, 5))
    counts[3] = -1  # a label that the hierarchy does not contain
    values = rng.random((5, 4))
    unknown = rng.random((5, 4)) < 0.25
    unknown[1] = True
    _grid(axes, 1.8, 0, counts / 4.0, counts < 0, BLUE)
    _grid(axes, 7.2, 0, values, unknown, ORANGE)
    for row, label in enumerate(("cat", "lion", "dog", "wolf", "hare")):
        axes.text(1.6, 4.5 - row, label, ha="right", va="center")
    axes.text(4.3, 5.5, "D: counts", ha="center", weight="bold")
    axes.text(9.2, 5.5, "A: values", ha="center", weight="bold")
    axes.text(4.3, -0.8, "white: missing,\nnot in the sum", ha="center", va="top")
    axes.text(11.9, 2.5, "≈", ha="center", va="center", fontsize=20)
    _grid(axes, 12.7, 0, rng.random((5, 2)), np.zeros((5, 2), bool), GREEN)
    _grid(axes, 15.2, 3, rng.random((2, 5)), np.zeros((2, 5), bool), BLUE)
    _grid(axes, 15.2, 0, rng.random((2, 4)), np.zeros((2, 4), bool), ORANGE)
    axes.text(13.7, 5.5, "W", ha="center", weight="bold")
    axes.text(17.7, 5.5, "Cᵀ", ha="center", weight="bold")
    axes.text(17.2, 2.35, "Uᵀ", ha="center", weight="bold")
    axes.text(13.7, -0.8, "one row per label:\nthe embedding", ha="center", va="top")
    return figure


def _grid(axes: Any, x: float, y: float, shade: Any, hole: Any, colour: str) -> None:
    """Cells as squares, darker for larger values. Missing cells are white."""
    rows, columns = shade.shape
    for i in range(rows):
        for j in range(columns):
            is_hole = bool(hole[i, j])
            corner = (x + j, y + rows - 1 - i)
            fill = {
                "fc": "white" if is_hole else colour,
                "alpha": 1.0 if is_hole else 0.15 + 0.75 * min(shade[i, j], 1.0),
                "ec": "none",
            }
            edge = {"fc": "none", "ec": GREY, "lw": 0.7, "ls": ":" if is_hole else "-"}
            for style in (fill, edge):
                axes.add_patch(Rectangle(corner, 1, 1, **style))


def loss() -> Figure:
    """The relational loss of one pair, and its minimum."""
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    x = np.linspace(-5, 5, 400)
    chance = 2.0
    for count, colour, style in ((0, GREY, ":"), (1, BLUE, "--"), (6, RED, "-")):
        q = chance + count
        value = q * np.logaddexp(0, x) - count * x
        axes.plot(x, value, color=colour, ls=style, label=f"D = {count}")
        if count:
            best = np.log(count / chance)
            low = q * np.logaddexp(0, best) - count * best
            axes.plot(best, low, "o", color=colour)
            text, aside = f"log(D/B) = {best:.2f}", 2.2 if count > 1 else -3.6
            axes.annotate(
                text, (best, low), (best, low + aside), ha="center", color=colour
            )
    axes.set(xlabel="x = w · c", ylabel="loss of the pair, B = 2", ylim=(-3, 25))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def label_map() -> Figure:
    """The map that `phcle demo` shows, with the names of regions."""
    from phcle import PHCLE
    from phcle.datasets import load_imagenet1k
    from phcle.report.hierarchy_branches import branches_of
    from phcle.report.map_layout import lay_out

    data = load_imagenet1k()
    hierarchy, _, glosses = data.contexts()
    model = PHCLE(choose=False, completion="none", backend="numpy")
    embedding = model.fit(
        [hierarchy, glosses, data.properties()], names=data.names
    ).embedding_
    places = lay_out(np.asarray(embedding.unit_vectors, np.float32)).places
    branches = branches_of(embedding)
    figure = Figure(figsize=(10.5, 7.2), layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    colours = np.array([*PALETTE[: len(branches.nodes)], "#A3A6AD"])
    x, y = 1.45 * places[:, 0], places[:, 1]
    axes.scatter(x, y, s=13, c=colours[branches.codes], alpha=0.75, linewidths=0)
    below: dict[str, list[int]] = {}
    tree = embedding.contexts[0].hierarchy
    rows, nodes, _ = tree.ancestor_distances(list(embedding.labels))
    for row, node in zip(rows, nodes, strict=True):
        below.setdefault(embedding.name_of(tree.nodes[node]), []).append(row)
    outline = [patheffects.withStroke(linewidth=3, foreground="white")]
    for name in REGIONS:
        at = below[name.partition("|")[0]]
        axes.text(
            float(np.median(x[at])),
            float(np.median(y[at])),
            name.rpartition("|")[2],
            ha="center",
            va="center",
            weight="bold",
            fontsize=13,
            path_effects=outline,
            in_layout=False,
        )
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
    figure = Figure(figsize=(9.6, 0.62 * len(rows) + 0.6), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(0, 13.2), ylim=(-len(rows), 0.9))
    axes.axis("off")
    for j, column in enumerate(titles):
        axes.text(3.6 + 2.12 * j, 0.4, titles[column], ha="center", weight="bold")
    for i, label in enumerate(rows):
        axes.axhline(-i, color="#D3D6DC", lw=0.8)
        axes.text(0.05, -i - 0.5, label, va="center", weight="bold")
        for j, column in enumerate(titles):
            middle = (3.6 + 2.12 * j, -i - 0.5)
            if known[label][column]:
                axes.text(*middle, known[label][column], ha="center", va="center")
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
    style = {"ha": "center", "va": "center", "fontsize": 8.5}
    if true is None:
        axes.text(x, y, said, color=BLUE, weight="bold", **style)
        return
    axes.text(x, y + 0.19, said, color=BLUE, weight="bold", **style)
    colour = "#00704F" if is_right else RED
    mark = "✓" if is_right else "✗"
    axes.text(x, y - 0.22, f"{mark} true: {true}", color=colour, **style)


FIGURES: dict[str, tuple[Callable[[], Figure], str]] = {
    "factors": (factors, "svg"),
    "loss": (loss, "svg"),
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
