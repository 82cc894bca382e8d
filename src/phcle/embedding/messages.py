"""Messages: what linked labels say about a label's value in a column.

A label hears by each relation, in each direction, the mean of the labels at the other
end. Relations differ in what that is worth: two towns of one county lie near each
other, two actors of one agency are of any age. So each has its own typical difference
and spread, learned from labels whose values are known, and a message weighs more the
smaller the spread. Labels that share what they are linked to are alike as well: a ridge
regression on shared links says how much. Then every kind of message is tried on hidden
halves of the known cells, which says what it is worth.

Everything is arrays over label rows; `phcle.embedding.links` collects the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from phcle.arrays import Flags, Floats, Ints
from phcle.embedding.links import Links

FEATURES = 12
"""Columns of the features: six messages, each with its precision."""

NORMAL = 1.4826
"""Standard deviation of a normal distribution, in medians of absolute differences."""

FAR = 8.0
"""Differences above this many typical ones count as this many, so that one label of
antiquity does not decide what a relation of dates is worth."""

FEWEST = 3
"""Known pairs below which a relation says nothing."""

PRIOR = 2.0
"""Pairs by which what a relation has shown is shrunk: its difference and slope to zero,
its spread to that of the whole column."""

FLOOR = 1e-3
"""Least variance of a message, as a share of the column's."""

CLIPPED = 5.0
"""Spreads from the median at which the regression on shared links clips values."""

HIDDEN = 0.4
"""Share of the cells that are hidden to see what each kind of message is worth."""

COMMON = 0.25
"""How fast a shared link loses weight with the number of labels that have it."""

NEAREST = 0.05
"""Spread of labels with a shared link, below which it does not weigh more: a share of
the column's."""

NOISE = 0.3
"""Ridge of the regression on shared links; a label's own links have length 1."""

STEPS = 60
"""Most steps of conjugate gradients."""


class _Groups(NamedTuple):
    """Links with the same label at one end, and the same relation."""

    label: Ints  # (groups,)
    relation: Ints  # (groups,)
    n_relations: int
    others: sp.csr_array  # (groups, labels): weights of the links to the other ends


@lru_cache(maxsize=4)
def _grouped(links: Links, n_labels: int, by: str) -> _Groups:
    """Group links by their "target" or "source", and by relation."""
    ends = [links.target, links.source]
    end, other = ends if by == "target" else ends[::-1]
    n = links.n_relations
    kinds, group = np.unique(end * n + links.relation, return_inverse=True)
    shape = (len(kinds), n_labels)
    others = sp.csr_array((links.weights, (group, other)), shape=shape)
    return _Groups(kinds // n, kinds % n, n, others)


def message_features(
    links: Links, values: Floats, known: Flags, others: Floats
) -> Floats:
    """Say what linked labels tell about a column, for all labels.

    Parameters
    ----------
    links : Links
        Links between the rows.
    values : array of shape (labels,)
        The column. Only its known cells are read.
    known : array of bool of shape (labels,)
        Where it is known.
    others : array of shape (labels, columns)
        Other columns, NaN where they are unknown. Those that say nothing about the
        column do no harm.

    Returns
    -------
    array of shape (labels, 12)
        Six messages, each with its precision: all that follow together; linked labels
        with known values; all linked labels, with the first message where they are
        unknown; labels with shared links; other columns at linked labels; other columns
        at the label itself. NaN where nothing is said, with precision 0.
    """
    column = np.where(known, values, np.nan)
    said = _messages(links, column, others)
    hidden = np.random.default_rng(0).random(len(values)) < HIDDEN
    tried = _messages(links, np.where(hidden, np.nan, column), others)
    for message, trial in zip(said, tried, strict=True):
        message[:, 1] *= _worth(trial[hidden], column[hidden])
    first, second, shared, *rest = said
    linked, own, everything = (
        _together(messages, len(values))
        for messages in (rest[::2], rest[1::2], [second, shared, *rest])
    )
    return np.hstack([everything, first, second, shared, linked, own])


def by_folds(
    links: Links, values: Floats, known: Flags, fold: Ints, others: Floats
) -> Floats:
    """Say the same of known cells, each fold from the cells of the other folds alone.

    Parameters
    ----------
    links : Links
        Links between the rows.
    values : array of shape (labels,)
        The column.
    known : array of bool of shape (labels,)
        Where it is known.
    fold : array of int of shape (labels,)
        The fold of each label.
    others : array of shape (labels, columns)
        Other columns, NaN where they are unknown.

    Returns
    -------
    array of shape (labels, 12)
        Features of known cells, which may train a reader; other rows are NaN.
    """
    found = np.full((len(values), FEATURES), np.nan)
    for k in np.unique(fold[known]):
        is_hidden = known & (fold == k)
        features = message_features(links, values, known & (fold != k), others)
        found[is_hidden] = features[is_hidden]
    return found


def _messages(links: Links, column: Floats, others: Floats) -> list[Floats]:
    """Two steps, shared links, and two messages of each other column."""
    n = len(column)
    linked = _grouped(links, n, "target")
    itself = sp.csr_array(sp.eye_array(n))
    own = _Groups(np.arange(n), np.zeros(n, dtype=np.int64), 1, itself)
    first = _heard(linked, column, column)
    filled = np.where(np.isfinite(column), column, first[:, 0])
    shared = _shared(_grouped(links, n, "source"), column)
    found = [first, _heard(linked, filled, column), shared]
    for other in others.T:
        found += [_heard(who, other, column, by_line=True) for who in (linked, own)]
    return found


def _heard(
    groups: _Groups, source: Floats, column: Floats, by_line: bool = False
) -> Floats:
    """What one column at the sources says about another one, or about itself."""
    label, relation, n_relations, others = groups
    size = others @ np.isfinite(source).astype(np.float64)
    mean = others @ np.nan_to_num(source) / np.where(size > 0, size, 1.0)
    is_pair = (size > 0) & np.isfinite(column[label])
    of, x, y = relation[is_pair], mean[is_pair], column[label[is_pair]]
    slope = np.ones(n_relations)
    if by_line:
        dx, dy = (v - _medians(of, v, n_relations)[of] for v in (x, y))
        prior = PRIOR * _spread(source) ** 2
        slope = np.bincount(of, dx * dy, minlength=n_relations) / (
            np.bincount(of, dx**2, minlength=n_relations) + prior
        )
    rest = y - slope[of] * x
    shift, variance, pairs = _learned(of, rest, n_relations, _spread(column))
    speaks = (size > 0) & (pairs >= FEWEST)[relation]
    precision = np.where(speaks, 1 / variance[relation], 0.0)
    said = slope[relation] * mean + shift[relation]
    return _mean(said, precision, label, len(column))


def _learned(
    of: Ints, difference: Floats, n_relations: int, whole: float
) -> tuple[Floats, Floats, Ints]:
    """Each relation's typical difference, its variance, and the number of pairs."""
    pairs = np.bincount(of, minlength=n_relations)
    shift = np.nan_to_num(_medians(of, difference, n_relations))
    shift = shift * pairs / (pairs + PRIOR)
    error = np.abs(difference - shift[of])
    typical = NORMAL * np.nan_to_num(_medians(of, error, n_relations)) + FLOOR * whole
    squares = np.minimum(error, FAR * typical[of]) ** 2
    variance = np.bincount(of, squares, minlength=n_relations) + PRIOR * whole**2
    return shift, variance / (pairs + PRIOR) + FLOOR * whole**2, pairs


def _shared(groups: _Groups, column: Floats) -> Floats:
    """Ridge regression of a column on what labels are linked to, and how."""
    rows = np.flatnonzero(np.isfinite(column))
    if not len(rows):
        return np.column_stack([column, np.zeros(len(column))])
    middle, whole = np.median(column[rows]), _spread(column)
    wanted = np.clip((column[rows] - middle) / whole, -CLIPPED, CLIPPED)
    _, relation, n_relations, others = groups
    members = sp.csr_array(others.T)
    row, group = sp.coo_array(members[rows]).coords
    size = np.bincount(group, minlength=len(relation))
    total = np.bincount(group, wanted[row], minlength=len(relation))
    error = wanted[row] - (total / np.maximum(size, 1))[group]
    several = size[group] > 1
    error = (error * np.sqrt(1 + 1 / np.maximum(size[group] - 1, 1)))[several]
    kind = relation[group[several]]
    variance = _learned(kind, error, n_relations, 1.0)[1]
    # Sources whose labels differ little weigh more, and so do those of few labels.
    weight = (size > 0) / np.maximum(size, 1) ** COMMON
    weight = weight / (np.sqrt(variance)[relation] + NEAREST)
    design = sp.csr_array(members @ sp.diags_array(weight))
    length = np.sqrt(np.asarray(design.multiply(design).sum(axis=1)).ravel())
    design = sp.csr_array(sp.diags_array(1 / np.maximum(length, 1e-12)) @ design)
    seen = design[rows]
    back = sp.csr_array(seen.T)
    gram = LinearOperator(
        (len(rows), len(rows)), matvec=lambda v: seen @ (back @ v) + NOISE * v
    )
    share, _ = cg(gram, wanted, rtol=1e-3, maxiter=STEPS)
    said = middle + whole * (design @ (back @ share))
    is_said = length > 0
    return np.column_stack([np.where(is_said, said, np.nan), is_said / whole**2])


def _worth(said: Floats, column: Floats) -> float:
    """How far to trust a precision, by hidden cells; 0 if the message is no use."""
    is_both = np.isfinite(said[:, 0]) & np.isfinite(column)
    if np.count_nonzero(is_both) < FEWEST:
        return 0.0
    error = (said[:, 0] - column)[is_both]
    plain = column[is_both] - np.median(column[np.isfinite(column)])
    if _clipped_squares(error) >= _clipped_squares(plain):
        return 0.0
    ratio = _clipped_squares(error * np.sqrt(said[is_both, 1]))
    return float((len(error) + PRIOR) / (ratio + PRIOR))


def _clipped_squares(errors: Floats) -> float:
    """The sum of squares; far errors count as less far."""
    error = np.abs(errors)
    return float((np.minimum(error, FAR * NORMAL * np.median(error)) ** 2).sum())


def _together(messages: Sequence[Floats], n_labels: int) -> Floats:
    """Several messages about each label as one; nothing is said if there are none."""
    stacked = np.vstack([*messages, np.zeros((0, 2))])
    label = np.tile(np.arange(n_labels), len(messages))
    return _mean(stacked[:, 0], stacked[:, 1], label, n_labels)


def _mean(said: Floats, precision: Floats, label: Ints, n_labels: int) -> Floats:
    """The mean of what each label hears, and its precision.

    Messages about a label err together: each has its precision squared as weight, and
    many together are no more precise than they are on average.
    """
    weight = np.where(np.isfinite(said), precision, 0.0) ** 2
    parts = (weight, weight * np.nan_to_num(said), weight * precision)
    total, value, sharp = (np.bincount(label, x, minlength=n_labels) for x in parts)
    safe = np.where(total > 0, total, 1.0)
    return np.column_stack([np.where(total > 0, value / safe, np.nan), sharp / safe])


def _spread(values: Floats) -> float:
    """A robust standard deviation; the plain one where half of the values are equal."""
    some = values[np.isfinite(values)]
    if not len(some):
        return 1.0
    robust = NORMAL * float(np.median(np.abs(some - np.median(some))))
    return robust or float(np.std(some)) or 1.0


def _medians(group: Ints, values: Floats, n: int) -> Floats:
    """The median of each group; NaN for one without values."""
    ordered = values[np.lexsort((values, group))]
    size = np.bincount(group, minlength=n)
    start = np.cumsum(size) - size
    found = np.full(n, np.nan)
    some = size > 0
    low, high = (start + (size - 1) // 2)[some], (start + size // 2)[some]
    found[some] = (ordered[low] + ordered[high]) / 2
    return found
