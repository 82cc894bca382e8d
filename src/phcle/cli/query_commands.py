"""Questions to an embedding: info, nearest, describe, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from phcle.cli import terminal_tables
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import show
from phcle.cli.query_files import labels_or_files, read_queries
from phcle.errors import OptionError
from phcle.uses import named_answers as answers

__all__ = ["describe", "explain", "info", "nearest"]

Label = Annotated[str, typer.Argument(help="A label's id or its readable name.")]


def info(file: EmbeddingFile, as_json: Json = False) -> None:
    """Show what an embedding, a map or a checkpoint holds and how it was made."""
    from phcle.cli.file_info import about_file

    show(about_file(file), _show_info, as_json=as_json)


def nearest(
    file: EmbeddingFile,
    labels: Annotated[
        list[str] | None,
        typer.Argument(metavar="LABEL", help="Ids or readable names."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--among", metavar="LABEL|FILE", help="Possible answers; repeat it."
        ),
    ] = None,
    vector: Annotated[
        Path | None,
        typer.Option("--vector", help="Vectors to ask about: an .npy file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the labels most similar to each given label or vector."""
    from phcle.embedding import load
    from phcle.uses.neighbour_search import Neighbours

    if not labels and vector is None:
        raise OptionError("nothing is asked; give labels, or --vector with a file.")
    vectors = {} if vector is None else read_queries(vector)
    search = Neighbours.beside(load(file), file)
    found = answers.nearest_to_all(
        search, labels or [], vectors, k, labels_or_files(among)
    )
    show(
        found[0] if len(found) == 1 else found,
        terminal_tables.show_nearest,
        as_json=as_json,
    )


def describe(
    file: EmbeddingFile,
    label: Label,
    k: Annotated[int, typer.Option("-k", help="How many of each sort.")] = 6,
    as_json: Json = False,
) -> None:
    """Describe a label: related labels, and attributes known or predicted."""
    from phcle.embedding import load

    answer = answers.description(load(file), label, k)
    show(answer, terminal_tables.show_description, as_json=as_json)


def explain(
    file: EmbeddingFile,
    a: Label,
    b: Label,
    k: Annotated[int, typer.Option("-k", help="How many columns per context.")] = 5,
    as_json: Json = False,
) -> None:
    """Explain why two labels are similar, context by context."""
    from phcle.embedding import load

    answer = answers.explanation(load(file), a, b, k)
    show(answer, terminal_tables.show_explanation, as_json=as_json)


def _show_info(answer: answers.Answer) -> None:
    if answer["what"] == "embedding":
        terminal_tables.show_summary(answer)
    terminal_tables.show_provenance(answer)
