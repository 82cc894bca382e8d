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
    for table in embedding.predicting:
        known = known_fields(table, embedding.labels)
        n_alone = np.count_nonzero(~known.any(axis=1))
        total = np.count_nonzero(~known)
        # Columns without gaps are weighted like the table.
        usual = n_alone * known.shape[1] / total if total else NO_GAPS
        for number, field in enumerate(table.fields):
            own = [x for x in held.get(table.name, ()) if x.field == field]
            if own and len(own[0].rows) >= FEWEST:
                n_gaps = np.count_nonzero(~known[:, number])
                whole = n_alone / n_gaps if n_gaps else usual
                found.append(_score(table.name, own, whole))
    n_cells = sum(len(x.rows) for parts in held.values() for x in parts)
    return CompletionSkill(None, n_cells, tuple(found))


def _score(context: str, parts: Sequence[HeldField], whole: float) -> ColumnSkill:
    """The scores of one field, and whether it is better than the best rule."""
    field = parts[0].field
    is_squared = field.kind in ("number", "tag")
    share = {"cells": 1 - whole, "labels": whole} if len(parts) > 1 else {}
    losses: dict[str, list[Floats]] = {name: [] for name in ("own", *RULES)}
    weights = []
    for part in parts:
        n = len(part.rows)
        weights.append(np.full(n, share.get(part.regime, 1.0) / n))
        usual = np.broadcast_to(part.truth.mean(axis=0), part.truth.shape)
        for name, said in zip(losses, (part.said, usual, part.family), strict=True):
            filled = np.where(np.isnan(said), usual, said)
            losses[name].append(_loss(filled, part.truth, is_squared))
    weight, rows = np.concatenate(weights), np.concatenate([x.rows for x in parts])
    joined = {name: np.concatenate(x) for name, x in losses.items()}
    if all(np.isnan(x.family).all() for x in parts):
        del joined["family"]
    total = (float(weight @ joined["usual"]) or 1.0) if is_squared else 1.0
    scores = {name: 1 - float(weight @ loss) / total for name, loss in joined.items()}
    own = joined.pop("own")
    best = max(joined, key=lambda name: scores[name])
    error = _error((joined[best] - own) / total, weight, rows)
    lead, verdict = scores["own"] - scores[best], "as good"
    if abs(lead) > CERTAIN * error:
        verdict = "better" if lead > 0 else "worse"
    return ColumnSkill(
        context,
        "all tags" if field.kind == "tag" else field.title,
        field.kind,
        len(np.unique(rows)) if field.kind != "tag" else len(rows),
        R2 if is_squared else RIGHT,
        scores["own"],
        scores["usual"],
        scores.get("family"),
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
