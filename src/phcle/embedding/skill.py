"""How well known cells are predicted without them, beside simple rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phcle.answers import ColumnSkill, CompletionSkill
from phcle.arrays import Floats, Ints
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.predictions import known_fields
from phcle.embedding.table_readers import HeldField
from phcle.errors import ContextError
from phcle.files.text import of_types

FEWEST = 10
"""Fields with fewer known cells are not judged."""

CERTAIN = 2.0
"""Standard errors by which a rule must differ to be called better or worse."""

NO_GAPS = 0.5
"""Weight of whole rows in a table without gaps, which tells nothing about the mix."""

RULES = {"usual": "mean or most common value", "family": "family"}
R2, RIGHT = "R²", "share right"


def score_columns(
    embedding: LabelEmbedding, held: Mapping[str, Sequence[HeldField]]
) -> CompletionSkill:
    """Score every field by its known cells, as they were predicted without them.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    held : mapping from str to sequence of HeldField
        How known cells were predicted, by table.

    Returns
    -------
    CompletionSkill
        A score for each field, weighted like its gaps: some are in labels with other
        known cells, and some in labels of which the table knows nothing.
    """
    found = []
    n_cells = 0
    for table in embedding.predicting:
        parts = held.get(table.name, ())
        known = known_fields(table, embedding.labels)
        n_alone = np.count_nonzero(~known.any(axis=1))
        total = np.count_nonzero(~known)
        # Columns without gaps are weighted like the table.
        usual = n_alone * known.shape[1] / total if total else NO_GAPS
        for number, field in enumerate(table.fields):
            own = [x for x in parts if x.field == field]
            n_cells += sum(len(x.rows) for x in own)
            if not own or len(own[0].rows) < FEWEST:
                continue
            n_gaps = np.count_nonzero(~known[:, number])
            whole = n_alone / n_gaps if n_gaps else usual
            regimes = {x.regime for x in own}
            shares = {"cells": 1 - whole, "labels": whole}
            if len(regimes) == 1:
                shares = dict.fromkeys(regimes, 1.0)
            found.append(_score(table.name, own, shares, whole))
    return CompletionSkill(None, n_cells, tuple(found))


def _score(
    context: str, parts: Sequence[HeldField], shares: Mapping[str, float], whole: float
) -> ColumnSkill:
    """The scores of one field, and whether it is better than the best rule."""
    field = parts[0].field
    is_squared = field.kind in ("number", "tag")
    rows = np.concatenate([x.rows for x in parts])
    weights = np.concatenate(
        [np.full(len(x.rows), shares[x.regime] / len(x.rows)) for x in parts]
    )
    losses = {name: [] for name in ("own", *RULES)}  # type: dict[str, list[Floats]]
    for part in parts:
        usual = np.broadcast_to(part.truth.mean(axis=0), part.truth.shape)
        for name, said in zip(losses, (part.said, usual, part.family), strict=True):
            filled = np.where(np.isnan(said), usual, said)
            losses[name].append(_loss(filled, part.truth, is_squared))
    joined = {name: np.concatenate(x) for name, x in losses.items()}
    total = (float(weights @ joined["usual"]) or 1.0) if is_squared else 1.0
    scores = {x: 1 - float(weights @ y) / total for x, y in joined.items()}
    knows_family = not all(np.isnan(x.family).all() for x in parts)
    rules = RULES if knows_family else {"usual": RULES["usual"]}
    gains = {x: (joined[x] - joined["own"]) / total for x in rules}
    leads = {x: float(weights @ gains[x]) for x in rules}
    best = min(leads, key=lambda x: leads[x])
    error = _error(gains[best], weights, rows)
    verdict = "as good"
    if abs(leads[best]) > CERTAIN * error:
        verdict = "better" if leads[best] > 0 else "worse"
    return ColumnSkill(
        context,
        "all tags" if field.kind == "tag" else field.title,
        field.kind,
        len(np.unique(rows)) if field.kind != "tag" else len(rows),
        R2 if is_squared else RIGHT,
        scores["own"],
        scores["usual"],
        scores["family"] if knows_family else None,
        RULES[best],
        error,
        verdict,
        whole,
    )


def _loss(said: Floats, truth: Floats, is_squared: bool) -> Floats:
    """Squared errors, or whether the likeliest value is wrong."""
    if is_squared:
        return np.asarray(((said - truth) ** 2)[:, 0])
    if truth.shape[1] == 1:
        wrong = ((said > 0.5) != (truth > 0.5))[:, 0]
    else:
        wrong = said.argmax(axis=1) != truth.argmax(axis=1)
    return np.asarray(wrong, np.float64)


def _error(gain: Floats, weights: Floats, rows: Ints) -> float:
    """Standard error of a weighted mean, clustered by label."""
    left = gain - float(weights @ gain) / float(weights.sum())
    _, label = np.unique(rows, return_inverse=True)
    return float(np.linalg.norm(np.bincount(label, weights * left)))


def completion_skill(embedding: LabelEmbedding) -> CompletionSkill:
    """Say how well each column of an embedding's tables is completed.

    The fit measured it: every known cell was predicted by fits and readers that had not
    seen it.

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
    stored: Any = embedding.origin.get("completion")
    if stored is None:
        raise ContextError(
            "this fit did not predict gaps, so nothing says how good they are; fit "
            "again with completion='full'."
        )
    try:
        columns = [of_types(ColumnSkill, column) for column in stored["columns"]]
        return CompletionSkill(None, int(stored["cells"]), tuple(columns))
    except (KeyError, TypeError, ValueError) as error:
        raise ContextError(
            f"what this embedding says about its predictions is damaged ({error}); "
            "fit again."
        ) from error
