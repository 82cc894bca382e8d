"""Tags, texts and vectors by label, from the mappings and data frames of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats
from phcle.contexts.descriptive.sources import encode_sentences
from phcle.contexts.labels import as_label, as_labels, index_of, is_missing
from phcle.errors import ContextError
from phcle.tables.frames import rows_of


def by_label(mapping: Any, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """Return labels and what belongs to them.

    Parameters
    ----------
    mapping : mapping or pandas series
        Anything by label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    labels : tuple of str
        The labels.
    values : list
        What belongs to each.
    """
    if not hasattr(mapping, "items") or hasattr(mapping, "columns"):
        raise ContextError(
            f"context {name!r}: a mapping from labels is needed. "
            f"Got {type(mapping).__name__} instead."
        )
    pairs = list(mapping.items())
    labels = as_labels([label for label, _ in pairs], f"context {name!r}")
    return labels, [value for _, value in pairs]


def tags_of_frame(frame: Any, name: str) -> dict[Any, list[Any]]:
    """Return tags by label, from a data frame with one row per tag.

    Parameters
    ----------
    frame : data frame
        It has the columns `label` and `tag`.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from label to list
        Tags; a label whose tag is missing has none.
    """
    found: dict[Any, list[Any]] = {}
    for label, tag in rows_of(frame, "tags", f"context {name!r}"):
        own = found.setdefault(as_label(label, f"context {name!r}"), [])
        if not is_missing(tag):
            own.append(tag)
    return found


def tag_matrix(
    labels: Sequence[str], given: Sequence[Any], name: str
) -> tuple[tuple[str, ...], sp.csr_array]:
    """Make a column of zeros and ones for each tag.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    given : sequence of iterables
        Tags of each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    columns : tuple of str
        The tags, sorted.
    values : csr_array of shape (labels, tags)
        1 where a label has a tag.
    """
    rows = []
    for label, own in zip(labels, given, strict=True):
        where = f"context {name!r}: tags of {label!r}"
        if isinstance(own, (str, bytes, Mapping)) or not isinstance(own, Iterable):
            raise ContextError(f"{where} must be a list. Got {own!r} instead.")
        rows.append(dict.fromkeys(as_label(tag, where, "tag") for tag in own))
    columns = tuple(sorted({tag for row in rows for tag in row}))
    position = index_of(columns)
    indices = [position[tag] for row in rows for tag in row]
    indptr = np.cumsum([0, *map(len, rows)])
    values = sp.csr_array(
        (np.ones(len(indices)), indices, indptr), shape=(len(labels), len(columns))
    )
    values.sort_indices()
    return columns, values


def texts_of_frame(frame: Any, name: str) -> dict[str, str]:
    """Return texts by label, from a data frame with one row per label.

    Parameters
    ----------
    frame : data frame
        It has the columns `label` and `text`.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from str to str
        Texts; missing ones are left out.
    """
    rows = list(rows_of(frame, "texts", f"context {name!r}"))
    labels = as_labels([label for label, _ in rows], f"context {name!r}")
    texts = [text for _, text in rows]
    return {x: t for x, t in zip(labels, texts, strict=True) if not is_missing(t)}


def refuse_empty_texts(labels: Sequence[str], texts: Sequence[Any], name: str) -> None:
    """Refuse texts that say nothing.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    texts : sequence
        Their texts.
    name : str
        Name of the context, for messages.
    """
    for label, text in zip(labels, texts, strict=True):
        if not isinstance(text, str) or not text.strip():
            raise ContextError(
                f"context {name!r}: the text of {label!r} must not be empty. Got "
                f"{text!r}; leave the label out if nothing is known."
            )


def encode_texts(
    texts: list[str], encoder: Callable[[list[str]], Any] | Any | str, name: str
) -> Any:
    """Turn texts into vectors.

    Parameters
    ----------
    texts : list of str
        The texts.
    encoder : callable, object with a method `encode`, or "sentences"
        What turns a list of texts into an array.
    name : str
        Name of the context, for messages.

    Returns
    -------
    array or sparse matrix of shape (texts, columns)
        One vector per text.
    """
    if isinstance(encoder, str):
        if encoder != "sentences":
            raise ContextError(
                f"context {name!r}: encoder must be 'sentences' or a callable. "
                f"Got {encoder!r} instead."
            )
        encoder = encode_sentences
    vectors = getattr(encoder, "encode", encoder)(texts)
    if not sp.issparse(vectors):
        vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[0] != len(texts):
        raise ContextError(
            f"context {name!r}: the encoder must return one vector per text. Got "
            f"shape {vectors.shape} for {len(texts)} texts."
        )
    return vectors


def words_of_labels(
    labels: Iterable[Any] | Mapping[Any, str], name: str
) -> dict[str, str]:
    """Return the word under which the vector of each label is found.

    Parameters
    ----------
    labels : iterable of str, or mapping from label to str
        Labels, or the word of each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    dict from str to str
        A word for each label, by default the label itself.
    """
    where = f"labels of context {name!r}"
    keys = as_labels(labels, where)
    words = labels.values() if isinstance(labels, Mapping) else keys
    return {
        key: as_label(word, f"{where}, {key!r}", "word")
        for key, word in zip(keys, words, strict=True)
    }


def stack_vectors(labels: Sequence[str], vectors: Sequence[Any], name: str) -> Floats:
    """Stack vectors of one length.

    Parameters
    ----------
    labels : sequence of str
        The labels.
    vectors : sequence of arrays
        A vector for each label.
    name : str
        Name of the context, for messages.

    Returns
    -------
    array of shape (labels, dim)
        One row per label.
    """
    rows: list[Floats] = []
    for label, vector in zip(labels, vectors, strict=True):
        try:
            row = np.asarray(vector, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ContextError(
                f"context {name!r}: the vector of {label!r} must be numbers ({error})."
            ) from error
        if row.ndim != 1 or (rows and len(row) != len(rows[0])):
            raise ContextError(
                f"context {name!r}: every vector must be one row of numbers, as long "
                f"as the others. Got shape {row.shape} for {label!r}"
                + (f", but {rows[0].shape} for {labels[0]!r}." if rows else ".")
            )
        rows.append(row)
    return np.array(rows)
