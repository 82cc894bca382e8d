"""Predict the gaps of all tables at the end of a fit, and of labels added later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.held_out import HeldOut, HeldTags
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.links import links_between
from phcle.embedding.predictions import (
    TablePredictions,
    TagPredictions,
)
from phcle.embedding.table_readers import (
    Effort,
    HeldField,
    OnField,
    predict_table,
)
from phcle.embedding.table_view import TableView
from phcle.embedding.tag_curves import LEAST, TagCurve

ROWS_AT_ONCE = 4_000_000
"""Tags that are predicted at once: a few arrays of 32 MB."""


def complete_tables(
    embedding: LabelEmbedding,
    held: Mapping[str, HeldOut | HeldTags],
    *,
    effort: Effort,
    own: Mapping[str, Any],
    seed: int,
    on_field: OnField = lambda title, done, total: None,
) -> tuple[dict[str, TablePredictions], dict[str, list[HeldField]]]:
    """Predict every gap of the tables that can be completed.

    Parameters
    ----------
    embedding : LabelEmbedding
        What was learned.
    held : mapping from str to HeldOut or HeldTags
        What fits said of known cells that they had not seen, by table.
    effort : {"full", "fast"}
        Whether the whole team of readers is asked, or forests alone.
    own : mapping from str to estimator
        The user's own readers.
    seed : int
        Seed of whatever is drawn.
    on_field : callable, optional
        Called with the title of a field that was read, the number of such fields, and
        of all.

    Returns
    -------
    predictions : dict
        By table.
    held_fields : dict
        How known cells were predicted, by table.
    """
    found: dict[str, TablePredictions] = {}
    scored: dict[str, list[HeldField]] = {}
    tables = [x for x in embedding.predicting if x.name in held]
    links = links_between(embedding.contexts, embedding.labels) if tables else None
    for table in tables:
        said = held[table.name]
        if isinstance(said, HeldTags):
            found[table.name], scored[table.name] = _of_tags(embedding, table, said)
        else:
            found[table.name], scored[table.name] = predict_table(
                TableView(embedding, table, said, links),
                effort=effort,
                own=own,
                seed=seed,
                on_field=on_field,
            )
    return found, scored


def _of_tags(
    embedding: LabelEmbedding, table: DescriptiveContext, held: HeldTags
) -> tuple[TagPredictions, list[HeldField]]:
    """Learn the curve of a table of tags, and keep what is likely enough."""
    presence = table.matrix.presence()
    family = _families_at(embedding, table, held.rows, held.columns)
    told = held.steps * table.scale[held.columns], presence[held.columns], family
    curve = TagCurve.learn(*told, held.has_it)
    every = np.arange(len(embedding))
    found = TagPredictions(_chances(embedding, table, curve, every), curve)
    scored = HeldField(
        table.fields[0],
        "labels",
        held.rows,
        held.has_it[:, None].astype(np.float64),
        np.asarray(curve.chance(*told), np.float64)[:, None],
        family[:, None],
    )
    return found, [scored]


def _chances(
    embedding: LabelEmbedding,
    table: DescriptiveContext,
    curve: TagCurve,
    rows: Ints,
) -> sp.csr_array:
    """Probabilities of unknown tags of some labels; those below 2 % are left out."""
    n_columns = len(table.columns)
    labels = [embedding.labels[i] for i in rows.tolist()]
    is_listed = np.array([label in table.index for label in labels], dtype=bool)
    is_gappy = table.matrix.arrays[1] is not None
    asked = np.arange(len(rows)) if is_gappy else np.flatnonzero(~is_listed)
    presence = table.matrix.presence()
    high = max(ROWS_AT_ONCE // max(n_columns, 1), 1)
    row_at, column_at, kept = [], [], []
    for start in range(0, len(asked), high):
        own = asked[start : start + high]
        steps = (embedding.vectors[rows[own]] @ table.factor.T) * table.scale
        family = _families(embedding, table, rows[own])
        chance = curve.chance(steps, presence, family)
        if is_gappy:
            for i, at in enumerate(own.tolist()):
                if is_listed[at]:
                    known = ~np.isnan(table.observed_row(labels[at]))
                    chance[i, known] = 0.0
        at, columns = np.nonzero(chance >= LEAST)
        row_at.append(own[at])
        column_at.append(columns)
        kept.append(chance[at, columns])
    empty = np.zeros(0, dtype=np.int64)
    return sp.csr_array(
        (
            np.concatenate([np.zeros(0), *kept]).astype(np.float32),
            (
                np.concatenate([empty, *row_at]),
                np.concatenate([empty, *column_at]),
            ),
        ),
        shape=(len(rows), n_columns),
    )


def _families(
    embedding: LabelEmbedding, table: DescriptiveContext, rows: Ints
) -> AnyFloats:
    """Share of a label's family that has each tag; of all labels where it is alone."""
    presence, means = table.matrix.presence(), embedding.tables[table.name].family
    if means is None:
        return np.broadcast_to(presence, (len(rows), len(presence)))
    found = means.at(rows)
    return np.where(np.isnan(found), presence, found)


def _families_at(
    embedding: LabelEmbedding, table: DescriptiveContext, rows: Ints, columns: Ints
) -> Floats:
    """The same shares, of some tags of some labels."""
    labels, at = np.unique(rows, return_inverse=True)
    found = np.empty(len(rows))
    high = max(ROWS_AT_ONCE // len(table.columns), 1)
    for start in range(0, len(labels), high):
        own = np.flatnonzero((at >= start) & (at < start + high))
        whole = _families(embedding, table, labels[start : start + high])
        found[own] = whole[at[own] - start, columns[own]]
    return found


def predictions_of(
    embedding: LabelEmbedding, table: DescriptiveContext
) -> TablePredictions | None:
    """Return the predictions of a table, also of labels that were added to it.

    Readers of added labels are fitted again, from what is stored.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    table : DescriptiveContext
        One of its tables.

    Returns
    -------
    Predictions or TagPredictions or None
        One row for each label; None if the fit predicted nothing.
    """
    stored = embedding.predictions.get(table.name)
    if stored is None or len(stored) == len(embedding):
        return stored
    rows = np.arange(len(stored), len(embedding))
    return stored.joined(_of_added(embedding, table, stored, rows))


def _of_added(
    embedding: LabelEmbedding,
    table: DescriptiveContext,
    stored: TablePredictions,
    rows: Ints,
) -> Any:
    """Predictions of labels that were added after the fit."""
    if isinstance(stored, TagPredictions):
        chances = _chances(embedding, table, stored.curve, rows)
        return TagPredictions(chances, stored.curve)
    links = links_between(embedding.contexts, embedding.labels)
    view = TableView(embedding, table, stored.held, links, rows)
    found, _ = predict_table(view, effort="fast", own={}, seed=0)
    of_fit = {x: getattr(stored, x) for x in ("readers", "weights", "held")}
    return replace(found.take(rows), **of_fit)
