"""The report on an embedding: one HTML file, and its figures as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError
from phcle.files.writing import make_folder
from phcle.report import figures, section_data
from phcle.report.extras import needed
from phcle.report.hierarchy_branches import Branches, find_branches, hierarchy_of
from phcle.report.html_page import as_data_uri, write_page
from phcle.report.map_data import colourings, map_data
from phcle.report.map_layout import lay_out

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_report"]

N_SHOWN = 8
N_NEIGHBOURS = 5
N_CLUSTERED = 60
"""Labels of the heat map, so that their names can be read."""
N_TRIED = 2_000
"""Labels that are tried for a name on the map in print."""


def write_report(
    embedding: LabelEmbedding,
    out: Path,
    *,
    title: str = "Label embedding",
    shown: Sequence[str] = (),
    tell: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Write `out/report.html` and `out/figures/`; say what was written.

    Parameters
    ----------
    shown
        Labels of the table of neighbours, which the heat map shows with these; by
        default typical ones of every branch.
    tell
        Is told what takes long.
    """
    for module in ("jinja2", "matplotlib.figure"):
        needed(module)
    if len(embedding) < 2:
        raise ContextError("a report needs two labels or more. Got one.")
    asked = [embedding.resolve(label) for label in shown]
    folder = make_folder(out / "figures")
    branches = _branches(embedding)
    tell(f"placing {len(embedding):,} labels on the map")
    layout = lay_out(np.asarray(embedding.unit_vectors, np.float32), k=N_NEIGHBOURS)
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
    tell("drawing figures")
    named = section_data.spread_labels(embedding, branches, N_TRIED)
    drawn = _draw_figures(embedding, data, layout.places, ways[0], named)
    pictures = _save_figures(drawn, folder)
    together = _with_neighbours(data["retrieval"]) if asked else []
    if len(together) < 2:
        together = section_data.spread_labels(embedding, branches, N_CLUSTERED)
    pictures["clusters"] = _draw_clusters(embedding, together, folder)
    page = out / "report.html"
    write_page(
        page,
        "report.html.j2",
        title=title,
        pictures=pictures,
        method=layout.method,
        map=map_data(embedding, layout, ways),
        **data,
    )
    return {
        "report": str(page),
        "figures": sorted(map(str, folder.iterdir())),
        "labels": len(embedding),
        "map": layout.method,
        "clustered": together,
        **data,
    }


def _branches(embedding: LabelEmbedding) -> Branches | None:
    found = hierarchy_of(embedding)
    if found is None:
        return None
    branches = find_branches(found[1], embedding.labels)
    return branches if branches.nodes else None


def _draw_figures(
    embedding: LabelEmbedding,
    data: dict[str, Any],
    places: Any,
    colouring: dict[str, Any],
    named: Sequence[str],
) -> dict[str, Figure]:
    """Every figure that there is something to show in, by name."""
    row = {label: i for i, label in enumerate(embedding.labels)}
    names = [(row[label], embedding.name_of(label)) for label in named]
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
    """Files of all figures, and the figures as elements of the page."""
    markup = needed("markupsafe").Markup
    pictures = {}
    for name, figure in drawn.items():
        files = figures.save_figure(figure, folder / name)
        if name == "map":  # many points: the picture is smaller than its elements
            pictures[name] = as_data_uri(files["png"])
        else:
            # Matplotlib escapes the text in it.
            pictures[name] = markup(figures.inline_svg(figure))
    return pictures


def _with_neighbours(retrieval: list[dict[str, Any]]) -> list[str]:
    """The labels asked about and those near them, as far as names can be read."""
    near = (x["label"] for row in retrieval for x in row["neighbours"])
    asked = (row["label"] for row in retrieval)
    return list(dict.fromkeys([*asked, *near]))[:N_CLUSTERED]


def _draw_clusters(
    embedding: LabelEmbedding, labels: Sequence[str], folder: Path
) -> str:
    """The heat map of some labels, as the address of a picture."""
    from phcle.uses.clusters import cluster_labels
    from phcle.uses.similarity_heatmap import draw_heatmaps

    clusters = cluster_labels(embedding, labels, n=min(8, len(labels)))
    for ending in ("svg", "png"):
        path = folder / f"clusters.{ending}"
        with figures.styled():
            draw_heatmaps({"": clusters}, path, name_of=embedding.name_of)
    return as_data_uri(path)
