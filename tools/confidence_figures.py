"""Draw how far confidences and intervals can be trusted, into docs/figures.

    python tools/confidence_figures.py [results/confidence.json]

The numbers are in docs/figures/confidence.json, or are taken from the file, which
`phcle reproduce confidence` writes. The table of docs/uses.md is printed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
NUMBERS = FOLDER / "confidence.json"
BLUE, GREY = "#0072B2", "#555555"
FEWEST = 20  # bins with fewer cells are left out
DIGITS = 4
HIDDEN = ("single cells", "whole labels")
WHAT = {
    "categories": "the value shown",
    "yes or no": "yes or no",
    "tags": "tags",
    "numbers": "above the mean",
}
mpl.rcParams.update(
    {"svg.hashsalt": "phcle", "font.size": 9, "font.family": "DejaVu Sans"}
)

Row = Mapping[str, Any]


def reliability(rows: Sequence[Row]) -> Figure:
    """Draw what is true against what was said; a panel for each table and way."""
    kinds = list(dict.fromkeys((row["dataset"], row["type"]) for row in rows))
    blocks = [kinds[i : i + 4] for i in range(0, len(kinds), 4)]
    figure = Figure(figsize=(8.4, 4.5 * len(blocks)), layout="constrained")
    grid = figure.subplots(2 * len(blocks), 4, sharex=True, sharey=True)
    for axes in grid.flat:
        axes.set_axis_off()
    for block, own in enumerate(blocks):
        for i, (dataset, kind) in enumerate(own):
            for j, hidden in enumerate(HIDDEN):
                axes = grid[2 * block + j, i]
                _panel(axes, rows, (dataset, kind, hidden))
                if j == 0:
                    title = f"{dataset.partition(' (')[0]}, {WHAT[kind]}"
                    axes.set_title(title, fontsize=9)
                else:
                    axes.set_xlabel("said")
                if i == 0:
                    axes.set_ylabel(f"{hidden} hidden\ntrue")
    return figure


def _panel(axes: Any, rows: Sequence[Row], key: tuple[str, ...]) -> None:
    """One reliability diagram."""
    axes.set_axis_on()
    axes.fill_between([0, 1], [-0.03, 0.97], [0.03, 1.03], color="#DDDDDD", lw=0)
    for row in rows:
        if _key(row) != key:
            continue
        bins = [x for x in row["bins"] if x["n_cells"] >= FEWEST]
        axes.errorbar(
            [x["said"] for x in bins],
            [x["true"] for x in bins],
            yerr=[2 * x["error"] for x in bins],
            color=BLUE,
            marker="o",
            markersize=3.5,
            linewidth=0.8,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)


def coverage(numbers: Sequence[Row]) -> Figure:
    """Draw how many numbers the intervals hold, and how wide they are."""
    rows = [row for row in numbers if "coverage" in row][::-1]
    names = [f"{row['dataset']}, {row['hidden']}" for row in rows]
    figure = Figure(figsize=(7.6, 0.6 + 0.32 * len(rows)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.axvspan(0.77, 0.83, color="#DDDDDD", lw=0)
    left.axvline(0.8, color=GREY, linewidth=0.8)
    left.errorbar(
        [row["coverage"] for row in rows],
        range(len(rows)),
        xerr=[2 * row["coverage_error"] for row in rows],
        fmt="o",
        color=BLUE,
        markersize=4,
    )
    left.set(xlim=(0.7, 0.9), xlabel="share of the numbers inside (± 2 errors)")
    left.set_yticks(range(len(rows)), names)
    right.barh(range(len(rows)), [row["width"] for row in rows], 0.6, color=BLUE)
    right.axvline(1, color=GREY, linewidth=0.8)
    right.set(xlim=(0, 1.1), xlabel="median width (1: without a prediction)")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def table(rows: Sequence[Row]) -> str:
    """Return the table of the documentation, and how many bins are outside."""
    columns = "data | type | hidden | cells | error | bins outside"
    columns += " | 80 % intervals hold | width"
    lines = [f"| {columns} |", "| --- " * len(columns.split("|")) + "|"]
    for row in rows:
        cells = [row["dataset"].replace(" (", ", ").rstrip(")"), *_key(row)[1:]]
        n = sum(x["n_cells"] >= FEWEST for x in row["bins"])
        cells += [f"{row['n_cells']:,}", f"{100 * row['ece']:.1f} %"]
        cells += [f"{row['outside']} of {n}"]
        if "coverage" in row:
            share, error = 100 * row["coverage"], 100 * row["coverage_error"]
            cells += [f"{share:.1f} ± {error:.1f} %", f"{row['width']:.2f}"]
        else:
            cells += ["–", "–"]
        lines.append(f"| {' | '.join(cells)} |")
    bins = [x for row in rows for x in row["bins"] if x["n_cells"] >= FEWEST]
    lines.append(f"outside: {sum(x['outside'] for x in rows)} of {len(bins)}")
    return "\n".join(lines)


def _key(row: Row) -> tuple[str, ...]:
    return row["dataset"], row["type"], row["hidden"]


def _rounded(value: Any) -> Any:
    """The same numbers with few digits."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    return [_rounded(x) for x in value] if isinstance(value, list) else value


def main() -> None:
    """Take new numbers, if there are any, and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", type=Path, nargs="?", help="of the study")
    given = parser.parse_args()
    if given.numbers:
        found = _rounded(json.loads(given.numbers.read_text())["rows"])
        NUMBERS.write_text(json.dumps({"rows": found}, sort_keys=True) + "\n")
    rows = json.loads(NUMBERS.read_text())["rows"]
    for name, figure in (
        ("reliability", reliability(rows)),
        ("coverage", coverage(rows)),
    ):
        path = FOLDER / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None}, facecolor="white")
        print(path.relative_to(FOLDER.parents[1]))
    print(table(rows))


if __name__ == "__main__":
    main()
