"""Clusters of labels, as a list and as a picture; and the index of a large file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli import terminal_tables
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import check_can_write, show
from phcle.cli.query_files import labels_or_files

if TYPE_CHECKING:
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.embedding import LabelEmbedding
    from phcle.uses.clusters import Clusters

__all__ = ["clusters", "index"]


def clusters(
    file: EmbeddingFile,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels", metavar="LABEL|FILE", help="Some labels only; repeat it."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", help="How many clusters.")] = 8,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A heat map: a .png, .svg or .pdf file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Group similar labels, and say how well a hierarchy agrees.

    The file must come from a fit with a hierarchy for that; clusters need none.
    """
    from phcle.embedding import load
    from phcle.uses.clusters import cluster_labels
    from phcle.uses.similarity_heatmap import draw_heatmaps

    if out is not None:
        check_can_write(out, [file])
    embedding = load(file)
    found = cluster_labels(embedding, labels_or_files(labels), n=n)
    answer = _answer(embedding, found)
    if out is not None:
        draw_heatmaps({file.name: found}, out, name_of=embedding.name_of)
        answer["file"] = str(out)
    show(answer, _show, as_json=as_json)


def index(
    file: EmbeddingFile,
    as_json: Json = False,
) -> None:
    """Make an approximate index beside a large embedding, which nearest then uses."""
    from phcle.embedding import load
    from phcle.uses.neighbour_search import Neighbours, index_file

    path = index_file(file)
    check_can_write(path, [file])
    embedding = load(file)
    Neighbours(embedding, exact=False).save(path)
    answer = {"labels": len(embedding), "file": str(path)}
    show(answer, lambda _: terminal_tables.show_written(path), as_json=as_json)


def _answer(embedding: LabelEmbedding, found: Clusters) -> dict[str, Any]:
    """Groups with names, and the agreement with the hierarchy where there is one."""
    from dataclasses import asdict

    from phcle.uses.clusters import agreement

    tree = _hierarchy(embedding, found.labels)
    return {
        "clusters": [
            [{"label": x, "name": embedding.name_of(x)} for x in group]
            for group in found.groups
        ],
        "agreement": None if tree is None else asdict(agreement(found, tree)),
    }


def _hierarchy(embedding: LabelEmbedding, labels: tuple[str, ...]) -> Hierarchy | None:
    """The first hierarchy of the embedding that knows all these labels."""
    for context in embedding.contexts:
        recipe = getattr(context.data, "hierarchy", None)
        if recipe is not None and set(labels) <= set(recipe.hierarchy.index):
            return recipe.hierarchy  # type: ignore[no-any-return]
    return None


def _show(answer: dict[str, Any]) -> None:
    terminal_tables.show_table(
        ("cluster", "labels"),
        (
            (str(number), ", ".join(x["name"] for x in group))
            for number, group in enumerate(answer["clusters"], 1)
        ),
    )
    found = answer["agreement"]
    if found is not None:
        typer.echo(
            f"Agreement with the hierarchy: cophenetic correlation "
            f"{found['cophenetic']:.3f}, adjusted Rand index "
            f"{found['rand_index']:.3f} against {found['n_families']} families"
        )
    if "file" in answer:
        terminal_tables.show_written(answer["file"])
