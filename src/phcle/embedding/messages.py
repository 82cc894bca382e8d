"""Links between labels, and messages: what linked labels say about a column.

A label hears by each relation, in each direction, the mean of the labels at the other
end. Relations differ in what that is worth: two towns of one county lie near each
other, two actors of one agency are of any age. So each has its own typical difference
and spread, learned from labels whose values are known, and a message weighs more the
smaller the spread. Labels that share what they are linked to are alike as well: a ridge
regression on shared links says how much. Then every kind of message is tried on hidden
cells, which says what it is worth.

Everything is arrays over label rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.labels import index_of, positions_of
from phcle.contexts.protocol import Context

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

NOISE = 0.3
"""Ridge of the regression on shared links; a label's own links have length 1."""

STEPS = 60
"""Most steps of conjugate gradients."""


MOST_BY_RELATION, MOST_BY_LABEL = 40, 60
"""Directions of a label's links by relation, and by the label at the other end."""

LABELS_A_DIRECTION, FEWEST_DIRECTIONS = 20, 10
"""Labels for each direction, and directions of few labels: with more, trees that grow
on a few hundred labels read noise."""


@dataclass(frozen=True, eq=False)
class Links:
    """Links between labels, each from a source to a target that hears it.

    Both ends hear a link, so it stands here twice, and each direction has a relation of
    its own.

    Parameters
    ----------
    source, target : array of int of shape (links,)
        Rows of labels.
    relation : array of int of shape (links,)
        Which relation and direction, from 0.
    weight : array of shape (links,), optional
        Shares of the sources in what a label hears by a relation; by default equal.
    """

    source: Ints
    target: Ints
    relation: Ints
    weight: Floats | None = None

    @property
    def n_relations(self) -> int:
        """How many relations there are, each direction on its own."""
        return int(self.relation.max(initial=0)) + 1

    @property
    def weights(self) -> Floats:
        """The weights of all links."""
        return np.ones(len(self.source)) if self.weight is None else self.weight


class _Groups(NamedTuple):
    """Links with the same label at one end, and the same relation."""

    label: Ints  # (groups,)
    relation: Ints  # (groups,)
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
    return _Groups(kinds // n, kinds % n, others)


def messages_by_folds(
    links: Links, values: Floats, fold: Ints, others: Floats
) -> Floats:
    """Say what linked labels tell about a column; no label tells those of its fold.

    Parameters
    ----------
    links : Links
        Links between the rows.
    values : array of shape (labels,)
        The column; NaN where it is unknown.
    fold : array of int of shape (labels,)
        The fold of each label; -1 for labels in none.
    others : array of shape (labels, columns)
        Other columns, NaN where they are unknown. Those that say nothing about the
        column do no harm.

    Returns
    -------
    array of shape (labels, 8)
        Four messages, each with its precision: all that follow, and what other columns
        of linked labels and of the label say, together; linked labels with known
        values; all linked labels, with the first message where they are unknown; labels
        with shared links. NaN where nothing is said, with precision 0.
    """
    known = np.isfinite(values)
    found = message_features(links, values, known, others)
    for k in np.unique(fold[known]):
        is_hidden = known & (fold == k)
        left = message_features(links, values, known & ~is_hidden, others)
        found[is_hidden] = left[is_hidden]
    return found


def message_features(
    links: Links, values: Floats, known: Flags, others: Floats
) -> Floats:
    """Say the same of all labels, from all values.

    Parameters
    ----------
    links : Links
        Links between the rows.
    values : array of shape (labels,)
        The column. Only its known cells are read.
    known : array of bool of shape (labels,)
        Where it is known.
    others : array of shape (labels, columns)
        Other columns, NaN where they are unknown.

    Returns
    -------
    array of shape (labels, 8)
        What `messages_by_folds` returns.
    """
    n = len(values)
    column = np.where(known, values, np.nan)
    said = _messages(links, column, others)
    hidden = np.random.default_rng(0).random(n) < HIDDEN
    tried = _messages(links, np.where(hidden, np.nan, column), others)
    for message, trial in zip(said, tried, strict=True):
        message[:, 1] *= _worth(trial[hidden], column[hidden])
    label = np.tile(np.arange(n), len(said) - 1)
    value, precision = np.vstack([said[1], *said[2:]]).T
    return np.hstack([_mean(value, precision, label, n), *said[:3]])


def _messages(links: Links, column: Floats, others: Floats) -> list[Floats]:
    """Two steps, shared links, and two messages of each other column."""
    n = len(column)
    linked = _grouped(links, n, "target")
    own = _Groups(np.arange(n), np.zeros(n, int), sp.csr_array(sp.eye_array(n)))
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
    label, relation, others = groups
    n = int(relation.max(initial=-1)) + 1
    size = others @ np.isfinite(source).astype(np.float64)
    mean = others @ np.nan_to_num(source) / np.where(size > 0, size, 1.0)
    is_pair = (size > 0) & np.isfinite(column[label])
    of, x, y = relation[is_pair], mean[is_pair], column[label[is_pair]]
    pairs, whole = np.bincount(of, minlength=n), _spread(column)

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(of, values, minlength=n), np.float64)

    slope = np.ones(n)
    if by_line:
        dx, dy = (v - (total(v) / np.maximum(pairs, 1))[of] for v in (x, y))
        slope = total(dx * dy) / (total(dx**2) + PRIOR * _spread(source) ** 2)
    rest = y - slope[of] * x
    shift = total(rest) / (pairs + PRIOR)
    error = np.abs(rest - shift[of])
    typical = NORMAL * total(error) / np.maximum(pairs, 1) + FLOOR * whole
    squares = total(np.minimum(error, FAR * typical[of]) ** 2) + PRIOR * whole**2
    variance = squares / (pairs + PRIOR) + FLOOR * whole**2
    speaks = (size > 0) & (pairs >= FEWEST)[relation]
    precision = np.where(speaks, 1 / variance[relation], 0.0)
    said = slope[relation] * mean + shift[relation]
    return _mean(said, precision, label, len(column))


def _shared(groups: _Groups, column: Floats) -> Floats:
    """Ridge regression of a column on what labels are linked to, and how."""
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import normalize

    rows = np.flatnonzero(np.isfinite(column))
    if not len(rows):
        return np.column_stack([column, np.zeros(len(column))])
    middle, whole = np.median(column[rows]), _spread(column)
    wanted = np.clip((column[rows] - middle) / whole, -CLIPPED, CLIPPED)
    links = normalize(sp.csr_matrix(groups.others.T))
    ridge = Ridge(NOISE, solver="sparse_cg", max_iter=STEPS, tol=1e-3)
    ridge.set_params(fit_intercept=False).fit(links[rows], wanted)
    is_said = np.diff(links.indptr) > 0
    said = np.where(is_said, middle + whole * ridge.predict(links), np.nan)
    return np.column_stack([said, is_said / whole**2])


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


def structure(links: Links, n_labels: int) -> Floats:
    """Describe each label's place in the graph by numbers, for a reader.

    Parameters
    ----------
    links : Links
        Links between the rows.
    n_labels : int
        How many labels there are.

    Returns
    -------
    array of shape (labels, at most 100)
        Counts by relation (40) and by linked label (60), or their leading directions
        where there are more of either.
    """
    from sklearn.decomposition import TruncatedSVD

    found = []
    for ends, n_ends, most in (
        (links.relation, links.n_relations, MOST_BY_RELATION),
        (links.source, n_labels, MOST_BY_LABEL),
    ):
        places = links.weights, (links.target, ends)
        counts = sp.csr_matrix(places, shape=(n_labels, n_ends)).log1p()
        most = min(most, max(n_labels // LABELS_A_DIRECTION, FEWEST_DIRECTIONS))
        if n_ends <= most:
            found.append(counts.toarray())
        else:
            svd = TruncatedSVD(most, random_state=0)
            found.append(svd.fit_transform(counts))
    return np.hstack(found)


def links_between(contexts: Iterable[Context], labels: Sequence[str]) -> Links | None:
    """Collect the links of all contexts that link labels to labels.

    Parameters
    ----------
    contexts : iterable of Context
        The contexts of a fit. Graphs, triples and co-occurrence of labels have links;
        hierarchies, words and tables have none.
    labels : sequence of str
        The labels whose rows are meant. Links to others are left out.

    Returns
    -------
    Links or None
        The links, if there are any. A relation of one context is not that of another.
    """
    index = index_of(labels)
    found: list[tuple[Ints, Ints, Ints, Floats]] = []
    n_relations = 0
    # A graph that is both counted and a family is there twice, under one name.
    given = {getattr(x, "given_name", x.name): x.links for x in contexts}
    for links in given.values():
        if links is None:
            continue
        heads, tails = positions_of(links.names, index)[links.ends[:2]]
        kept = (heads >= 0) & (tails >= 0) & (heads != tails) & (links.weight > 0)
        head, tail, weight = heads[kept], tails[kept], links.weight[kept]
        relation = n_relations + 2 * links.ends[2][kept]
        found += [(head, tail, relation, weight), (tail, head, relation + 1, weight)]
        n_relations = int(relation.max(initial=n_relations - 2)) + 2
    if not n_relations:
        return None
    source, target, relation, weight = map(np.concatenate, zip(*found, strict=True))
    return Links(source, target, np.unique(relation, return_inverse=True)[1], weight)
