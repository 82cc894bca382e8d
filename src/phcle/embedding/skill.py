"""How well known cells are predicted without them, beside simple rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from phcle.answers import ColumnSkill, CompletionSkill
from phcle.arrays import Ints
from phcle.contexts.encoders import Field
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.columns import Column, Table
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import Predictions
from phcle.errors import ContextError

FEWEST = 10
"""Columns with fewer known cells are not judged."""

CERTAIN = 2.0
"""Standard errors by which a rule must differ to be called better or worse."""

RULES = {"usual": "mean or most common value", "family": "family"}


def completion_skill(embedding: LabelEmbedding) -> CompletionSkill:
    """Say how well each column of an embedding's tables is completed.

    The fit predicted every known cell from the label's other cells, by fits and readers
    that had not seen it.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding whose fit predicted gaps.

    Returns
    -------
    CompletionSkill
        Scores of all columns, beside the mean or most common value and the family.

    Examples
    --------
    >>> import numpy as np
    >>> from phcle import DescriptiveContext, PHCLE, completion_skill
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6))
    >>> labels = [f"label{i}" for i in range(60)]
    >>> table = DescriptiveContext("sizes", labels, list("abcdef"), truth)
    >>> completion_skill(PHCLE().fit(table).embedding_).columns[0].verdict
    'better'
    """
    if not embedding.predictions:
        raise ContextError(
            "this fit did not predict gaps, so nothing says how good they are; fit "
            "again with completion='full'."
        )
    columns = [x for table in embedding.tables.values() for x in _of_table(table)]
    return CompletionSkill(None, sum(x.cells for x in columns), tuple(columns))


def known_and_said(table: Table, field: Field) -> tuple[Ints, Column, Column]:
    """Find the known cells of a field, and what was predicted of them without them.

    Parameters
    ----------
    table : Table
        A table whose gaps the fit predicted.
    field : Field
        One of its fields, but no tag.

    Returns
    -------
    rows : array of int
        Rows of the labels.
    known, said : Column
        Their known and their predicted values.
    """
    every = np.arange(len(table))
    read = table.read(every, field)
    alone = replace(field, at=slice(0, read.known.shape[1]))
    is_both = ~np.isnan(read.known[:, 0]) & ~np.isnan(read.values[:, 0])
    rows = every[is_both]
    read = table.read(rows, field)
    unknown = replace(read, known=np.full_like(read.known, np.nan))
    return rows, read.column(alone), unknown.column(alone)


def _of_table(table: Table) -> Iterator[ColumnSkill]:
    """Scores of the columns of one table, but for tags."""
    if not isinstance(table.stored, Predictions):
        return
    fields, every = table.context.fields, np.arange(len(table))
    for field, family in zip(fields, table.family_says(every, fields), strict=True):
        rows, known, said = known_and_said(table, field)
        if len(rows) >= FEWEST:
            own = table.context.of_field(field)
            by_family = replace(family, value=family.value[rows])
            yield _score(own, known, {"own": said, "family": by_family})


def _score(
    own: DescriptiveContext, known: Column, said: dict[str, Column]
) -> ColumnSkill:
    """The scores of one field, and whether it is better than the best rule."""
    truth, total = np.asarray(known.value), 1.0
    values = {
        name: np.asarray(x.value) for name, x in said.items() if x.has_value.any()
    }
    if known.is_number:
        truth = own.on_fit_scale(truth[:, None])[:, 0]
        values = {x: own.on_fit_scale(y[:, None])[:, 0] for x, y in values.items()}
        total = float(np.var(truth)) or 1.0
    usual = truth.mean() if known.is_number else np.bincount(truth).argmax()
    values["usual"] = np.full(len(truth), usual)
    if "family" in values:
        values["family"] = np.where(said["family"].has_value, values["family"], usual)
    losses = {
        name: ((x - truth) ** 2 if known.is_number else x != truth) / total
        for name, x in values.items()
    }
    scores = {name: 1 - float(loss.mean()) for name, loss in losses.items()}
    rules = [name for name in losses if name != "own"]
    best = max(rules, key=lambda name: scores[name])
    gain = losses[best] - losses["own"]
    error = float(gain.std() / np.sqrt(len(truth)))
    verdict = "as good"
    if abs(gain.mean()) > CERTAIN * error:
        verdict = "better" if gain.mean() > 0 else "worse"
    return ColumnSkill(
        own.name,
        known.title,
        known.kind,
        len(truth),
        "R²" if known.is_number else "share right",
        scores["own"],
        scores["usual"],
        scores.get("family"),
        RULES[best],
        error,
        verdict,
    )
