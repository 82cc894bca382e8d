"""Predict every gap of one table by a team of readers, and say how sure it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from phcle.arrays import AnyFloats, Floats
from phcle.contexts.encoders import Field
from phcle.embedding.predictions import Predictions, all_classes
from phcle.embedding.readers import (
    WHOLE,
    Asked,
    Forest,
    boosting,
    crossfitted,
    extra_trees,
    grow_forest,
    mixing_weights,
    support_vectors,
)
from phcle.embedding.shares import fill_shares
from phcle.embedding.table_view import Regime, TableView

Effort = Literal["full", "fast"]
OnField = Callable[[str, int, int], None]
REGIMES: tuple[Regime, Regime] = ("cells", "labels")

LEAVES = {"cells": 3, "labels": 5}
"""Fewest known cells in a leaf: of labels without any known cell less can be said."""

TREES, FEW_TREES = 40, 10
"""Trees of a field for each fold, and those of large tables."""

FIRST_TREES, FIRST_LEAF = 20, 5
"""Trees of each fold in the first round, which fills the gaps of other columns."""

FEWEST = 8
"""A field with fewer known cells is not read; the embedding and the family speak."""

FULL_UP_TO, BOOSTED_UP_TO = 100_000, 1_000_000
"""Known cells of a table up to which the whole team is asked, and up to which boosting
is asked beside fewer trees."""

MOST_SUPPORTED = 3_000
"""Most labels that support vectors learn from."""

MOST_VALUES = 12
"""Most values of a category that boosting and support vectors read."""

LEVELS = 0.1, 0.9
"""Quantiles of errors at the ends of an interval, which holds 80 % of the truths."""

SPREAD = 0.5
"""Share of the usual spread of leaves in each one's: leaves of a few cells may hold
equal values by chance."""

BEYOND = 0.1
"""Share of the range of a column's known numbers by which others may exceed it."""

OWN_UNITS = 40
"""Known cells of a field that count as much as all others in how sure it is."""

FLOOR = 0.003
"""Least probability of a value of a category, before there are many of them."""

POWERS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.5)
"""What makes probabilities less or more sure; hidden cells choose."""

FARTHEST_REST = 4.0
"""What messages lack is learned up to so many deviations."""


@dataclass(eq=False)
class _Answers:
    """What each reader says of one field and regime, and their weighted mean.

    Of all arrays, known cells come first, and then gaps.
    """

    field: Field
    number: int
    regime: Regime
    asked: Asked
    predicted: dict[str, AnyFloats]
    forest: Forest | None

    def __post_init__(self) -> None:
        self.rows, self.truth = self.asked.rows, self.asked.target
        self.kind = self.regime, self.asked.is_class
        # Known cells of labels with others are predicted as if they were unknown.
        self.first = 0 if self.regime == "cells" else len(self.truth)
        self.kept = self.rows[self.first :]
        self.units = np.ones(len(self.rows))
        """How far off each prediction may be, up to a factor."""
        if self.forest is not None:
            spread = self.forest.spread
            self.units = spread + SPREAD * spread[: len(self.truth)].mean() + 1e-6
        self.unit = self.units[: len(self.truth)]

    @property
    def held(self) -> list[AnyFloats]:
        """What each reader says of known cells, one below the other."""
        return [x[: len(self.truth)].ravel() for x in self.predicted.values()]

    def mix(self, weights: Floats) -> None:
        """Take the weighted mean."""
        self.weights = weights
        self.said: Floats = np.tensordot(weights, list(self.predicted.values()), 1)


def predict_table(
    view: TableView,
    *,
    effort: Effort,
    own: Mapping[str, Any],
    seed: int,
    on_field: OnField = lambda title, done, total: None,
) -> Predictions:
    """Predict all gaps of a table, and its known cells out of fold.

    Parameters
    ----------
    view : TableView
        The table.
    effort : {"full", "fast"}
        Whether the whole team is asked, or forests alone.
    own : mapping from str to estimator
        The user's own readers.
    seed : int
        Seed of whatever is drawn.
    on_field : callable, optional
        Called with the title of a field that was read, the number of such fields, and
        of all.

    Returns
    -------
    Predictions
        What is predicted.
    """
    fields = view.table.fields
    n_known = int(view.known.sum())
    is_full = effort == "full" and n_known <= FULL_UP_TO
    has_rounds = is_full and len(fields) > 1
    regimes = REGIMES[:1] if view.is_described.all() else REGIMES
    total, done = len(fields) * (len(regimes) + has_rounds), 0

    def counted(found: Iterable[Any]) -> Iterator[Any]:
        nonlocal done
        for field, each in zip(fields, found, strict=True):
            done += 1
            on_field(field.title, done, total)
            yield each

    def fill(number: int) -> None:
        _fill_first(view, fields[number], seed + number)

    def ask(regime: Regime, number: int) -> _Answers:
        own_seed = seed + 1_000 * (1 + REGIMES.index(regime)) + number
        asked = view.asked(fields[number], regime, own_seed)
        predicted, forest = dict(asked.plain), None
        if len(asked.target) >= FEWEST:
            n_trees = TREES if is_full else FEW_TREES
            grow = partial(grow_forest, leaf=LEAVES[regime], n_trees=n_trees)
            forest = grow(asked)
            predicted["forest"] = forest.said
            if effort == "full":
                predicted |= _team(asked, regime, n_known, own)
            if "messages" in predicted:
                predicted["beside messages"] = _beside(asked, grow)
        return _Answers(fields[number], number, regime, asked, predicted, forest)

    view.prepare()
    import sklearn.ensemble  # noqa: F401  # loads OpenMP, before it is limited

    # OpenMP counts threads for each thread that asks, so every worker sets its own.
    one_thread = partial(threadpool_limits, 1, "openmp")
    workers = ThreadPoolExecutor(_n_workers(), initializer=one_thread)
    with workers as pool, threadpool_limits(1):
        numbers = range(len(fields))
        if has_rounds:
            for _ in counted(pool.map(fill, numbers)):
                pass
        answers = [
            answer
            for regime in regimes
            for answer in counted(pool.map(partial(ask, regime), numbers))
        ]
        return _found(view, answers)


def _n_workers() -> int:
    """Threads that read fields: one for each core, as the user allows."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    cores = int(cpu_count())
    return min(int(allowed), cores) if allowed.isdigit() and int(allowed) else cores


def _fill_first(view: TableView, field: Field, seed: int) -> None:
    """Fill the gaps of a field for the other columns, once blind to every fold."""
    for fold in (*range(view.held.n_folds), WHOLE):
        asked = view.as_if_hidden(field, fold, seed)
        n = len(asked.target)
        if FEWEST <= n < len(asked.rows):
            trees = extra_trees(seed, FIRST_LEAF, FIRST_TREES)
            trees.fit(asked.features[:n], np.squeeze(asked.target))
            said = trees.predict(asked.features[n:]).reshape(-1, asked.target.shape[1])
            view.fills[fold, asked.rows[n:], field.at] = said


def _team(
    asked: Asked, regime: Regime, n_known: int, own: Mapping[str, Any]
) -> dict[str, AnyFloats]:
    """What the readers of a field say, beside the forest."""
    from sklearn.base import is_classifier

    found: dict[str, AnyFloats] = {}
    if regime == "cells" and asked.target.shape[1] <= MOST_VALUES:
        if n_known <= BOOSTED_UP_TO:
            found["boosting"] = crossfitted(boosting(asked), asked)
        if n_known <= FULL_UP_TO:
            supported = crossfitted(support_vectors(), asked, MOST_SUPPORTED)
            found["support vectors"] = supported
    for name, estimator in own.items():
        if asked.is_class or not is_classifier(estimator):
            found[name] = crossfitted(estimator, asked)
    return found


def _beside(asked: Asked, grow: Callable[[Asked], Forest]) -> Floats:
    """Messages, and what a second forest says that they lack."""
    heard = asked.plain["messages"]
    rest = asked.target - heard[: len(asked.target)]
    reach = FARTHEST_REST * float(rest.std())
    return heard + grow(replace(asked, target=np.clip(rest, -reach, reach))).said


def _found(view: TableView, answers: Sequence[_Answers]) -> Predictions:
    """What the file stores of all answers."""
    table = view.table
    known = view.known[:, [field.at.start for field in table.fields]]
    names = list(dict.fromkeys(name for x in answers for name in x.predicted))
    found = Predictions.nothing(table, known, view.held, names)
    for kind in dict.fromkeys(x.kind for x in answers):
        own = [x for x in answers if x.kind == kind]
        _mix(own)
        put = _put_shares if own[0].asked.is_class else _put_numbers
        put(view, found, own)
    for each in answers:
        number, at = each.number, [names.index(name) for name in each.predicted]
        found.weights[REGIMES.index(each.regime), number, at] = each.weights
        if each.forest is not None:
            gaps, forest = each.rows[len(each.truth) :], each.forest
            found.because[gaps, number] = each.rows[forest.because]
            found.because_share[gaps, number] = forest.because_share
    fill_shares(view, found)
    return found


def _mix(answers: Sequence[_Answers]) -> None:
    """Weigh the readers of each field, pulled to the weights of the whole table."""
    for team in dict.fromkeys(tuple(x.predicted) for x in answers):
        same = [x for x in answers if tuple(x.predicted) == team]
        truth = np.concatenate([x.truth.ravel() for x in same])
        said = [np.concatenate(x) for x in zip(*(y.held for y in same), strict=True)]
        weigh = partial(mixing_weights, is_robust="messages" in team)
        overall = weigh(said, truth)
        for each in same:
            each.mix(weigh(each.held, each.truth.ravel(), overall))


def _put_numbers(
    view: TableView, found: Predictions, answers: Sequence[_Answers]
) -> None:
    """Numbers with intervals: conformal ones, scaled by the spread of the trees.

    Errors of all columns count as much as `OWN_UNITS` of the column's own.
    """
    errors = [(x.truth - x.said[: len(x.truth)])[:, 0] / x.unit for x in answers]
    every = np.concatenate(errors)
    for each, own in zip(answers, errors, strict=True):
        low = high = np.nan
        if len(own):  # else nobody can say how far off it is
            both = np.concatenate([own, every])
            counts = np.repeat([1.0, OWN_UNITS / len(every)], [len(own), len(every)])
            how: Any = {"weights": counts, "method": "inverted_cdf"}
            low, high = np.quantile(both, LEVELS, **how)
        ends = np.array([[0.0], [min(low, 0.0)], [max(high, 0.0)]])
        said = _in_range(view, each.field, each.said[:, 0] + ends * each.units)
        steps = view.as_steps(each.field, said)
        found.numbers[each.kept, each.number] = steps[:, each.first :].T


def _in_range(view: TableView, field: Field, standard: Floats) -> Floats:
    """No number leaves the range that its column cannot leave, or goes far beyond.

    Numbers of which none is negative stay so, and shares and percentages that reach
    their largest value do not exceed it.
    """
    table, at = view.table, field.at.start
    known, scaled = (
        values[~np.isnan(values)]
        for values in (table.matrix.column(at), table.fit_matrix.column(at))
    )
    if not len(known):
        return standard
    beyond = BEYOND * np.ptp(scaled)
    ends = np.array([scaled.min() - beyond, scaled.max() + beyond])
    if known.min() >= 0:
        zero = table.on_fit_scale(np.zeros((1, len(table.columns))))[0, at]
        ends[0] = max(ends[0], zero)
        if any(0.99 * most <= known.max() <= most for most in (1.0, 100.0)):
            ends[1] = scaled.max()
    return np.asarray(np.clip(standard, *(ends - view.centre[at]) / view.spread[at]))


def _put_shares(
    view: TableView, found: Predictions, answers: Sequence[_Answers]
) -> None:
    """Probabilities: what the readers say, more or less sure as known cells tell."""
    losses = np.array(
        [
            [_loss(x.said[: len(x.truth)], x.truth, power) for power in POWERS]
            for x in answers
        ]
    )
    usual = losses.sum(axis=0) / max(sum(len(x.truth) for x in answers), 1)
    for each, own in zip(answers, losses, strict=True):
        power = POWERS[int(np.argmin(own + OWN_UNITS * usual))]
        said = _sharpened(each.said[each.first :], power)
        found.shares[each.kept, each.field.at] = said[:, -each.said.shape[1] :]


def _sharpened(said: Floats, power: float) -> Floats:
    """Shares of all classes, of a truth value as well, to a power; they sum to one."""
    shares = all_classes(said)
    found = np.clip(shares, min(FLOOR, 0.05 / shares.shape[1]), 1.0) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _loss(said: Floats, truth: Floats, power: float) -> float:
    """How unlikely the truth is: minus its log probability."""
    chance = (_sharpened(said, power) * all_classes(truth)).sum(axis=1)
    return float(-np.log(chance).sum())
