"""The report on an embedding: one HTML file, and its figures as PNG and SVG."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.answers import WrittenReport
from phcle.embedding.groups import cluster_labels, cluster_names
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.summary import summarise
from phcle.errors import ContextError, some
from phcle.files.atomic import make_folder
from phcle.report import figures, section_data
from phcle.report.heatmap import CUT, heatmap_figure
from phcle.report.hierarchy_branches import branches_of
from phcle.report.html_page import needed, write_page
from phcle.report.label_cards import N_ON_CARD, page_data
from phcle.report.map_data import colourings
from phcle.report.map_layout import Layout, lay_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure


N_SHOWN = 8
"""Labels whose neighbours are listed."""
N_NEIGHBOURS = 5
"""Neighbours listed for each."""
N_CLUSTERED = 60
"""Labels of the heat map; the names of more could not be read."""
N_TRIED = 2_000
"""Labels to try for names on the printed map; those without room are left out."""


def write_report(
    embedding: LabelEmbedding,
    out: Path,
    *,
    title: str = "Label embedding",
    shown: Sequence[str] = (),
    layout: Layout | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> WrittenReport:
    """Write a report on an embedding: `out/report.html` and `out/figures/`.

    The page is one file with all figures inside. If anything fails or is interrupted,
    an older report stays as it was.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding, with two labels or more.
    out : Path
        The folder to write into; created if it does not exist.
    title : str, default "Label embedding"
        Heading of the page.
    shown : sequence of str, optional
        Labels whose neighbours are listed, and shown in the heat map. If left out,
        typical labels of every branch.
    layout : Layout, optional
        Places and neighbours of all labels, if they are known already: with many
        labels, most of the time goes into them.
    progress : callable, optional
        Called with each stage, and the numbers of its steps done and in total; a total
        of 0 is unknown.

    Returns
    -------
    WrittenReport
        The files written, and the data of the report.

    Raises
    ------
    BackendError
        If the extra `phcle[report]` is not installed.
    ContextError
        If the embedding has a single label.
    """
    for module in ("jinja2", "matplotlib.figure"):
        needed(module)
    if len(embedding) < 2:
        raise ContextError("a report needs two labels or more. Got one.")
    asked = [embedding.resolve(label) for label in shown]
    folder = make_folder(out / "figures")
    branches = branches_of(embedding)
    if layout is None:
        layout = lay_out(
            np.asarray(embedding.unit_vectors, np.float32),
            k=N_ON_CARD,
            progress=partial(progress, "placing labels on the map"),
        )
    layout = replace(layout, neighbours=layout.neighbours[:, :N_ON_CARD])
    ways = colourings(embedding, branches)
    data: dict[str, Any] = {
        "summary": section_data.summary(embedding),
        "coverage": section_data.coverage(embedding),
        "convergence": section_data.convergence(embedding),
        "sparsity": section_data.sparsity(embedding),
        "retrieval": section_data.retrieval(
            embedding,
            asked or section_data.spread_labels(embedding, branches, N_SHOWN),
            N_NEIGHBOURS,
        ),
    }
    progress("preparing cards of labels", 0, 0)
    inside = page_data(embedding, layout, ways)
    left_out = _left_out(inside.left_out)
    progress("drawing figures", 0, 0)
    named = section_data.spread_labels(embedding, branches, N_TRIED)
    drawn = _draw_figures(embedding, data, layout.places, ways[0], named)
    together = _with_neighbours(data["retrieval"]) if asked else []
    if len(together) < 2:
        together = section_data.spread_labels(embedding, branches, N_CLUSTERED)
    clusters = cluster_labels(embedding, together, n=min(8, len(together)))
    with figures.styled():
        drawn["clusters"] = heatmap_figure(clusters, name_of=embedding.name_of)
    names = cluster_names(embedding, clusters.groups)
    sizes = map(len, clusters.groups)
    page = out / "report.html"
    with TemporaryDirectory(prefix=".figures-", dir=out) as unfinished:
        pictures = _save_figures(drawn, Path(unfinished))
        write_page(
            page,
            "report.html.j2",
            title=title,
            pictures=pictures,
            named_clusters=list(zip(names, sizes, strict=True)),
            method=layout.method,
            completion=summarise(embedding).completion,
            map=inside.text,
            left_out=left_out,
            **data,
        )
        made = list(Path(unfinished).iterdir())
        # All old figures go first: a kill leaves fewer figures, but no mixture.
        for file in made:
            (folder / file.name).unlink(missing_ok=True)
        for file in made:
            file.replace(folder / file.name)
    return WrittenReport(
        report=str(page),
        figures=tuple(sorted(map(str, folder.iterdir()))),
        labels=len(embedding),
        map=layout.method,
        clustered=tuple(together),
        left_out=left_out,
        **data,
    )


def _left_out(parts: Sequence[str]) -> str:
    """What the cards and filters of the page do not hold, and the remedy."""
    if not parts:
        return ""
    return (
        f"Cards, colours and filters of the page leave out {some(parts)}: there is no "
        "room for them with so many labels. `phcle explore` shows them, and so does a "
        "report on a fit of fewer contexts or columns."
    )


def _draw_figures(
    embedding: LabelEmbedding,
    data: dict[str, Any],
    places: Any,
    colouring: dict[str, Any],
    named: Sequence[str],
) -> dict[str, Figure]:
    """All figures for which there is data, by name."""
    names = [(embedding.row_of[x], embedding.name_of(x)) for x in named]
    drawn = {
        "map": figures.map_figure(
            places, colouring["groups"], colouring["codes"], names
        )
    }
    if len(data["convergence"]["sweeps"]) > 1:
        drawn["convergence"] = figures.convergence_figure(data["convergence"])
    if embedding.contexts:
        drawn["coverage"] = figures.coverage_figure(data["coverage"], len(embedding))
        drawn["weights"] = figures.weights_figure(data["summary"]["contexts"])
    if data["sparsity"]:
        drawn["sparsity"] = figures.sparsity_figure(data["sparsity"])
    return drawn


def _save_figures(drawn: dict[str, Figure], folder: Path) -> dict[str, Any]:
    """Write the files of all figures, and return them as elements of the page."""
    markup = needed("markupsafe").Markup
    pictures = {}
    for name, figure in drawn.items():
        cut = CUT if name == "clusters" else {}
        files = figures.save_figure(figure, folder / name, **cut)
        if name == "map":  # with many points, PNG is smaller than SVG
            content = base64.b64encode(files["png"].read_bytes()).decode()
            pictures[name] = f"data:image/png;base64,{content}"
        else:
            # Matplotlib escapes the labels in it.
            pictures[name] = markup(figures.inline_svg(figure, **cut))
    return pictures


def _with_neighbours(retrieval: list[dict[str, Any]]) -> list[str]:
    """The labels asked for and their neighbours, up to the limit of the heat map."""
    near = (x["label"] for row in retrieval for x in row["neighbours"])
    asked = (row["label"] for row in retrieval)
    return list(dict.fromkeys([*asked, *near]))[:N_CLUSTERED]
