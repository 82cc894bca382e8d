"""Counting what occurs together: edges, annotations, and words around labels."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts.labels import as_label, index_of
from phcle.contexts.pairs import as_row, rows_of
from phcle.errors import ContextError, ContextWarning, OptionError

__all__ = ["count_annotations", "count_edges", "count_text"]

Counts = tuple[tuple[str, ...], sp.csr_array]


def count_edges(
    edges: Iterable[Sequence[Any]], *, name: str, directed: bool, self_loops: bool
) -> Counts:
    """Sum the weights of `(label, label[, weight])` rows into a square matrix."""
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    table = rows_of(
        edges, ("source", "target"), f"context {name!r}", optional=("weight",)
    )
    for number, edge in enumerate(table, 1):
        where = f"context {name!r}, edge {number}"
        edge = as_row(edge, (2, 3), "(label, label) or (label, label, weight)", where)
        one, other = as_label(edge[0], where), as_label(edge[1], where)
        if one == other and not self_loops:
            raise ContextError(
                f"{where}: {one!r} is joined to itself; remove the edge, or say "
                "self_loops=True if it is meant."
            )
        weight = _weight(edge[2] if len(edge) == 3 else 1.0, where)
        weights[one, other] += weight
        if not directed and one != other:
            weights[other, one] += weight
    labels = tuple(dict.fromkeys(end for pair in weights for end in pair))
    return labels, _matrix(weights, index_of(labels), index_of(labels))


def count_annotations(rows: Iterable[Sequence[Any]], *, name: str) -> Counts:
    """For every two labels, the number of items that have both."""
    pairs: dict[tuple[str, str], None] = {}
    number = 0
    table = rows_of(rows, ("item", "label"), f"context {name!r}")
    for number, row in enumerate(table, 1):
        where = f"context {name!r}, row {number}"
        item, label = as_row(row, (2,), "(item, label)", where)
        pairs[as_label(item, where, "item"), as_label(label, where)] = None
    if len(pairs) < number:
        warnings.warn(
            f"context {name!r}: {number - len(pairs)} of {number} rows repeat another "
            "and were counted once.",
            ContextWarning,
            stacklevel=3,
        )
    items = index_of(dict.fromkeys(item for item, _ in pairs))
    labels = index_of(dict.fromkeys(label for _, label in pairs))
    incidence = _matrix(dict.fromkeys(pairs, 1.0), items, labels)
    together = sp.coo_array(incidence.T @ incidence)
    apart = together.coords[0] != together.coords[1]
    counts = sp.csr_array(
        (together.data[apart], tuple(axis[apart] for axis in together.coords)),
        shape=together.shape,
    )
    return tuple(labels), counts


def count_text(
    documents: Iterable[str],
    labels: Sequence[str],
    *,
    name: str,
    window: int,
    min_count: int,
) -> Counts:
    """Words around each mention of a label; a label may be several words long."""
    for option, value in (("window", window), ("min_count", min_count)):
        if value < 1:
            raise OptionError(f"{option} must be 1 or more. Got {value!r} instead.")
    if isinstance(documents, str):
        raise ContextError(
            f"context {name!r}: a list of texts is needed. Got a single text instead."
        )
    phrases = _phrases(labels, name)
    longest = max(map(len, phrases), default=0)
    near: Counter[tuple[str, str]] = Counter()
    for number, document in enumerate(documents, 1):
        if not isinstance(document, str):
            raise ContextError(
                f"context {name!r}, document {number}: must be text. "
                f"Got {type(document).__name__} instead."
            )
        words = _words(document)
        for label, start, stop in _mentions(words, phrases, longest):
            around = words[max(0, start - window) : start] + words[stop : stop + window]
            near.update((label, word) for word in around)
    often = Counter[str]()
    for (_, word), count in near.items():
        often[word] += count
    kept = sorted(word for word, count in often.items() if count >= min_count)
    near = Counter({pair: n for pair, n in near.items() if often[pair[1]] >= min_count})
    return tuple(kept), _matrix(near, index_of(labels), index_of(kept))


def _words(text: str) -> list[str]:
    """Lower-case words; a hyphen or an underscore separates, as in WordNet's names."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


def _phrases(labels: Sequence[str], name: str) -> dict[tuple[str, ...], str]:
    """Labels by the words to look for; two labels must not be the same words."""
    phrases: dict[tuple[str, ...], str] = {}
    for label in labels:
        words = tuple(_words(label))
        if not words:
            raise ContextError(
                f"context {name!r}: the label {label!r} has no word to look for in the "
                "texts; leave it out of labels=."
            )
        if words in phrases:
            raise ContextError(
                f"context {name!r}: the labels {phrases[words]!r} and {label!r} are "
                "the same words in a text; leave one out of labels=."
            )
        phrases[words] = label
    return phrases


def _mentions(
    words: list[str], phrases: dict[tuple[str, ...], str], longest: int
) -> Iterator[tuple[str, int, int]]:
    """Where labels stand in the words; the longest match wins."""
    start = 0
    while start < len(words):
        for length in range(min(longest, len(words) - start), 0, -1):
            label = phrases.get(tuple(words[start : start + length]))
            if label is not None:
                yield label, start, start + length
                start += length - 1
                break
        start += 1


def _weight(value: Any, where: str) -> float:
    try:
        # Python would take 1_000 for a number, nobody else does.
        weight = float("nan" if "_" in str(value) else value)
    except (TypeError, ValueError, OverflowError):
        weight = float("nan")
    if not (np.isfinite(weight) and weight >= 0):
        raise ContextError(
            f"{where}: a weight must be a finite number, zero or more. "
            f"Got {value!r} instead."
        )
    return weight


def _matrix(
    entries: Mapping[tuple[str, str], float],
    rows: dict[str, int],
    columns: dict[str, int],
) -> sp.csr_array:
    """A sparse matrix from counted (row name, column name) pairs."""
    data = np.fromiter(entries.values(), dtype=np.float64, count=len(entries))
    coords = (
        np.fromiter((rows[one] for one, _ in entries), np.int64, len(entries)),
        np.fromiter((columns[other] for _, other in entries), np.int64, len(entries)),
    )
    matrix = sp.csr_array((data, coords), shape=(len(rows), len(columns)))
    matrix.eliminate_zeros()
    return matrix
