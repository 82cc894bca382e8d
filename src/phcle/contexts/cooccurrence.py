"""Count what occurs together: edges, annotations, and words near labels.

`LabelLinks` are the edges of a graph with their relations, which counts do not keep.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Floats, Ints
from phcle.contexts.labels import (
    as_label,
    index_of,
    positions_of,
    some_names,
    union_of,
)
from phcle.contexts.matrices import LARGEST
from phcle.errors import ContextError, ContextWarning, OptionError
from phcle.files.container import TensorStore
from phcle.tables.reader import as_row, rows_of

Counts = tuple[tuple[str, ...], sp.csr_array]

Link = tuple[str, str, str, float]
"""Head, relation, tail and weight."""


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
    ends : array of int of shape (3, links)
        Positions of head and tail in `names`, and of the relation in `relations`.
    weight : array of shape (links,)
        Weights, zero or more.
    """

    names: tuple[str, ...]
    relations: tuple[str, ...]
    ends: Ints
    weight: Floats

    @classmethod
    def of(cls, links: Sequence[Link]) -> LabelLinks:
        """Number the labels and relations of links, in order of first appearance.

        Parameters
        ----------
        links : sequence of tuples
            Head, relation, tail and weight of each.

        Returns
        -------
        LabelLinks
            The links.
        """
        names, at = _numbered(end for link in links for end in (link[0], link[2]))
        relations, kind = _numbered(link[1] for link in links)
        weight = np.array([link[3] for link in links], dtype=np.float64)
        return cls(names, relations, np.vstack([at.reshape(-1, 2).T, kind]), weight)

    @classmethod
    def between(
        cls, labels: Sequence[str], columns: Sequence[str], counts: sp.csr_array
    ) -> LabelLinks:
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
        LabelLinks
            The links.
        """
        index, found = index_of(union_of([labels, columns])), sp.coo_array(counts)
        source = positions_of(labels, index)[found.coords[0]]
        target = positions_of(columns, index)[found.coords[1]]
        ends = np.stack([source, target, np.zeros_like(source)])
        return cls(tuple(index), ("",), ends, found.data.astype(np.float64))

    def counts(self, *, directed: bool) -> sp.csr_array:
        """Sum the weights of links between every two labels.

        Parameters
        ----------
        directed : bool
            Count a link only from its source to its target.

        Returns
        -------
        csr_array of shape (labels, labels)
            The sums.
        """
        source, target, _ = self.ends
        shape = len(self.names), len(self.names)
        counts = sp.csr_array((self.weight, (source, target)), shape=shape)
        if not directed:
            loops = sp.diags_array(counts.diagonal())
            counts = sp.csr_array(counts + counts.T - loops)
        counts.eliminate_zeros()
        return counts

    def joined(
        self, later: LabelLinks | None, spellings: Mapping[str, str] | None = None
    ) -> LabelLinks:
        """Add links of labels that came later, and spell labels in another way.

        Parameters
        ----------
        later : LabelLinks or None
            More links.
        spellings : mapping from str to str, optional
            New spellings by old ones. Labels that become one share their links.

        Returns
        -------
        LabelLinks
            All links.
        """
        parts, spelled = [self, later] if later else [self], spellings or {}
        names, at = _numbered(spelled.get(x, x) for part in parts for x in part.names)
        relations, kind = _numbered(x for part in parts for x in part.relations)
        shift = [[len(self.names)], [len(self.names)], [len(self.relations)]]
        ends = [part.ends + i * np.array(shift) for i, part in enumerate(parts)]
        source, target, relation = np.hstack(ends)
        weight = np.concatenate([part.weight for part in parts])
        found = np.stack([at[source], at[target], kind[relation]])
        return LabelLinks(names, relations, found, weight)

    def pack(self, store: TensorStore) -> None:
        """Store names and arrays.

        Parameters
        ----------
        store : TensorStore
            Where to store them.
        """
        store.put_names("links/names", self.names)
        store.put_names("links/relations", self.relations)
        store["links/ends"] = self.ends
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
            raise ContextError("links are not links between the labels that they name")
        return cls(names, relations, ends, weight)


def read_edges(
    edges: Any, name: str, *, self_loops: bool = False, are_triples: bool | None = None
) -> LabelLinks:
    """Read the edges of a graph.

    Parameters
    ----------
    edges : iterable of tuples, or data frame
        Rows `(label, label)` or `(label, label, weight)`, or triples `(head, relation,
        tail)`.
    name : str
        Name of the context, for messages.
    self_loops : bool, default False
        Keep edges from a label to itself.
    are_triples : bool, optional
        Whether the rows are triples; by default if most third cells are texts.

    Returns
    -------
    LabelLinks
        The edges; one that is no triple has a relation without a name.
    """
    where, sizes = f"context {name!r}", (3,) if are_triples else (2, 3)
    table = [
        as_row(edge, sizes, FORMS, f"{where}, edge {number}")
        for number, edge in enumerate(rows_of(edges, "edges", where), 1)
    ]
    if are_triples is None:
        last = [edge[2] for edge in table if len(edge) == 3]
        texts = [x for x in last if isinstance(x, str) and _number(x) is None]
        are_triples = 2 * len(texts) > len(last)
    links = []
    for number, edge in enumerate(table, 1):
        here, relation, (one, other, *weight) = f"{where}, edge {number}", "", edge
        if are_triples and weight:
            relation = as_label(other, here, "relation")
            other, weight = weight[0], []
        ends = as_label(one, here), as_label(other, here)
        if ends[0] != ends[1] or self_loops:
            links.append(
                (ends[0], relation, ends[1], _weight((weight or [1.0])[0], here))
            )
    if len(links) < len(table):
        warnings.warn(
            f"{where}: {len(table) - len(links)} of {len(table)} edges link a label to "
            "itself and are left out.",
            ContextWarning,
            stacklevel=3,
        )
    return LabelLinks.of(links)


def _numbered(names: Iterable[str]) -> tuple[tuple[str, ...], Ints]:
    """Different names in order of first appearance, and the number of each name."""
    listed = list(names)
    index = index_of(dict.fromkeys(listed))
    return tuple(index), positions_of(listed, index)


def read_pairs(
    rows: Iterable[Any], where: str, unit: str, ends: tuple[str, str]
) -> list[tuple[str, str]]:
    """Read pairs of names; a warning says how many repeat another.

    Parameters
    ----------
    rows : iterable of pairs
        The rows.
    where : str
        What the table is, for messages.
    unit : str
        What messages call a row.
    ends : tuple of str
        What messages call the two names.

    Returns
    -------
    list of tuples
        Different pairs.
    """
    pairs = []
    for number, row in enumerate(rows, 1):
        here = f"{where}, {unit} {number}"
        first, second = as_row(row, (2,), f"a ({', '.join(ends)}) pair", here)
        one = as_label(first, here, ends[0])
        other = as_label(second, here, f"{ends[1]} of {one!r}")
        pairs.append((one, other))
    different = list(dict.fromkeys(pairs))
    if len(different) < len(pairs):
        warnings.warn(
            f"{where}: {len(pairs) - len(different)} of {len(pairs)} {unit}s repeat "
            "another and were counted once.",
            ContextWarning,
            stacklevel=4,
        )
    return different


def count_annotations(rows: Any, name: str) -> Counts:
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
    where = f"context {name!r}"
    table = rows_of(rows, "annotations", where)
    pairs = read_pairs(table, where, "row", ("item", "label"))
    _, item_at = _numbered(item for item, _ in pairs)
    labels, label_at = _numbered(label for _, label in pairs)
    has_both = sp.csr_array((np.ones(len(pairs)), (item_at, label_at)))
    together = sp.csr_array(has_both.T @ has_both)
    together.setdiag(0.0)
    together.eliminate_zeros()
    return labels, together


def count_text(
    documents: Any, labels: Sequence[str], name: str, window: int, min_count: int
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
    from sklearn.feature_extraction import DictVectorizer  # slow to import

    for option, value in (("window", window), ("min_count", min_count)):
        if value < 1:
            raise OptionError(f"{option} must be 1 or more. Got {value!r} instead.")
    if isinstance(documents, str):
        raise ContextError(
            f"context {name!r}: a list of texts is needed. Got a single text instead."
        )
    phrases = _phrases(labels, name)
    near: list[Counter[str]] = [Counter() for _ in labels]
    for number, document in enumerate(documents, 1):
        if not isinstance(document, str):
            raise ContextError(
                f"context {name!r}, document {number}: must be text. "
                f"Got {type(document).__name__} instead."
            )
        words = _words(document)
        for row, start, stop in _mentions(words, phrases):
            around = words[max(0, start - window) : start] + words[stop : stop + window]
            near[row].update(around)
    vectorizer = DictVectorizer()
    counts = sp.csr_array(vectorizer.fit_transform(near))
    often = np.flatnonzero(counts.sum(axis=0) >= min_count)
    return some_names(vectorizer.feature_names_, often), sp.csr_array(counts[:, often])


def _words(text: str) -> list[str]:
    """Lower-case words; hyphens and underscores separate them, as in WordNet."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())


def _phrases(labels: Sequence[str], name: str) -> dict[tuple[str, ...], int]:
    """Row by the words to look for; two labels must not have the same words."""
    phrases: dict[tuple[str, ...], int] = {}
    for row, label in enumerate(labels):
        words = tuple(_words(label))
        if not words:
            raise ContextError(
                f"context {name!r}: the label {label!r} has no word to look for in the "
                "texts; leave it out of labels=."
            )
        if words in phrases:
            raise ContextError(
                f"context {name!r}: the labels {labels[phrases[words]]!r} and "
                f"{label!r} are the same words in a text; leave one out of labels=."
            )
        phrases[words] = row
    return phrases


def _mentions(
    words: list[str], phrases: dict[tuple[str, ...], int]
) -> Iterator[tuple[int, int, int]]:
    """Row, begin and end of every label among words; the longest match wins."""
    longest, start = max(map(len, phrases), default=0), 0
    while start < len(words):
        stops = range(min(start + longest, len(words)), start, -1)
        stop = next((x for x in stops if tuple(words[start:x]) in phrases), None)
        if stop is not None:
            yield phrases[tuple(words[start:stop])], start, stop
        start = stop or start + 1


def _number(value: Any) -> float | None:
    """A number; None for anything else."""
    try:
        # Python reads 1_000 as a number, other programs do not.
        return None if "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _weight(value: Any, where: str) -> float:
    weight = _number(value)
    if weight is None or not 0 <= weight < float("inf"):
        raise ContextError(
            f"{where}: a weight must be a finite number, zero or more. "
            f"Got {value!r} instead."
        )
    return weight
