"""The commands clusters and index: groups of labels, and an index for large files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import check_can_write, show, show_table, show_written
from phcle.cli.query_commands import labels_or_files

if TYPE_CHECKING:
    from phcle.answers import ClusteredLabels
    from phcle.contexts.relational.taxonomy import Hierarchy
    from phcle.embedding import LabelEmbedding
    from phcle.uses.clusters import Clusters

__all__ = ["clusters", "index"]


def clusters(
    file: EmbeddingFile,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL|FILE", help="Cluster these labels only; may be repeated."
        ),
    ] = None,
    n: Annotated[int, typer.Option(help="Number of clusters.")] = 8,
    out: Annotated[
        Path | None, typer.Option(help="Draw a heat map: a .png, .svg or .pdf file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Group similar labels, and say how well a hierarchy agrees.

    The agreement is shown if the embedding was learned with a hierarchy.
    """
    from phcle.answers import DrawnClusters
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
        answer = DrawnClusters(file=str(out), **vars(answer))
    show(answer, _show, as_json=as_json)
    if out is not None and not as_json:
        show_written(out)


def index(
    file: EmbeddingFile,
    as_json: Json = False,
) -> None:
    """Write an approximate index beside a large embedding; `nearest` then uses it."""
    from phcle.answers import IndexFile
    from phcle.embedding import load
    from phcle.uses.neighbour_search import Neighbours, index_file

    path = index_file(file)
    check_can_write(path, [file])
    embedding = load(file)
    Neighbours(embedding, exact=False).save(path)
    answer = IndexFile(len(embedding), str(path))
    show(answer, lambda _: show_written(path), as_json=as_json)


def _answer(embedding: LabelEmbedding, found: Clusters) -> ClusteredLabels:
    """Groups with names, and the agreement with the hierarchy if there is one."""
    from phcle.answers import ClusteredLabels
    from phcle.uses.clusters import agreement
    from phcle.uses.named_answers import named

    tree = _hierarchy(embedding, found.labels)
    return ClusteredLabels(
        tuple(tuple(named(embedding, x) for x in group) for group in found.groups),
        None if tree is None else agreement(found, tree),
    )


def _hierarchy(embedding: LabelEmbedding, labels: tuple[str, ...]) -> Hierarchy | None:
    """The first hierarchy of the embedding that knows all these labels."""
    for context in embedding.contexts:
        recipe = getattr(context.data, "hierarchy", None)
        if recipe is not None and set(labels) <= set(recipe.hierarchy.index):
            return recipe.hierarchy  # type: ignore[no-any-return]
    return None


def _show(answer: ClusteredLabels) -> None:
    """Print the clusters and the agreement."""
    show_table(
        ("cluster", "labels"),
        (
            (str(number), ", ".join(x.name for x in group))
            for number, group in enumerate(answer.clusters, 1)
        ),
    )
    found = answer.agreement
    if found is not None:
        typer.echo(
            f"Agreement with the hierarchy: cophenetic correlation "
            f"{found.cophenetic:.3f}, adjusted Rand index "
            f"{found.rand_index:.3f} against {found.n_families} families"
        )
