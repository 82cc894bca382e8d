"""Columns, tags and the hierarchy over all labels, packed for the page.

The page computes filters, colours, histograms and its table from these, so they hold
what is known of each label and what was predicted, and nothing of pairs.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.arrays import AnyFloats
from phcle.atlas.opened import Opened
from phcle.contexts.matrices import take_rows
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import Column, Table
from phcle.embedding.describe import attribute_probabilities, table_called
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import Predictions, TagPredictions, known_fields
from phcle.embedding.summary import summarise
from phcle.errors import check_choice

MOST_GUESSES = 5
"""Predicted tags of a label, in each context."""

SURE = 0.5
"""Predicted tags below this probability are left out."""

OBSERVED, UNSAID = 255, 254
"""Instead of a confidence in percent: the value is known, or nothing is said."""

LEAST_WEIGHT = 0.05
"""Readers with a smaller weight are not named."""


def packed(values: npt.ArrayLike, kind: str) -> str:
    """Write an array as text: its type, a colon and base64.

    Parameters
    ----------
    values : array
        The numbers.
    kind : {"f4", "u4", "u2", "u1"}
        The type to write: floats or unsigned integers, and the number of bytes.

    Returns
    -------
    str
        The text, which the page reads.

    Examples
    --------
    >>> packed([1, 2], "u2")
    'u2:AQACAA=='
    """
    array = np.ascontiguousarray(values, f"<{kind}")
    return f"{kind}:{base64.b64encode(array.tobytes()).decode()}"


def columns_of(opened: Opened) -> dict[str, Any]:
    """List the columns, the contexts of tags, and which context knows which label.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    dict
        Values for JSON.
    """
    embedding = opened.embedding
    completion = summarise(embedding).completion
    skills = {
        (x.context, x.column): {**x.to_dict(), "words": x.words}
        for x in (() if completion is None else completion.columns)
    }
    columns = []
    for table in embedding.tables.values():
        if table.context.can_be_completed:
            columns += _columns_of_table(table, skills)
    return {
        "columns": columns,
        "tags": [{"context": name} for name in _tag_contexts(embedding)],
        "known": [
            {"context": x.name, "known": packed(_known_in(x, embedding), "u1")}
            for x in embedding.contexts
        ],
    }


def _known_in(context: Context, embedding: LabelEmbedding) -> list[bool]:
    """Whether a context knows each label."""
    own = set(context.observed_labels)
    return [label in own for label in embedding.labels]


def _columns_of_table(
    table: Table, skills: dict[tuple[str, str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The columns of one table: what they hold, and how well they are predicted."""
    context, stored = table.context, table.stored
    known = known_fields(context, table.embedding.labels)
    is_described = np.asarray(known.any(axis=1))
    found = []
    for number, field in enumerate(context.fields):
        if field.kind == "tag":
            continue
        gaps = ~known[:, number]
        readers: list[dict[str, Any]] = []
        if isinstance(stored, Predictions):
            share = is_described[gaps].mean() if gaps.any() else 1.0
            weights = np.array([share, 1 - share]) @ stored.weights[:, number]
            mix = zip(stored.readers, weights.tolist(), strict=True)
            readers = [{"name": x, "weight": y} for x, y in mix if y >= LEAST_WEIGHT]
        found.append(
            {
                "context": context.name,
                "title": field.title,
                "kind": field.kind,
                "known": int(known[:, number].sum()),
                "skill": skills.get((context.name, field.title)),
                "readers": sorted(readers, key=lambda x: -x["weight"]),
            }
        )
    return found


def column_of(
    embedding: LabelEmbedding,
    context: str,
    title: str = "",
    value: str = "",
    *,
    is_short: bool = False,
) -> dict[str, Any]:
    """Pack one column over all labels: values, and how sure each of them is.

    Without a title: the tags of all labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    context, title : str
        The table and the title of its column, or a tag; unknown ones are refused.
    value : str, default ""
        Also say how likely each label has this value; of numbers, a high one.
    is_short : bool, default False
        Whether predicted numbers have four digits, which need less room in a report.

    Returns
    -------
    dict
        Values for JSON.
    """
    if not title:
        return tags_of(embedding, context)
    table = table_called(embedding, context)
    column = table.column(title)
    made: dict[str, Any] = {"context": context, "title": title, "kind": column.kind}
    made["how"] = packed(_how_sure(column), "u1")
    if column.is_number:
        said = {"numbers": column.value, "low": column.low, "high": column.high}
        if is_short:
            said = {key: _short(values) for key, values in said.items()}
            said["numbers"][column.is_observed] = column.value[column.is_observed]
        made |= {key: packed(values, "f4") for key, values in said.items()}
        made["is_log"] = column.is_log
    else:
        kind, unknown = ("u1", 255) if len(column.values) < 255 else ("u2", 65_535)
        codes = np.where(column.has_value, column.value, unknown)
        made["values"] = list(column.values)
        made["codes"] = packed(codes, kind)
    if value:
        at = column.field.at.start
        if column.field.values:
            check_choice("a value", value, column.field.values)
            at += column.field.values.index(value)
        found = attribute_probabilities(table, table.context.columns[at])
        made["chance"] = packed(found, "f4")
    return made


def _how_sure(column: Column) -> AnyFloats:
    """Confidences in percent, or how else a value is known."""
    sure = np.rint(100 * np.nan_to_num(column.confidence, nan=UNSAID / 100))
    return np.where(column.is_observed, OBSERVED, sure)


def _short(numbers: AnyFloats) -> npt.NDArray[np.float32]:
    """Numbers with about four digits."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFFF000)).view(np.float32)


def tags_of(embedding: LabelEmbedding, name: str) -> dict[str, Any]:
    """Pack the tags of all labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    name : str
        A context of tags; an unknown one is refused.

    Returns
    -------
    dict
        Values for JSON.
    """
    contexts = _tag_contexts(embedding)
    check_choice("a context of tags", name, list(contexts))
    context = contexts[name]
    made = {
        "context": name,
        "columns": [embedding.name_of(x) for x in context.columns],
        **_lists(_known_tags(embedding, context)),
    }
    if context.weight > 0:
        made |= _guesses(embedding, context)
    return made


def _tag_contexts(embedding: LabelEmbedding) -> dict[str, DescriptiveContext]:
    """The contexts whose columns are tags, of which labels have few."""
    return {
        x.name: x
        for x in embedding.predicting
        if x.can_be_completed and x.fields and x.fields[0].kind == "tag"
    }


def _known_tags(embedding: LabelEmbedding, context: Context) -> sp.csr_array:
    """How often, or how much, each label has each tag."""
    at = np.array([context.index.get(x, -1) for x in embedding.labels])
    own = take_rows(context.cells, at)
    own.data = np.maximum(own.data, 0)
    own.eliminate_zeros()
    return own


def _guesses(embedding: LabelEmbedding, context: Context) -> dict[str, Any]:
    """The most probable tags of the labels that a context does not know."""
    found = embedding.tables[context.name].stored
    if not isinstance(found, TagPredictions):
        return {}
    likely = found.probabilities.copy()
    is_left_out = np.repeat(_known_in(context, embedding), np.diff(likely.indptr))
    likely.data[(likely.data < SURE) | is_left_out] = 0
    likely.eliminate_zeros()
    made = _largest(likely, MOST_GUESSES)
    lists = {f"guess_{key}": value for key, value in _lists(made).items()}
    return {**lists, "guess_sure": packed(np.rint(100 * made.data), "u1")}


def hierarchy_lists(opened: Opened) -> dict[str, Any] | None:
    """Pack the hierarchy: parents of each label, and nodes above each parent.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    dict or None
        Values for JSON; None without a hierarchy.
    """
    _, tree = opened.taxonomy
    embedding, n = opened.embedding, len(tree.nodes)
    if not n:
        return None
    parents = sp.csr_array(
        (np.ones(len(tree.edges), np.float32), (tree.edges[:, 0], tree.edges[:, 1])),
        shape=(n, n),
    )
    inner = np.unique(tree.edges[:, 1])
    at = np.array([tree.index.get(label, -1) for label in embedding.labels])
    return {
        "nodes": [tree.nodes[i] for i in inner],
        "own": packed(opened.row_of_node[inner] + 1, "u4"),
        **_lists(take_rows(parents, at)[:, inner]),
        "above": _lists(parents[inner][:, inner]),
    }


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
