"""What a report says about each label: attributes, and what labels share.

The page makes of it the card of a label, colours by attributes, filters, and why two
labels are related. So the file holds what is known of each label, and nothing of pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.matrices import take_rows
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import Column
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import TagPredictions, known_fields
from phcle.report.hierarchy_branches import hierarchy_of
from phcle.report.html_page import compressed
from phcle.report.map_data import Colouring, map_data, packed
from phcle.report.map_layout import Layout
from phcle.report.section_data import known_in

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]

N_ON_CARD = 8
"""Related labels on the card of a label."""

STEPS = 1 << 14
"""Places are rounded to 1 / STEPS, a tenth of a pixel on a large screen: so they need
half the room."""

MOST_FIELDS = 100
"""Fields of tables; nobody reads more on a card."""

MOST_LETTERS = 3_200_000
"""Letters of facts and fields in the file, so that it has less than 8 MB at 50,000
labels. Those that do not fit are left out, and the page says so."""

MOST_FACTS = 10
"""Tags, words or linked labels of a label, in each context; the rarest say most."""

MOST_GUESSES = 5
"""Predicted tags of a label, in each context."""

SURE = 0.5
"""Predicted values below this probability are left out."""

OBSERVED, UNSAID = 255, 254
"""Instead of a confidence in percent: the value is known, or nothing is said."""


@dataclass(frozen=True)
class PageData:
    """Map and cards for a page.

    Attributes
    ----------
    text : str
        What `Phcle.open_report` of `web/static/report.js` reads.
    left_out : tuple of str
        Contexts, and fields as "context: field", that had no room in it.
    """

    text: str
    left_out: tuple[str, ...]


def page_data(
    embedding: LabelEmbedding, layout: Layout, chosen: Sequence[Colouring]
) -> PageData:
    """Pack map and cards of all labels for a page.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their contexts.
    layout : Layout
        Places of the labels and their neighbours.
    chosen : sequence of dict
        Colourings that a reader can choose from, as `colourings` returns them.

    Returns
    -------
    PageData
        The data, and what it leaves out.
    """
    rounded = (np.rint(layout.places * STEPS) / STEPS).astype(np.float32)
    cards = label_cards(embedding, layout.neighbours)
    left_out = cards.pop("left_out")
    shown = map_data(embedding, replace(layout, places=rounded), chosen)
    return PageData(compressed({**shown, **cards}), tuple(left_out))


def label_cards(embedding: LabelEmbedding, neighbours: Ints) -> dict[str, Any]:
    """Pack what the page says about labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their contexts.
    neighbours : ndarray of int, shape (labels, k)
        Rows of the most similar labels, best first.

    Returns
    -------
    dict
        Values for JSON, which `web/static/report.js` reads: cosines of the neighbours,
        contexts that know each label, fields of tables, and facts, which are nodes of a
        hierarchy, tags, words or linked labels. "left_out" says in words what had no
        room; the page does not read it.
    """
    units = np.asarray(embedding.unit_vectors, np.float32)
    cosines = np.stack(
        [np.einsum("ij,ij->i", units, units[near]) for near in neighbours.T], axis=1
    )
    known = known_in(embedding)

    facts = _nodes(embedding) + [
        _tags(embedding, context, known[:, i])
        for i, context in enumerate(embedding.contexts)
        if _has_facts(context)
    ]
    room = _Room(MOST_LETTERS)
    fits = [room.takes(fact) for fact in facts]
    left_out = [
        fact["context"]
        for fact, has_room in zip(facts, fits, strict=True)
        if not has_room
    ]
    facts = list(itertools.compress(facts, fits))
    keys = _most_known(embedding)
    fields = {
        (name, title): _field(embedding.tables[name].column(title))
        for name, title in keys[:MOST_FIELDS]
    }
    fields = {key: field for key, field in fields.items() if room.takes(field)}
    left_out += [": ".join(key) for key in keys if key not in fields]
    return {
        "cosines": packed(np.rint(100 * cosines + 100).clip(0, 200), "u1"),
        "contexts": [context.name for context in embedding.contexts],
        "known": [packed(column, "u1") for column in known.T],
        "fields": [fields[key] for key in _titles(embedding) if key in fields],
        "facts": facts,
        "left_out": left_out,
    }


class _Room:
    """Letters that are left in the file."""

    def __init__(self, letters: int) -> None:
        self.letters = letters

    def takes(self, part: dict[str, Any]) -> bool:
        """Whether a part still fits; if so, it takes its room."""
        size = len(compressed(part))
        if size > self.letters:
            return False
        self.letters -= size
        return True


def _titles(embedding: LabelEmbedding) -> dict[tuple[str, str], int]:
    """Number of known values of every field of a table; no tags, which are facts."""
    return {
        (table.name, field.title): int(n)
        for table in embedding.predicting
        if table.can_be_completed
        for field, n in zip(
            table.fields, known_fields(table, embedding.labels).sum(axis=0), strict=True
        )
        if field.kind != "tag"
    }


def _most_known(embedding: LabelEmbedding) -> list[tuple[str, str]]:
    """The fields, those with most known values first."""
    counts = _titles(embedding)
    return sorted(counts, key=lambda key: -counts[key])


def _field(column: Column) -> dict[str, Any]:
    """A field; values that are hardly more probable than others are left out."""
    sure = np.rint(100 * np.nan_to_num(column.confidence, nan=UNSAID / 100))
    how = np.where(column.is_observed, OBSERVED, sure)
    made: dict[str, Any] = {
        "context": column.context,
        "title": column.title,
        "kind": column.kind,
    }
    if column.is_number:
        arrays = {
            "numbers": np.where(column.is_observed, column.value, _short(column.value)),
            "low": _short(column.low),
            "high": _short(column.high),
        }
        made |= {key: packed(value, "f4") for key, value in arrays.items()}
        made["is_log"] = column.is_log
    else:
        unknown = 255 if len(column.values) < 255 else 65_535
        is_shown = column.has_value & (how >= 100 * SURE)
        codes = np.where(is_shown, column.value, unknown)
        made["values"] = list(column.values)
        made["codes"] = packed(codes, "u1" if unknown == 255 else "u2")
    return {**made, "how": packed(how, "u1")}


def _short(numbers: Floats) -> npt.NDArray[np.float32]:
    """Numbers with about four digits, which need less room when compressed."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFF000)).view(np.float32)


def _nodes(embedding: LabelEmbedding) -> list[dict[str, Any]]:
    """The hierarchy: parents of each label, and nodes above each parent."""
    found = hierarchy_of(embedding)
    if found is None:
        return []
    name, tree = found
    n = len(tree.nodes)
    parents = sp.csr_array(
        (np.ones(len(tree.edges), np.float32), (tree.edges[:, 0], tree.edges[:, 1])),
        shape=(n, n),
    )
    inner = np.unique(tree.edges[:, 1])
    at = [tree.index.get(label, -1) for label in embedding.labels]
    # A last row without parents, for labels that the hierarchy lacks.
    return [
        {
            "context": name,
            "verb": "are below",
            "columns": [embedding.name_of(tree.nodes[i]) for i in inner],
            **_lists(take_rows(parents, at)[:, inner]),
            "above": _lists(parents[inner][:, inner]),
        }
    ]


def _has_facts(context: Context) -> bool:
    """Whether a context has readable columns of which a label has few."""
    if context.hierarchy is not None or not context.labels:
        return False
    if context.kind == "relational":
        return True
    own = cast(DescriptiveContext, context)
    return context.predicts_columns and own.value_kind != "numbers"


def _tags(
    embedding: LabelEmbedding, context: Context, known: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Tags, words or linked labels: the rarest that each label has."""
    columns, cells = context.stored_cells()
    at = np.array([context.index.get(x, -1) for x in embedding.labels])
    own = take_rows(sp.csr_array(cells), at)
    own.eliminate_zeros()
    rarity = np.log1p(len(at) / np.maximum(np.bincount(own.indices, minlength=1), 1))
    own.data = own.data * rarity[own.indices]
    made = {
        "context": context.name,
        "verb": context.verbs[0],
        "columns": [embedding.name_of(x) for x in columns],
        **_lists(_largest(own, MOST_FACTS)),
    }
    if context.can_be_completed and context.weight > 0:
        made |= _guesses(embedding, cast(DescriptiveContext, context), ~known)
    return made


def _guesses(
    embedding: LabelEmbedding,
    context: DescriptiveContext,
    wanted: npt.NDArray[np.bool_],
) -> dict[str, Any]:
    """The most probable tags of the labels that a context does not know."""
    found = embedding.tables[context.name].stored
    if not isinstance(found, TagPredictions):
        return {}
    chances = found.chances.copy()
    chances.data[
        (chances.data < SURE) | ~np.repeat(wanted, np.diff(chances.indptr))
    ] = 0
    chances.eliminate_zeros()
    made = _largest(chances, MOST_GUESSES)
    lists = {f"guess_{key}": value for key, value in _lists(made).items()}
    return {**lists, "guess_sure": packed(np.rint(100 * made.data), "u1")}


def _largest(values: sp.csr_array, most: int) -> sp.csr_array:
    """The largest values of each row, in descending order."""
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    order = np.lexsort((-values.data, rows))
    rank = np.arange(len(order)) - values.indptr[rows[order]]
    kept = order[rank < most]
    starts = np.append(0, np.bincount(rows[kept], minlength=values.shape[0]).cumsum())
    return sp.csr_array(
        (values.data[kept], values.indices[kept], starts), shape=values.shape
    )


def _lists(values: sp.csr_array) -> dict[str, str]:
    """The columns of each row, as one array and the number of columns in each row."""
    kind = "u2" if values.shape[1] <= 1 << 16 else "u4"
    counts = np.diff(values.indptr)
    return {
        "counts": packed(counts, "u1" if counts.max(initial=0) < 256 else "u4"),
        "at": packed(values.indices, kind),
    }
