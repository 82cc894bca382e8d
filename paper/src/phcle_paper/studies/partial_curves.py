"""Accuracy of several methods against the share of labels that lack a context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from phcle.errors import PhcleError
from phcle.files import write_whole
from phcle_paper.studies.stable_svg import svg_of

__all__ = ["draw_curves"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""One colour per method, told apart without colour vision."""

MARKERS = "osD^vP"


def draw_curves(
    rows: Sequence[Mapping[str, Any]], dataset: str, reference: str, stem: Path
) -> list[dict[str, str]]:
    """Write one panel per classifier to `stem` as .png and .svg.

    A bar is the corrected standard error of the difference from the reference, so it
    stands on the other methods alone.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the table: `missing`, `method`, and for each classifier its accuracy and
        `CLASSIFIER_standard_error`.
    dataset : str
        Name of the data set, for the title.
    reference : str
        The method that others are compared with; its line is thicker.
    stem : Path
        Files without their ending.

    Returns
    -------
    list of dict of str to str
        Title and file of the figure, for the table.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PhcleError("figures need: pip install 'phcle[figures]'") from error
    ending = "_standard_error"
    classifiers = [key.removesuffix(ending) for key in rows[0] if key.endswith(ending)]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure = Figure(figsize=(5.2 * len(classifiers), 4), layout="constrained")
    panels = figure.subplots(1, len(classifiers), squeeze=False)[0]
    for axes, classifier in zip(panels, classifiers, strict=True):
        for i, method in enumerate(methods):
            own = [row for row in rows if row["method"] == method]
            axes.errorbar(
                [row["missing"] for row in own],
                [row[classifier] for row in own],
                yerr=[row[f"{classifier}{ending}"] or 0.0 for row in own],
                color=COLOURS[i % len(COLOURS)],
                marker=MARKERS[i % len(MARKERS)],
                linewidth=2.5 if method == reference else 1.2,
                capsize=2,
                label=method,
            )
        axes.set(
            title=f"{dataset}, {classifier}",
            xlabel="m: share without description, and without hierarchy",
            ylabel="mean per-class accuracy (%)",
        )
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    with write_whole(stem.with_name(f"{stem.name}.png")) as path:
        figure.savefig(path, format="png", dpi=150)
    # A fixed salt keeps the ids in the file from being random.
    salted = rc_context({"svg.hashsalt": "phcle"})
    with salted, write_whole(stem.with_name(f"{stem.name}.svg")) as path:
        path.write_text(svg_of(figure), encoding="utf-8")
    return [
        {
            "title": f"{dataset}: accuracy by the share of labels that lack a context",
            "file": f"{stem.name}.png",
        }
    ]
