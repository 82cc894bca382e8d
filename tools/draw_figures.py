"""Draw the figure of the documentation that shows results: docs/figures/mammals.svg.

    python tools/draw_figures.py

The colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
BLUE, RED = "#0072B2", "#D55E00"
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
ROWS = 10
"""Rows of the completed table: those with most gaps."""
mpl.rcParams.update(
    {"svg.hashsalt": "phcle", "font.size": 10, "font.family": "DejaVu Sans"}
)


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
    axes.axis("off")
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


def main() -> None:
    """Draw the table of mammals."""
    path = FOLDER / "mammals.svg"
    mammals().savefig(path, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
