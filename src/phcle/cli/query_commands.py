"""The commands that ask an embedding: nearest, describe, explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import have, want
from phcle.cli.flags import AnswersFile, Count, EmbeddingFile, Json, Labels
from phcle.cli.output import (
    check_answers_file,
    progress_bar,
    show,
    show_descriptions,
    show_each,
    show_explanation,
    show_nearest,
)
from phcle.errors import FileError, OptionError
from phcle.files.reading import is_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from phcle import answers


Label = Annotated[str, typer.Argument(help="A label's id or its readable name.")]


NEAREST = ("label", "name", "nearest", "nearest_name", "similarity", "percentile")
DESCRIBED = (
    "label",
    "name",
    "kind",
    "context",
    "what",
    "value",
    "confidence",
    "low",
    "high",
)


def nearest(
    file: EmbeddingFile,
    labels: Labels = None,
    k: Count = 10,
    among: Annotated[
        list[str] | None,
        want(
            "LABEL|FILE", "Choose neighbours from these labels only; may be repeated."
        ),
    ] = None,
    vector: Annotated[
        Path | None,
        have("FILE", "An .npy file of vectors to ask about."),
    ] = None,
    out: AnswersFile = None,
    as_json: Json = False,
) -> None:
    """List the labels most similar to each given label or vector."""
    from phcle.embedding import load_vectors

    if not labels and vector is None:
        raise OptionError("nothing to look up; give labels, or --vector with a file.")
    if out is not None:
        check_answers_file(out, [file, vector])
    vectors = {} if vector is None else _vectors(vector)
    embedding = load_vectors(file)
    asked = labels_or_files(labels) or []
    with progress_bar("searching"):
        every: list[Any] = [*asked, *vectors.values()]
        found = embedding.neighbours(every, k, among=labels_or_files(among))
    told = zip(found, [*[None] * len(asked), *vectors], strict=True)
    found = [x if name is None else replace(x, name=name) for x, name in told]
    show_each(
        found,
        show_nearest,
        as_json=as_json,
        out=out,
        columns=NEAREST,
        rows=_nearest_rows,
    )


def describe(
    file: EmbeddingFile,
    labels: Labels = None,
    k: Count = 6,
    out: AnswersFile = None,
    as_json: Json = False,
) -> None:
    """Describe labels: related labels, and attributes known or predicted.

    --count is the number of related labels, and of attributes of each kind.
    """
    from phcle.embedding import load

    if not labels:
        raise OptionError("nothing to describe; give one label or more.")
    if out is not None:
        check_answers_file(out, [file])
    embedding = load(file)
    asked = labels_or_files(labels) or []
    with progress_bar("describing", "labels") as progress:
        found = []
        for n, label in enumerate(asked, 1):
            found.append(embedding.describe(label, k))
            progress(n, len(asked))
    show_each(
        found,
        show_descriptions,
        as_json=as_json,
        out=out,
        columns=DESCRIBED,
        rows=_description_rows,
    )


def explain(
    file: EmbeddingFile,
    a: Label,
    b: Label,
    k: Count = 5,
    as_json: Json = False,
) -> None:
    """Explain why two labels are similar, context by context.

    --count is the number of columns that are named in each group.
    """
    from phcle.embedding import load

    answer = load(file).explain(a, b, k)
    show(answer, show_explanation, as_json=as_json)


def _nearest_rows(answer: answers.Nearest) -> Iterator[tuple[object, ...]]:
    """The neighbours of a label as rows of a table; `NEAREST` has the titles."""
    for x in answer.neighbours:
        own = (answer.label, answer.name)
        yield *own, x.label, x.name, f"{x.similarity:.6g}", f"{x.percentile:.6g}"


def _description_rows(answer: answers.Description) -> Iterator[tuple[object, ...]]:
    """A description as rows of a table; `DESCRIBED` has the titles."""
    own = (answer.label, answer.name)
    for x in answer.related:
        yield *own, "related", None, x.name, f"{x.similarity:.6g}", None, None, None
    for kind in ("observed", "predicted"):
        for y in getattr(answer, kind):
            numbers = (y.value, y.confidence, y.low, y.high)
            texts = (None if x is None else f"{x:.6g}" for x in numbers)
            yield *own, kind, y.context, y.name, *texts


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
