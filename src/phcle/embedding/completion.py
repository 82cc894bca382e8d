"""Predict the gaps of all tables at the end of a fit, and of labels added later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.arrays import AnyFloats, Ints
from phcle.contexts.labels import positions_of
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.held_out import HeldOut, HeldTags
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.messages import links_between
from phcle.embedding.predictions import (
    LEAST,
    TablePredictions,
    TagCurve,
    TagPredictions,
)
from phcle.embedding.table_readers import Effort, OnField, predict_table
from phcle.embedding.table_view import TableView

CELLS_AT_ONCE = 4_000_000
"""Tags that are predicted at once: a few arrays of 32 MB."""


def complete_tables(
    embedding: LabelEmbedding,
    held: Mapping[str, HeldOut | HeldTags],
    *,
    effort: Effort,
    own: Mapping[str, Any],
    seed: int,
    on_field: OnField = lambda title, done, total: None,
) -> dict[str, TablePredictions]:
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
    dict
        Predictions by table.
    """
    found: dict[str, TablePredictions] = {}
    links = links_between(embedding.contexts, embedding.labels)
    more: dict[str, Any] = {"effort": effort, "own": own, "seed": seed}
    for table in embedding.predicting:
        said = held.get(table.name)
        if isinstance(said, HeldTags):
            found[table.name] = _of_tags(embedding, table, said)
        elif said is not None:
            view = TableView(embedding, table, said, links)
            found[table.name] = predict_table(view, on_field=on_field, **more)
    return found


def _of_tags(
    embedding: LabelEmbedding, table: DescriptiveContext, held: HeldTags
) -> TagPredictions:
    """Learn the curve of a table of tags, and keep what is likely enough."""
    labels, at = np.unique(held.rows, return_inverse=True)
    family = _families(embedding, table, labels)[at, held.columns]
    presence = table.matrix.presence()[held.columns]
    steps = held.steps * table.scale[held.columns]
    curve = TagCurve.learn(steps, presence, family, held.has_it)
    every = np.arange(len(embedding))
    return TagPredictions(_probabilities(embedding, table, curve, every), curve)


def _probabilities(
    embedding: LabelEmbedding, table: DescriptiveContext, curve: TagCurve, rows: Ints
) -> sp.csr_array:
    """Probabilities of unknown tags of some labels; those below 2 % are left out."""
    n_columns, matrix = len(table.columns), table.matrix
    listed = positions_of([embedding.labels[i] for i in rows], table.index)
    is_gappy = matrix.arrays[1] is not None
    asked = np.flatnonzero((listed < 0) | is_gappy)
    presence = matrix.presence()
    step = max(CELLS_AT_ONCE // max(n_columns, 1), 1)
    blocks = [sp.csr_array((0, n_columns), dtype=np.float32)]
    for start in range(0, len(asked), step):
        own = rows[asked[start : start + step]]
        steps = (embedding.vectors[own] @ table.factor.T) * table.scale
        chance = curve.chance(steps, presence, _families(embedding, table, own))
        at = listed[asked[start : start + step]]
        known = matrix.take(at[at >= 0]).known
        chance[at >= 0] = np.where(known, 0.0, chance[at >= 0])
        blocks.append(sp.csr_array(np.where(chance < LEAST, 0.0, chance), dtype="f4"))
    ones = np.ones(len(asked), np.float32), (asked, np.arange(len(asked)))
    place = sp.csr_array(ones, shape=(len(rows), len(asked)))
    return sp.csr_array(place @ sp.vstack(blocks, "csr"))


def _families(
    embedding: LabelEmbedding, table: DescriptiveContext, rows: Ints
) -> AnyFloats:
    """Share of a label's family that has each tag; of all labels where it is alone."""
    presence, means = table.matrix.presence(), embedding.tables[table.name].family
    if means is None:
        return np.broadcast_to(presence, (len(rows), len(presence)))
    found = means.at(rows)
    return np.where(np.isnan(found), presence, found)


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
    if isinstance(stored, TagPredictions):
        probabilities = _probabilities(embedding, table, stored.curve, rows)
        return stored.joined(TagPredictions(probabilities, stored.curve))
    links = links_between(embedding.contexts, embedding.labels)
    view = TableView(embedding, table, stored.held, links, rows)
    found = predict_table(view, effort="fast", own={}, seed=0)
    return stored.joined(found.take(rows))
