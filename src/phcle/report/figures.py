"""The figures of a report, as Matplotlib figures saved as PNG and SVG.

The colours are those of Okabe and Ito. Lines also differ in style, so that every figure
can be read without colour.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle.contexts.alignment import KINDS
from phcle.files.atomic import write_whole
from phcle.report.heatmap import shortened
from phcle.report.html_page import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


INK = "#1b1b1e"
"""Colour of text and axes only: `inline_svg` replaces it by the page's text colour."""

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#900e2e",
    "#471ec5", "#f5b9bf", "#4c456d", "#3aeb69", "#cf189f", "#95bb87", "#a73fe3",
    "#377453", "#1ce1f1", "#975817", "#928ffd", "#dc2047", "#f85c70"
)  # fmt: skip
"""The groups of `web/static/page.css`, in light mode."""
OTHER = "#a3a6ad"
STYLES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX"
HATCHES = ("", "//", "..", "xx")

MOST_NAMES = 40
LETTER, LINE = 0.024, 0.05
"""Width of a letter and height of a line on the map, whose sides have length 2."""

STYLE = {
    "text.parse_math": False,  # a label may hold dollar signs
    "font.size": 10,
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "phcle",  # the same figure always gives the same file
}

SVG: dict[str, Any] = {"format": "svg", "metadata": {"Date": None}}

Section = dict[str, Any]


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the report's style, and ignore letters that the font lacks."""
    matplotlib = needed("matplotlib")
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, with constrained layout."""
    make: type[Figure] = needed("matplotlib.figure").Figure
    return make(figsize=(width, height), layout="constrained")


@styled()
def save_figure(figure: Figure, stem: Path, **options: Any) -> dict[str, Path]:
    """Write a figure as PNG and SVG.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    stem : Path
        The files' path without its ending.
    **options : Any
        Options of `Figure.savefig`.

    Returns
    -------
    dict of str to Path
        The files, by ending: "png" and "svg".
    """
    paths = {end: stem.with_name(f"{stem.name}.{end}") for end in ("png", "svg")}
    with write_whole(paths["png"]) as temporary:
        figure.savefig(temporary, format="png", dpi=160, facecolor="#ffffff", **options)
    with write_whole(paths["svg"]) as temporary:
        figure.savefig(temporary, **SVG, facecolor="#ffffff", **options)
    return paths


@styled()
def inline_svg(figure: Figure, **options: Any) -> str:
    """Return a figure as an SVG element for a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    **options : Any
        Options of `Figure.savefig`.

    Returns
    -------
    str
        The element, transparent and with text in the page's colour.
    """
    buffer = StringIO()
    figure.savefig(buffer, **SVG, facecolor="none", **options)
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")


@styled()
def convergence_figure(section: Section) -> Figure:
    """Draw the objective above its floor, and every term relative to its first value.

    Parameters
    ----------
    section : dict
        From `section_data.convergence`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure = _new_figure(9, 3.6)
    left, right = figure.subplots(1, 2)
    sweeps = section["sweeps"]
    left.plot(sweeps, np.array(section["gap"], float), color=COLOURS[0], marker="o")
    left.set(xlabel="sweep", title="objective above its floor")
    for i, term in enumerate(section["terms"]):
        values = np.array(term["values"], float)
        right.plot(
            sweeps,
            values / (values[0] or 1.0),
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i % len(STYLES)],
            marker=MARKERS[i % len(MARKERS)],
            markersize=4,
            label=term["name"],
        )
    right.set(xlabel="sweep", title="each term, relative to the first sweep")
    figure.legend(
        *right.get_legend_handles_labels(), loc="outside lower center", ncols=4
    )
    for axes in (left, right):
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


@styled()
def coverage_figure(section: Section, n_labels: int) -> Figure:
    """Draw the share of the labels known in each pair of contexts.

    Parameters
    ----------
    section : dict
        From `section_data.coverage`.
    n_labels : int
        Number of all labels.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    names = section["names"]
    share = np.array(section["together"], float) / max(n_labels, 1)
    figure = _new_figure(3.2 + 0.75 * len(names), 1.6 + 0.5 * len(names))
    axes = figure.subplots()
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(*share.shape):
        colour = "#ffffff" if share[i, j] > 0.55 else "#000000"
        axes.text(j, i, f"{share[i, j]:.0%}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("labels known in both contexts")
    return figure


@styled()
def weights_figure(contexts: Sequence[Section]) -> Figure:
    """Draw the weights of the contexts as bars.

    Parameters
    ----------
    contexts : sequence of dict
        `contexts` of `section_data.summary`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    names = [context["name"] for context in contexts]
    weights = [context["weight"] for context in contexts]
    figure = _new_figure(6.5, 0.9 + 0.4 * len(names))
    axes = figure.subplots()
    kinds = [list(KINDS).index(context["kind"]) for context in contexts]
    colours = [COLOURS[kind % len(COLOURS)] for kind in kinds]
    bars = axes.barh(range(len(names)), weights, color=colours, height=0.6)
    for bar, kind in zip(bars, kinds, strict=True):
        bar.set_hatch(HATCHES[kind % len(HATCHES)])
        bar.set_edgecolor("#ffffff")
    titles = [f"{x['name']} ({x['kind']})" for x in contexts]
    axes.set_yticks(range(len(names)), titles)
    axes.bar_label(bars, [f"{weight:.3g}" for weight in weights], padding=4)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("weight")
    return figure


@styled()
def sparsity_figure(sections: Sequence[Section]) -> Figure:
    """Draw the strength of each attribute, the strongest first.

    Parameters
    ----------
    sections : sequence of dict
        From `section_data.sparsity`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure = _new_figure(8, 3.4)
    axes = figure.subplots()
    for i, section in enumerate(sections):
        strength = np.array(section["strengths"])
        strength = strength / (strength.max(initial=0.0) or 1.0)
        axes.plot(
            np.linspace(0, 100, len(strength)),
            strength,
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i % len(STYLES)],
            label=f"{section['name']} ({section['columns']:,})",
        )
    axes.set(
        xlabel="attributes, the strongest first (%)",
        ylabel="strength, relative to the strongest",
        ylim=(0, None),
    )
    axes.legend()
    return figure


@styled()
def map_figure(
    places: npt.NDArray[np.floating],
    groups: Sequence[str],
    codes: npt.NDArray[np.integer],
    named: Sequence[tuple[int, str]],
) -> Figure:
    """Draw the map of the labels for print: groups by colour, some names.

    Parameters
    ----------
    places : ndarray of shape (labels, 2)
        Coordinates from −1 to 1.
    groups : sequence of str
        Names of the groups, the last one "other".
    codes : ndarray of int, shape (labels,)
        The group of each label.
    named : sequence of (int, str)
        Rows and names to write on the map, as far as there is room.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure = _new_figure(9, 7)
    axes = figure.subplots()
    size = float(np.clip(20_000 / max(len(places), 1), 1, 18))
    last = len(groups) - 1
    for code, group in enumerate(groups):
        own = codes == code
        if not own.any():
            continue
        axes.scatter(
            places[own, 0],
            places[own, 1],
            s=size,
            linewidths=0,
            color=OTHER if code == last else COLOURS[code],
            label=f"{shortened(group)} ({own.sum():,})",
            rasterized=True,  # an SVG with 80,000 circles is unusable
        )
    for row, name in _apart(places, named):
        axes.annotate(
            shortened(name),
            places[row],
            xytext=(3, 3),
            textcoords="offset points",
            fontsize=8,
        )
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=4, markerscale=(30 / size) ** 0.5)
    return figure


def _apart(
    places: npt.NDArray[np.floating], named: Sequence[tuple[int, str]]
) -> list[tuple[int, str]]:
    """The names that do not overlap earlier ones, on a map from −1 to 1."""
    kept: list[tuple[int, str]] = []
    for row, name in named:
        shifts = [(places[row] - places[other], before) for other, before in kept]
        if all(
            abs(down) > LINE or not -LETTER * len(name) < right < LETTER * len(before)
            for (right, down), before in shifts
        ):
            kept.append((row, name))
        if len(kept) == MOST_NAMES:
            break
    return kept
