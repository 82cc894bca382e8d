"""The command clusters: groups of similar labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from phcle.cli.command_style import want
from phcle.cli.flags import Count, EmbeddingFile, Json, Labels
from phcle.cli.output import (
    ANSWERS,
    check_answers_file,
    check_can_write,
    progress_bar,
    show,
    show_table,
    show_written,
    write_answers,
)
from phcle.cli.query_commands import labels_or_files

if TYPE_CHECKING:
    from phcle.answers import Groups


COLUMNS = ("cluster", "cluster_name", "label", "name")
"""Columns of a table of clusters."""


def clusters(
    file: EmbeddingFile,
    labels: Labels = None,
    k: Count = 8,
    out: Annotated[
        Path | None,
        want(
            "FILE",
            "Where to write the clusters (.csv, .tsv or .json), or to draw them "
            "as a heat map (.png, .svg or .pdf).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Group similar labels.

    All labels are grouped, or those that are given. --count is the number of clusters.
    """
    from phcle.embedding import load
    from phcle.embedding.groups import cluster_labels, named_groups
    from phcle.report.heatmap import save_heatmap

    is_table = out is not None and out.suffix.lower() in ANSWERS
    if out is not None:
        (check_answers_file if is_table else check_can_write)(out, [file])
    embedding = load(file)
    asked = labels_or_files(labels)
    with progress_bar("grouping labels"):
        found = cluster_labels(embedding, asked, n=k)
        answer = named_groups(embedding, found.groups)
    told = answer.to_dict()
    if out is not None and is_table:
        write_answers(out, answer, COLUMNS, _rows(answer))
    elif out is not None:
        with progress_bar("drawing the heat map"):
            save_heatmap(found, out, name_of=embedding.name_of)
        told["file"] = str(out)
    show(told, lambda _: _show(answer), as_json=as_json)
    if out is not None and not as_json:
        show_written(out)


def _rows(answer: Groups) -> Iterator[tuple[object, ...]]:
    """A row for each label; `COLUMNS` has the titles."""
    for number, (name, group) in enumerate(
        zip(answer.names, answer.clusters, strict=True), 1
    ):
        for x in group:
            yield number, name, x.label, x.name


def _show(answer: Groups) -> None:
    """Print the clusters."""
    show_table(
        ("cluster", "labels"),
        (
            (f"{number}  {name}", ", ".join(x.name for x in group))
            for number, (name, group) in enumerate(
                zip(answer.names, answer.clusters, strict=True), 1
            )
        ),
    )
