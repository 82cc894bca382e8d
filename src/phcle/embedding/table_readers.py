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

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.embedding.predictions import READ, Predictions
from phcle.embedding.readers import (
    TREES,
    Asked,
    Forested,
    Predicted,
    boosting,
    crossfitted,
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

FIRST_TREES, FIRST_LEAF = 20, 5
"""Trees of each fold in the first round, which fills the gaps of other columns."""

FEWEST = 8
"""A field with fewer known cells is not read; the embedding and the family speak."""

FULL_UP_TO, BOOSTED_UP_TO, FEW_TREES = 100_000, 1_000_000, 40
"""Known cells of a table up to which the whole team is asked, and up to which boosting
is asked beside fewer trees."""

MOST_SUPPORTED = 3_000
"""Most labels that support vectors learn from."""

MOST_VALUES = 12
"""Most values of a category that boosting and support vectors read."""

INTERVAL = 0.8
"""Share of the truths that an interval should hold."""

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

MOST_MIXED = 200_000
"""Most cells by which the weights of a table are learned."""


@dataclass(eq=False)
class _Answers:
    """What each reader says of one field and regime, and their weighted mean."""

    field: Field
    regime: Regime
    rows: Ints
    gap_rows: Ints
    truth: Floats
    predicted: dict[str, Predicted]
    forest: Forested | None

    @property
    def team(self) -> tuple[str, ...]:
        return tuple(self.predicted)

    def mix(self, weights: Floats) -> None:
        """Take the weighted mean."""
        self.weights = weights
        predicted = self.predicted.values()
        self.held: Floats = np.tensordot(weights, [x.held for x in predicted], 1)
        self.gaps: Floats = np.tensordot(weights, [x.gaps for x in predicted], 1)

    @property
    def parts(self) -> list[tuple[Ints, Floats]]:
        """Rows and what is said: known cells are predicted as if they were unknown."""
        found = [(self.gap_rows, self.gaps)]
        return [*found, (self.rows, self.held)] if self.regime == "cells" else found


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
        field = fields[number]
        rows, gaps = view.known_rows(field), view.gap_rows(field, regime)
        predicted, forest = view.plain(field, regime), None
        if len(rows) >= FEWEST:
            own_seed = seed + 1_000 * (1 + REGIMES.index(regime)) + number
            asked = view.asked(field, regime, own_seed)
            grow = partial(
                grow_forest,
                leaf=LEAVES[regime],
                n_trees=TREES if is_full else FEW_TREES,
            )
            forest = grow(asked)
            read: dict[str, Predicted] = {"forest": forest}
            if effort == "full":
                read |= _team(asked, regime, n_known, own)
            heard = view.heard(field, regime)
            if heard is not None:
                read["messages"] = heard
                read["beside messages"] = _beside(asked, heard, grow)
            predicted = read | predicted
        return _Answers(field, regime, rows, gaps, view.truth(field), predicted, forest)

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
    said = {}
    for fold in range(view.held.n_folds):
        asked, rows = view.asked_without(field, fold, seed)
        if len(asked.fold) >= FEWEST and len(rows):
            forest = grow_forest(asked, leaf=FIRST_LEAF, n_trees=FIRST_TREES)
            said[fold] = rows, forest.gaps
    view.refill(field, said)


def _team(
    asked: Asked, regime: Regime, n_known: int, own: Mapping[str, Any]
) -> dict[str, Predicted]:
    """What the readers of a field say, beside the forest."""
    from sklearn.base import is_classifier

    found: dict[str, Predicted] = {}
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


def _beside(
    asked: Asked, heard: Predicted, grow: Callable[[Asked], Predicted]
) -> Predicted:
    """What a second forest says: messages, and what they lack."""
    rest = asked.target - heard.held
    reach = FARTHEST_REST * float(rest.std())
    found = grow(replace(asked, target=np.clip(rest, -reach, reach)))
    return Predicted(found.held + heard.held, found.gaps + heard.gaps)


def _found(view: TableView, answers: Sequence[_Answers]) -> Predictions:
    """What the file stores of all answers."""
    table = view.table
    known = view.known[:, [field.at.start for field in table.fields]]
    found = Predictions.nothing(table, known, view.held)
    names = tuple(dict.fromkeys(name for x in answers for name in x.predicted))
    weights = np.zeros((2, len(table.fields), len(names)), np.float32)
    for regime in REGIMES:
        own = [x for x in answers if x.regime == regime]
        numbers = [x for x in own if x.field.kind == "number"]
        classes = [x for x in own if x.field.kind != "number"]
        _mix(numbers)
        _mix(classes)
        _put_numbers(view, found, numbers)
        _put_shares(found, classes)
        for each in own:
            number = table.fields.index(each.field)
            at = [names.index(name) for name in each.team]
            weights[REGIMES.index(regime), number, at] = each.weights
            if each.forest is not None:
                found.because[each.gap_rows, number] = each.rows[each.forest.because]
                share = each.forest.because_share
                found.because_share[each.gap_rows, number] = share
    fill_shares(view, found)
    return replace(found, readers=names, weights=weights)


def _mix(answers: Sequence[_Answers]) -> None:
    """Weigh the readers of each field, pulled to the weights of the whole table."""
    overall: dict[tuple[str, ...], Floats] = {}
    for team in dict.fromkeys(x.team for x in answers if len(x.rows)):
        same = [x for x in answers if x.team == team and len(x.rows)]
        truth = np.concatenate([x.truth.ravel() for x in same])
        step = max(len(truth) // MOST_MIXED, 1)
        said = [
            np.concatenate([x.predicted[y].held.ravel() for x in same]) for y in team
        ]
        said = [each[::step] for each in said]
        is_robust = "messages" in team
        overall[team] = mixing_weights(said, truth[::step], is_robust=is_robust)
    for each in answers:
        n = len(each.team)
        weights = overall.get(each.team, np.full(n, 1 / n))
        if len(each.rows):
            said = [x.held.ravel() for x in each.predicted.values()]
            weights = mixing_weights(
                said, each.truth.ravel(), weights, is_robust="messages" in each.team
            )
        each.mix(weights)


def _put_numbers(
    view: TableView, found: Predictions, answers: Sequence[_Answers]
) -> None:
    """Numbers with intervals: conformal ones, scaled by the spread in the leaves."""
    units = [_units(each) for each in answers]
    errors = [
        (x.truth - x.held)[:, 0] / held
        for x, (_, held) in zip(answers, units, strict=True)
    ]
    every = np.concatenate([np.zeros(0), *errors])
    for each, own, error in zip(answers, units, errors, strict=True):
        low, high = _ends(error, every)
        number = view.table.fields.index(each.field)
        for (rows, said), unit in zip(each.parts, own, strict=False):
            ends = said[:, 0] + np.array([[0.0], [low], [high]]) * unit
            steps = view.as_steps(each.field, _in_range(view, each.field, ends))
            for name, values in zip(READ, steps, strict=True):
                getattr(found, name)[rows, number] = values


def _units(each: _Answers) -> tuple[Floats, Floats]:
    """How far off each prediction may be, up to a factor: of gaps and known cells."""
    if each.forest is None:
        return np.ones(len(each.gap_rows)), np.ones(len(each.rows))
    held, gaps = each.forest.held_spread, each.forest.gap_spread
    usual = SPREAD * float(np.mean(held)) + 1e-6
    return gaps + usual, held + usual


def _ends(error: Floats, every: Floats) -> tuple[float, float]:
    """Quantiles of errors between which `INTERVAL` of them lie.

    Those of all columns count as much as `OWN_UNITS` of the column's own.
    """
    n = len(error)
    if not n:  # nothing is known of the column, so nobody can say how far off it is
        return np.nan, np.nan
    levels = np.array([(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    # Of n errors and one more, the next one is any of them.
    own_levels = np.clip(0.5 + (levels - 0.5) * (1 + 1 / n), 0, 1)
    share = n / (n + OWN_UNITS)
    own, usual = np.quantile(error, own_levels), np.quantile(every, levels)
    low, high = share * own + (1 - share) * usual
    return min(low, 0.0), max(high, 0.0)


def _in_range(view: TableView, field: Field, standard: Floats) -> Floats:
    """No number leaves the range that its column cannot leave, or goes far beyond.

    Numbers of which none is negative stay so, and shares and percentages that reach
    their largest value do not exceed it.
    """
    at = field.at.start
    known, scaled = (
        values[~np.isnan(values)]
        for values in (view.table.matrix.column(at), view.table.fit_matrix.column(at))
    )
    if not len(known):
        return standard
    beyond = BEYOND * np.ptp(scaled)
    low, high = scaled.min() - beyond, scaled.max() + beyond
    if known.min() >= 0:
        shift = view.table.log_shift[at]
        low = max(low, 0.0 if np.isnan(shift) else np.log(max(shift, 1e-300)))
        if any(0.99 * most <= known.max() <= most for most in (1.0, 100.0)):
            high = scaled.max()
    ends = (np.array([low, high]) - view.centre[at]) / view.spread[at]
    return np.asarray(np.clip(standard, *ends))


def _put_shares(found: Predictions, answers: Sequence[_Answers]) -> None:
    """Probabilities: what the readers say, more or less sure as known cells tell."""
    losses = [_losses(x.held, x.truth) for x in answers]
    n_cells = sum(len(x.held) for x in answers)
    usual = sum(losses, np.zeros(len(POWERS))) / max(n_cells, 1)
    for each, own in zip(answers, losses, strict=True):
        power = POWERS[int(np.argmin(own + OWN_UNITS * usual))]
        at = each.field.at
        for rows, said in each.parts:
            found.shares[rows, at] = _sharpened(said, power)[:, at.start - at.stop :]


def _sharpened(said: AnyFloats, power: float) -> Floats:
    """Shares of all classes, of a truth value as well, to a power; they sum to one."""
    shares = said if said.shape[1] > 1 else np.hstack([1 - said, said])
    least = min(FLOOR, 0.05 / shares.shape[1])
    found = np.clip(shares, least, 1.0) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _losses(said: Floats, truth: Floats) -> Floats:
    """How unlikely the truth is under each power: minus its log probabilities."""
    is_true = truth if truth.shape[1] > 1 else np.hstack([1 - truth, truth])
    likely = [(_sharpened(said, power) * is_true).sum(axis=1) for power in POWERS]
    return np.array([-np.log(chance).sum() for chance in likely])
