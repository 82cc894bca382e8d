"""Find labels that have some attributes and lack others.

Each label has a probability of having each attribute: 0 or 1 where the attribute is
observed, the predicted one elsewhere. The score of a label is the geometric
mean of these probabilities, so that many matching attributes cannot outweigh a wrong
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phcle.arrays import Flags, Floats
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.embedding.describe import is_informative
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import read_predictions, rows_of_data
from phcle.errors import OptionError, did_you_mean, some

CERTAIN = 0.98
"""Largest probability used in scores: tables have errors, and a single probability of 0
would make the score of a label 0."""


@dataclass(frozen=True, eq=False)
class AttributeColumn:
    """One attribute of all labels, observed or predicted.

    Attributes
    ----------
    value : ndarray of shape (labels,)
        Observed values, predicted ones where none is observed, in the user's units.
    chance : ndarray of shape (labels,)
        Probability that the label has the attribute; 0 or 1 where it is observed.
    is_observed : ndarray of bool, shape (labels,)
        Where the value is observed.
    is_confident : ndarray of bool, shape (labels,)
        Where the prediction is clear enough for `LabelEmbedding.describe` to list it.
    low, high : ndarray of shape (labels,)
        Intervals that hold a predicted number in 80 of 100 cases; NaN where there are
        none.
    """

    value: Floats
    chance: Floats
    is_observed: Flags
    is_confident: Flags
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Criterion:
    """An attribute that labels must have, or must not have.

    Attributes
    ----------
    context : str
        Name of the descriptive context.
    column : str
        Name of the attribute.
    present : bool, default True
        False if labels must not have the attribute.

    Examples
    --------
    >>> Criterion("colours", "red", present=False)
    Criterion(context='colours', column='red', present=False)
    """

    context: str
    column: str
    present: bool = True


@dataclass(frozen=True)
class Match:
    """A label, its score, and the probability of each attribute asked for.

    Attributes
    ----------
    label : str
        The label.
    score : float
        How well it fits, from 0 to 1.
    chances : tuple of (float, bool)
        For each criterion the probability that the label has the attribute, and
        whether that is observed.
    """

    label: str
    score: float
    chances: tuple[tuple[float, bool], ...]


def descriptive_context(embedding: LabelEmbedding, name: str) -> PredictingContext:
    """Return a context with readable attributes by its name.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    name : str
        Name of the context.

    Returns
    -------
    PredictingContext
        The context as the fit left it.

    Raises
    ------
    OptionError
        If the embedding has no such context.
    """
    known = {context.name: context for context in embedding.predicting}
    if name not in known:
        raise OptionError(
            f"no attributes are called {name!r} in this embedding."
            f"{did_you_mean(name, known)} It has {some(known) or 'none'}."
        )
    return known[name]


def attribute_column(
    embedding: LabelEmbedding, context: str, column: str
) -> AttributeColumn:
    """Return one attribute of all labels, observed or predicted.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to ask.
    context : str
        Name of a descriptive context.
    column : str
        Name of an attribute of this context.

    Returns
    -------
    AttributeColumn
        Values and probabilities, one for each label.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> contexts = [DescriptiveContext.from_tags(tags, name="looks")]
    >>> embedding = PHCLE(dim=2).fit(contexts).embedding_
    >>> column = attribute_column(embedding, "looks", "fins")
    >>> dict(zip(embedding.labels, column.value.tolist()))
    {'cat': 0.0, 'dog': 0.0, 'carp': 1.0, 'eel': 1.0}
    """
    whole = descriptive_context(embedding, context)
    field = whole.field_of(column)
    own = whole.of_field(field)
    at = own.columns.index(column)
    n = len(embedding)
    observed = np.full(n, np.nan)
    has_it = np.zeros(n, dtype=bool)
    if own.data is not None:
        rows = rows_of_data(embedding, whole)
        observed[rows[rows >= 0]] = own.data.matrix.column(at)[rows >= 0]
        above = np.full((n, len(own.columns)), np.nan)
        above[:, at] = observed
        above = own.on_fit_scale(above)[:, at]
        has_it = above > own.data.matrix.threshold(own.offset)[at]
    read = read_predictions(embedding, whole, np.arange(n), field=field)
    if read.chance is None:
        # The fit predicted no gaps: how far from the mean towards the largest value.
        reach = (own.on_fit_scale(own.largest) - own.offset)[at] or 1.0
        fitted = own.on_fit_scale(read.values)[:, at]
        chance = np.clip((fitted - own.offset[at]) / reach, 0, 1)
    else:
        chance = read.chance[:, at]
    is_observed = ~np.isnan(observed)
    is_clear = is_informative(own, read.values, read.chance)[:, at] & (whole.weight > 0)
    return AttributeColumn(
        np.where(is_observed, observed, read.values[:, at]),
        np.where(is_observed, has_it.astype(np.float64), chance),
        is_observed,
        is_clear & ~is_observed,
        *(
            np.full(n, np.nan) if ends is None else ends[:, at]
            for ends in (read.low, read.high)
        ),
    )


def find_labels(
    embedding: LabelEmbedding, criteria: Sequence[Criterion], k: int = 20
) -> list[Match]:
    """Find the labels that fit some criteria best.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    criteria : sequence of Criterion
        Attributes that labels must have or must not have.
    k : int, default 20
        How many labels to return.

    Returns
    -------
    list of Match
        The k labels of highest score, best first.

    Raises
    ------
    OptionError
        If there are no criteria, or for an unknown context.
    ContextError
        For an unknown attribute.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> tags = {"cat": ["fur"], "dog": ["fur"], "carp": ["fins"], "eel": ["fins"]}
    >>> contexts = [DescriptiveContext.from_tags(tags, name="looks")]
    >>> embedding = PHCLE(dim=2).fit(contexts).embedding_
    >>> found = find_labels(embedding, [Criterion("looks", "fins")], k=2)
    >>> [match.label for match in found]
    ['carp', 'eel']
    """
    if not criteria:
        raise OptionError("a search needs an attribute or more. Got none.")
    columns = [attribute_column(embedding, x.context, x.column) for x in criteria]
    log_score = np.zeros(len(embedding))
    for each, column in zip(criteria, columns, strict=True):
        right = column.chance if each.present else 1 - column.chance
        log_score += np.log(np.clip(right, 1 - CERTAIN, CERTAIN))
    score = np.exp(log_score / len(criteria))
    return [
        Match(
            embedding.labels[i],
            float(score[i]),
            tuple((float(x.chance[i]), bool(x.is_observed[i])) for x in columns),
        )
        for i in _largest(score, k)
    ]


def _largest(score: Floats, k: int) -> list[int]:
    """Positions of the k largest numbers, the first of equal ones first."""
    if k < len(score):
        least = np.partition(score, len(score) - k)[len(score) - k]
        at = np.flatnonzero(score >= least)
    else:
        at = np.arange(len(score))
    found: list[int] = at[np.argsort(-score[at], kind="stable")[:k]].tolist()
    return found
