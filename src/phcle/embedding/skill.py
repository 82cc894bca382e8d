"""How well known cells are predicted without them, beside simple rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from phcle.answers import ColumnSkill, CompletionSkill
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


def _of_table(table: Table) -> Iterator[ColumnSkill]:
    """Scores of the columns of one table, but for tags."""
    if not isinstance(table.stored, Predictions):
        return
    for field in table.context.fields:
        rows, known, said = table.known_and_predicted(field)
        if len(rows) >= FEWEST:
            (family,) = table.family_says(rows, [field])
            yield _score(table.context.of_field(field), known, said, family)


def _score(
    own: DescriptiveContext, known: Column, said: Column, family: Column
) -> ColumnSkill:
    """The scores of one field, and whether it is better than the best rule."""
    truth, predicted, by_family = (
        own.on_fit_scale(x.value[:, None])[:, 0] if x.is_number else np.asarray(x.value)
        for x in (known, said, family)
    )
    usual = truth.mean() if known.is_number else np.bincount(truth).argmax()
    values = {"own": predicted, "usual": np.full(len(truth), usual)}
    if family.has_value.any():
        values["family"] = np.where(family.has_value, by_family, usual)
    total = float(np.var(truth)) or 1.0
    losses = {
        name: (x - truth) ** 2 / total if known.is_number else 1.0 * (x != truth)
        for name, x in values.items()
    }
    scores = {name: 1 - float(loss.mean()) for name, loss in losses.items()}
    own_loss = losses.pop("own")
    best = max(losses, key=lambda name: scores[name])
    gain = losses[best] - own_loss
    error = float(gain.std() / np.sqrt(len(truth)))
    verdict = "better" if gain.mean() > CERTAIN * error else "as good"
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
        "worse" if gain.mean() < -CERTAIN * error else verdict,
    )
