"""The commands that ask an embedding: nearest, describe, explain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import (
    show,
    show_description,
    show_each,
    show_explanation,
    show_nearest,
)
from phcle.errors import FileError, OptionError
from phcle.files.writing import is_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["describe", "explain", "labels_or_files", "nearest"]

Label = Annotated[str, typer.Argument(help="A label's id or its readable name.")]


def nearest(
    file: EmbeddingFile,
    labels: Annotated[
        list[str] | None, typer.Argument(metavar="LABEL", help="Ids or readable names.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of neighbours.")] = 10,
    among: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL|FILE",
            help="Choose neighbours from these labels only; may be repeated.",
        ),
    ] = None,
    vector: Annotated[
        Path | None, typer.Option(help="An .npy file of vectors to ask about.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the labels most similar to each given label or vector."""
    from phcle.embedding import load
    from phcle.uses.named_answers import nearest_to_all
    from phcle.uses.neighbour_search import Neighbours

    if not labels and vector is None:
        raise OptionError("nothing to look up; give labels, or --vector with a file.")
    vectors = {} if vector is None else _vectors(vector)
    search = Neighbours.beside(load(file), file)
    found = nearest_to_all(search, labels or [], vectors, k, labels_or_files(among))
    show_each(found, show_nearest, as_json=as_json)


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
    show(answer, show_description, as_json=as_json)


def explain(
    file: EmbeddingFile,
    a: Label,
    b: Label,
    k: Annotated[int, typer.Option("-k", help="Columns named in each group.")] = 5,
    as_json: Json = False,
) -> None:
    """Explain why two labels are similar, context by context."""
    from phcle.embedding import load
    from phcle.uses.named_answers import explain_pair

    answer = explain_pair(load(file), a, b, k)
    show(answer, show_explanation, as_json=as_json)


def labels_or_files(given: Sequence[str] | None) -> list[str] | None:
    """Read labels that are given directly or in files.

    Parameters
    ----------
    given : sequence of str or None
        Labels, or names of files with one label per line.

    Returns
    -------
    list of str or None
        All labels; None if none are given.
    """
    from phcle.contexts.readers.label_files import read_labels

    if not given:
        return None
    found: list[str] = []
    for word in given:
        found += read_labels(word) if is_file(word) else [word]
    return found


def _vectors(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    """The vectors of an `.npy` file, named after the file and the row."""
    import numpy as np

    from phcle.files.numpy_arrays import read_npy

    found = read_npy(path)
    if found.dtype.kind not in "fiub":
        raise FileError(
            f"{path}: is not an .npy file of numbers. Got {found.dtype} instead."
        )
    array = found.astype(np.float64)
    if array.ndim == 1:
        return {path.name: array}
    if array.ndim != 2 or not len(array):
        raise FileError(
            f"{path}: must hold one vector, or a matrix with a vector in each row. "
            f"Got shape {array.shape}."
        )
    return {f"{path.name}, row {i}": row for i, row in enumerate(array, 1)}
