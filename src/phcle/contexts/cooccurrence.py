"""Count what occurs together: edges, annotations, and words near labels.

`LabelLinks` are the edges of a graph with their relations, which counts do not keep.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.labels import as_label, as_names, index_of, positions_of
from phcle.contexts.matrices import LARGEST
from phcle.errors import ContextError, ContextWarning, FileError, OptionError
from phcle.files.container import TensorStore
from phcle.tables.frames import as_row, rows_of

Counts = tuple[tuple[str, ...], sp.csr_array]


FORMS = "(label, label) or (label, label, weight), or triples (head, relation, tail)"
"""What the rows of a graph look like."""


@dataclass(frozen=True, eq=False)
class LabelLinks:
    """Links between labels, such as the triples of a knowledge graph.

    Parameters
    ----------
    names : tuple of str
        Labels at the ends.
    relations : tuple of str
        Names of the relations; the edges of a plain graph have one without a name.
    source, target : array of int of shape (links,)
        Positions of the ends in `names`: head and tail of a triple.
    relation : array of int of shape (links,)
        Positions in `relations`.
    weight : array of shape (links,)
        Weights, zero or more.
    """

    names: tuple[str, ...]
    relations: tuple[str, ...]
    source: Ints
    target: Ints
    relation: Ints
    weight: Floats

    @classmethod
    def between(
        cls, labels: Sequence[str], columns: Sequence[str], counts: sp.csr_array
    ) -> LabelLinks | None:
        """Take counts of labels with labels as links of one relation.

        Parameters
        ----------
        labels : sequence of str
            Names of the rows.
        columns : sequence of str
            Names of the columns.
        counts : csr_array of shape (labels, columns)
            The counts.

        Returns
        -------
        LabelLinks or None
            The links; None if a column is no label.
        """
        at = positions_of(columns, index_of(labels))
        if (at < 0).any():
            return None
        found = sp.coo_array(counts)
        source, column = (axis.astype(np.int64) for axis in found.coords)
        zeros = np.zeros(len(source), dtype=np.int64)
        weight = found.data.astype(np.float64)
        return cls(as_names(labels), ("",), source, at[column], zeros, weight)

    def renamed(self, spellings: Mapping[str, str]) -> LabelLinks:
        """Spell labels in another way; those that become one share their links.

        Parameters
        ----------
        spellings : mapping from str to str
            New spellings by old ones.

        Returns
        -------
        LabelLinks
            The same links.
        """
        spelled = [spellings.get(name, name) for name in self.names]
        names = tuple(dict.fromkeys(spelled))
        at = positions_of(spelled, index_of(names))
        source, target = at[self.source], at[self.target]
        return replace(self, names=names, source=source, target=target)

    def pack(self, store: TensorStore) -> None:
        """Store names and arrays.

        Parameters
        ----------
        store : TensorStore
            Where to store them.
        """
        store.put_names("links/names", self.names)
        store.put_names("links/relations", self.relations)
        store["links/ends"] = np.stack([self.source, self.target, self.relation])
        store["links/weight"] = self.weight

    @classmethod
    def unpack(cls, store: TensorStore) -> LabelLinks | None:
        """Read and check what `pack` stored.

        Parameters
        ----------
        store : TensorStore
            Where it is stored. Files of plain graphs have no such links.

        Returns
        -------
        LabelLinks or None
            The links, if there are any.
        """
        if "links/ends" not in store:
            return None
        names, relations = store.names("links/names"), store.names("links/relations")
        ends, weight = store["links/ends"], store["links/weight"]
        most = np.array([[len(names)], [len(names)], [len(relations)]])
        if not (
            ends.dtype == np.int64
            and ends.shape == (3, weight.size)
            and weight.dtype == np.float64
            and weight.ndim == 1
            and ((ends >= 0) & (ends < most)).all()
            and ((weight >= 0) & (weight <= LARGEST)).all()
        ):
            raise FileError("links are not links between the labels that they name")
        source, target, relation = ends
        return cls(names, relations, source, target, relation, weight)


def joined(first: LabelLinks | None, later: LabelLinks | None) -> LabelLinks | None:
    """Add the links of labels that came later.

    Parameters
    ----------
    first, later : LabelLinks or None
        Links; None for a graph whose edges are of one kind.

    Returns
    -------
    LabelLinks or None
        All links; None if the first ones are of one kind.
    """
    if first is None or later is None:
        return first
    names = tuple(dict.fromkeys((*first.names, *later.names)))
    relations = tuple(dict.fromkeys((*first.relations, *later.relations)))
    at = positions_of(later.names, index_of(names))
    kinds = positions_of(later.relations, index_of(relations))
    return LabelLinks(
        names,
        relations,
        np.concatenate([first.source, at[later.source]]),
        np.concatenate([first.target, at[later.target]]),
        np.concatenate([first.relation, kinds[later.relation]]),
        np.concatenate([first.weight, later.weight]),
    )


def count_edges(
    edges: Iterable[Sequence[Any]],
    *,
    name: str,
    directed: bool,
    self_loops: bool,
    are_triples: bool | None = None,
) -> tuple[tuple[str, ...], sp.csr_array, LabelLinks | None]:
    """Sum the weights of edges into a square matrix.

    Parameters
    ----------
    edges : iterable of tuples, or data frame
        Rows `(label, label)` or `(label, label, weight)`, or triples `(head, relation,
        tail)`.
    name : str
        Name of the context, for messages.
    directed : bool
        Count an edge only from its first label to its second.
    self_loops : bool
        Keep edges from a label to itself.
    are_triples : bool, optional
        Whether the rows are triples; by default if most third cells are texts.

    Returns
    -------
    labels : tuple of str
        The labels in order of first appearance.
    counts : csr_array of shape (labels, labels)
        The sums of weights.
    links : LabelLinks or None
        The links of each relation, if there are relations.
    """
    where, sizes = f"context {name!r}", (3,) if are_triples else (2, 3)
    table = [
        as_row(edge, sizes, FORMS, f"{where}, edge {number}")
        for number, edge in enumerate(rows_of(edges, "edges", where), 1)
    ]
    if are_triples is None:
        last = [edge[2] for edge in table if len(edge) == 3]
        are_triples = 2 * sum(map(_is_text, last)) > len(last)
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    links: list[tuple[str, str, str, float]] = []
    n_loops = 0
    for number, edge in enumerate(table, 1):
        here, relation = f"{where}, edge {number}", ""
        if are_triples and len(edge) == 3:
            relation = as_label(edge[1], here, "relation")
            edge = (edge[0], edge[2])
        one, other = as_label(edge[0], here), as_label(edge[1], here)
        if one == other and not self_loops:
            n_loops += 1
            continue
        weight = _weight(edge[2] if len(edge) > 2 else 1.0, here)
        weights[one, other] += weight
        if not directed and one != other:
            weights[other, one] += weight
        links.append((one, other, relation, weight))
    if n_loops:
        warnings.warn(
            f"{where}: {n_loops} of {len(table)} edges link a label to "
            "itself and are left out.",
            ContextWarning,
            stacklevel=3,
        )
    labels = tuple(dict.fromkeys(end for pair in weights for end in pair))
    index = index_of(labels)
    return labels, _matrix(weights, index, index), _links(links, labels)


def _is_text(cell: Any) -> bool:
    """Whether a cell is a label and cannot be meant as a weight."""
    try:
        float(cell)
    except ValueError:
        return True
    except (TypeError, OverflowError):
        pass
    return False


def _links(
    links: Sequence[tuple[str, str, str, float]], labels: tuple[str, ...]
) -> LabelLinks | None:
    """Links by position; None if no edge has a relation."""
    relations = tuple(dict.fromkeys(relation for _, _, relation, _ in links))
    if not any(relations):
        return None
    sources, targets, kinds, weights = zip(*links, strict=True)
    at, kind_at = index_of(labels), index_of(relations)
    return LabelLinks(
        labels,
        relations,
        positions_of(sources, at),
        positions_of(targets, at),
        positions_of(kinds, kind_at),
        np.array(weights, dtype=np.float64),
    )


def count_annotations(rows: Iterable[Sequence[Any]], *, name: str) -> Counts:
    """Count for every two labels the items that have both.

    Parameters
    ----------
    rows : iterable of (item, label), or data frame
        One row for each label of each item.
    name : str
        Name of the context, for messages.

    Returns
    -------
    labels : tuple of str
        The labels in order of first appearance.
    counts : csr_array of shape (labels, labels)
        Symmetric counts without a diagonal.
    """
    pairs: dict[tuple[str, str], float] = {}
    number = 0
    table = rows_of(rows, "annotations", f"context {name!r}")
    for number, row in enumerate(table, 1):
        where = f"context {name!r}, row {number}"
        item, label = as_row(row, (2,), "(item, label)", where)
        pairs[as_label(item, where, "item"), as_label(label, where)] = 1.0
    if len(pairs) < number:
        warnings.warn(
            f"context {name!r}: {number - len(pairs)} of {number} rows repeat another "
            "and were counted once.",
            ContextWarning,
            stacklevel=3,
        )
    items = index_of(dict.fromkeys(item for item, _ in pairs))
    labels = index_of(dict.fromkeys(label for _, label in pairs))
    incidence = _matrix(pairs, items, labels)
    together = sp.csr_array(incidence.T @ incidence)
    together.setdiag(0.0)
    together.eliminate_zeros()
    return tuple(labels), together


def count_text(
    documents: Iterable[str],
    labels: Sequence[str],
    *,
    name: str,
    window: int,
    min_count: int,
) -> Counts:
    """Count the words near each mention of a label; a label may be several words long.

    Parameters
    ----------
    documents : iterable of str
        The texts.
    labels : sequence of str
        Labels to look for.
    name : str
        Name of the context, for messages.
    window : int
        How many words before and after a mention are counted.
    min_count : int
        Words that occur near labels fewer times in total are left out.

    Returns
    -------
    words : tuple of str
        The words in sorted order.
    counts : csr_array of shape (labels, words)
        How often each word is near each label.
    """
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
    """Lower-case words; hyphens and underscores separate them, as in WordNet."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


def _phrases(labels: Sequence[str], name: str) -> dict[tuple[str, ...], str]:
    """Labels by the words to look for; two labels must not have the same words."""
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
    """Find labels in a list of words; the longest match wins."""
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
        # Python reads 1_000 as a number, other programs do not.
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
    rows: Mapping[str, int],
    columns: Mapping[str, int],
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
