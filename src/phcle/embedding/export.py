"""Write embeddings in the file formats of other tools.

Each format is one short function. What a format cannot hold is refused or changed as
documented, never dropped silently: words of word2vec cannot contain spaces, so these
become underscores, and it is an error if two labels would then be the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import BackendError, ContextError, OptionError, did_you_mean
from phcle.files.atomic import write_whole
from phcle.files.container import write_tensors
from phcle.files.csv_text import csv_lines
from phcle.optional_imports import import_optional


@dataclass(frozen=True)
class Format:
    """A file format of other tools.

    Attributes
    ----------
    write : callable
        Writes an embedding to a path.
    endings : tuple of str
        Endings of file names that choose this format.
    help : str
        What the format is for, in a few words.
    """

    write: Callable[[LabelEmbedding, Path], None]
    endings: tuple[str, ...]
    help: str


def export(
    embedding: LabelEmbedding, path: str | Path, format: str | None = None
) -> None:
    """Write an embedding in a format of another tool.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to write.
    path : str or Path
        The file.
    format : str, optional
        A key of `FORMATS`. By default the ending of the path chooses it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pets.vec"
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.5], [0.0, 2.0]]))
    >>> export(pets, path)
    >>> print(path.read_text())
    2 2
    cat 1.0 0.5
    dog 0.0 2.0
    <BLANKLINE>
    """
    path = Path(path)
    FORMATS[format_of(path, format)].write(embedding, path)


def format_of(path: Path, format: str | None, others: tuple[str, ...] = ()) -> str:
    """Return the name of a format, as given or by the ending of a file.

    Parameters
    ----------
    path : Path
        The file.
    format : str or None
        The given name; None takes the ending.
    others : tuple of str, default ()
        Formats that are written elsewhere, for error messages.

    Returns
    -------
    str
        A key of `FORMATS`.
    """
    if format is not None:
        if format not in FORMATS:
            there = (*FORMATS, *others)
            raise OptionError(
                f"the format must be one of {', '.join(there)}. "
                f"Got {format!r} instead.{did_you_mean(format, there)}"
            )
        return format
    for name, known in FORMATS.items():
        if path.suffix.lower() in known.endings:
            return name
    endings = ", ".join(x for known in FORMATS.values() for x in known.endings)
    raise OptionError(
        f"{path}: no format has the ending {path.suffix!r}; give one of {endings}, or "
        "name the format."
    )


def words_of(embedding: LabelEmbedding) -> tuple[str, ...]:
    """Replace white space in labels by underscores, as word2vec files need.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels.

    Returns
    -------
    tuple of str
        Different words, in the order of the labels.
    """
    words: dict[str, str] = {}
    for label in embedding.labels:
        word = re.sub(r"\s", "_", label)
        if word in words:
            raise ContextError(
                f"labels {words[word]!r} and {label!r} would both be {word!r} in a "
                "word2vec file, which has no spaces; rename one, or use another "
                "format."
            )
        words[word] = label
    return tuple(words)


def _write_word2vec(embedding: LabelEmbedding, path: Path) -> None:
    with (
        write_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.write(f"{len(embedding)} {embedding.dim}\n")
        for word, vector in zip(words_of(embedding), embedding.vectors, strict=True):
            file.write(f"{word} {_numbers(vector, ' ')}\n")


def _write_npz(embedding: LabelEmbedding, path: Path) -> None:
    with write_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            labels=np.array(embedding.labels, dtype=np.str_),
            names=np.array(_names(embedding), dtype=np.str_),
            vectors=embedding.vectors,
        )


def _write_csv(embedding: LabelEmbedding, path: Path) -> None:
    header = ["label", "name", *column_names(embedding.dim)]
    rows = ([label, name, *vector.tolist()] for label, name, vector in _rows(embedding))
    with (
        write_whole(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        file.writelines(csv_lines(chain([header], rows)))


def _write_parquet(embedding: LabelEmbedding, path: Path) -> None:
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(embedding.vectors).ravel())
    table = pa.table(
        {
            "label": list(embedding.labels),
            "name": _names(embedding),
            "vector": pa.FixedSizeListArray.from_arrays(flat, embedding.dim),
        }
    )
    with write_whole(path) as temporary:
        pq.write_table(table, temporary)


def _write_safetensors(embedding: LabelEmbedding, path: Path) -> None:
    # `weight` is what nn.Embedding calls its vectors.
    tensors = {"weight": np.asarray(embedding.vectors, np.float32)}
    metadata = {
        "labels": json.dumps(embedding.labels),
        "names": json.dumps(_names(embedding)),
    }
    write_tensors(path, tensors, metadata)


def _numbers(vector: Any, separator: str) -> str:
    """Join numbers with enough digits to read back the same bits."""
    return separator.join(map(str, vector.tolist()))


def _names(embedding: LabelEmbedding) -> list[str]:
    return [embedding.name_of(label) for label in embedding.labels]


def _rows(embedding: LabelEmbedding) -> Any:
    return zip(embedding.labels, _names(embedding), embedding.vectors, strict=True)


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "word2vec": Format(
            _write_word2vec, (".txt", ".vec"), "text for gensim, GloVe's tools, …"
        ),
        "npz": Format(_write_npz, (".npz",), "NumPy: labels, names, vectors"),
        "csv": Format(_write_csv, (".csv",), "a row per label for any table tool"),
        "parquet": Format(
            _write_parquet,
            (".parquet",),
            "label, name, vector; for data frames and Embedding Atlas",
        ),
        "safetensors": Format(
            _write_safetensors, (".safetensors",), "`weight` for PyTorch's nn.Embedding"
        ),
    }
)
"""All formats by name."""


LIBRARIES = {"pandas": "frames", "polars": "", "pyarrow": "parquet"}
"""Libraries of data frames, with the extra of phcle that installs each, if any."""


def column_names(dim: int) -> list[str]:
    """Name the dimensions in data frames and tables.

    Parameters
    ----------
    dim : int
        Number of dimensions.

    Returns
    -------
    list of str
        Such as "x0", "x1", ….
    """
    return [f"x{i}" for i in range(dim)]


def embedding_frame(embedding: LabelEmbedding, library: str) -> Any:
    """Convert an embedding to a data frame; see `LabelEmbedding.to_frame`.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to convert.
    library : {"pandas", "polars", "pyarrow"}
        Library of the frame.

    Returns
    -------
    data frame
        One row per label.
    """
    if library not in LIBRARIES:
        raise OptionError(
            f"a frame must be of {', '.join(LIBRARIES)}. Got {library!r} instead."
        )
    import narwhals as nw

    backend: Any = library
    columns = column_names(embedding.dim)
    cells: dict[str, Any] = dict(
        zip(columns, np.ascontiguousarray(embedding.vectors.T), strict=True)
    )
    try:
        if library == "pandas":
            import pandas as pd

            index = pd.Index(embedding.labels, name="label")
            return pd.DataFrame(cells, index=index)
        table = {"label": list(embedding.labels), **cells}
        return nw.from_dict(table, backend=backend).to_native()
    except ImportError as error:
        extra = LIBRARIES[library]
        remedy = f"'phcle[{extra}]'" if extra else library
        raise BackendError(
            f"a {library} frame needs {library}: pip install {remedy}."
        ) from error
