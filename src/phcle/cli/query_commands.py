"""The commands that ask an embedding: info, nearest, describe, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from phcle.cli import terminal_tables
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import show
from phcle.cli.query_files import labels_or_files, read_queries
from phcle.errors import OptionError

__all__ = ["describe", "explain", "info", "nearest"]

Label = Annotated[str, typer.Argument(help="A label's id or its readable name.")]


def info(file: EmbeddingFile, as_json: Json = False) -> None:
    """Show what an embedding, a map or a checkpoint holds and how it was made."""
    from phcle.cli.file_info import about_file

    show(about_file(file), terminal_tables.show_file_info, as_json=as_json)


def nearest(
    file: EmbeddingFile,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Ids or readable names."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of neighbours.")] = 10,
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--among",
            metavar="LABEL|FILE",
            help="Choose neighbours from these labels only; may be repeated.",
        ),
    ] = None,
    vector: Annotated[
        Path | None,
        typer.Option("--vector", help="An .npy file of vectors to ask about."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the labels most similar to each given label or vector."""
    from phcle.embedding import load
    from phcle.uses.named_answers import nearest_to_all
    from phcle.uses.neighbour_search import Neighbours

    if not labels and vector is None:
        raise OptionError("nothing to look up; give labels, or --vector with a file.")
    vectors = {} if vector is None else read_queries(vector)
    search = Neighbours.beside(load(file), file)
    found = nearest_to_all(search, labels or [], vectors, k, labels_or_files(among))
    show(
        found[0] if len(found) == 1 else found,
        lambda _: terminal_tables.show_nearest(found),
        as_json=as_json,
    )


def describe(
    file: EmbeddingFile,
    label: Label,
    k: Annotated[
        int,
        typer.Option(
            "-k", help="Number of related labels, and of attributes of each kind."
        ),
    ] = 6,
    as_json: Json = False,
) -> None:
    """Describe a label: related labels, and attributes known or predicted."""
    from phcle.embedding import load
    from phcle.uses.named_answers import describe_label

    answer = describe_label(load(file), label, k)
    show(answer, terminal_tables.show_description, as_json=as_json)


def explain(
    file: EmbeddingFile,
    a: Label,
    b: Label,
    k: Annotated[int, typer.Option("-k", help="Number of columns per context.")] = 5,
    as_json: Json = False,
) -> None:
    """Explain why two labels are similar, context by context."""
    from phcle.embedding import load
    from phcle.uses.named_answers import explain_pair

    answer = explain_pair(load(file), a, b, k)
    show(answer, terminal_tables.show_explanation, as_json=as_json)
