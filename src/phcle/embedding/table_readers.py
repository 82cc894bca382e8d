"""Predict every gap of one table by a team of readers, and say how sure it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from phcle.arrays import AnyFloats, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.embedding.predictions import Predictions
from phcle.embedding.readers import (
    TREES,
    Asked,
    Forested,
    Told,
    grow_forest,
    make_team,
    mixing_weights,
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


@dataclass(frozen=True, eq=False)
class _Answers:
    """What each reader says of one field and regime."""

    field: Field
    regime: Regime
    rows: Ints
    gaps: Ints
    truth: Floats
    told: dict[str, Told]
    forest: Forested | None

    @property
    def is_class(self) -> bool:
        return self.field.kind != "number"


@dataclass(frozen=True, eq=False)
class _Mixed:
    """The weighted mean of the readers of one field and regime."""

    answers: _Answers
    weights: dict[str, float]
    held: Floats
    gaps: Floats


@dataclass(frozen=True, eq=False)
class HeldField:
    """How one field was predicted out of fold, in the units of the readers.

    Attributes
    ----------
    field : Field
        The field.
    regime : {"cells", "labels"}
        Of labels with other known cells, or as if the label had none.
    rows : array of int
        Labels with a known cell.
    truth, said, family : arrays of shape (known, columns)
        What is known, what was predicted, and what the family says.
    """

    field: Field
    regime: Regime
    rows: Ints
    truth: Floats
    said: Floats
    family: Floats


def predict_table(
    view: TableView,
    *,
    effort: Effort,
    own: Mapping[str, Any],
    seed: int,
    on_field: OnField = lambda title, done, total: None,
) -> tuple[Predictions, list[HeldField]]:
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
    predictions : Predictions
        What is predicted.
    held : list of HeldField
        How known cells were predicted.
    """
    table, held = view.table, view.held
    n_known = int(view.known.sum())
    is_full = effort == "full" and n_known <= FULL_UP_TO
    is_boosted = effort == "full" and n_known <= BOOSTED_UP_TO
    n_trees = TREES if n_known <= FULL_UP_TO and effort == "full" else FEW_TREES
    is_read = [len(view.known_rows(field)) >= FEWEST for field in table.fields]
    has_rounds = is_full and len(table.fields) > 1
    has_labels = bool((~view.is_described).any())
    regimes = REGIMES if has_labels or effort == "full" else REGIMES[:1]
    n_fields = len(table.fields)
    total, done = n_fields * (len(regimes) + has_rounds), 0

    def counted(found: Iterable[Any]) -> Iterator[Any]:
        nonlocal done
        for field, each in zip(table.fields, found, strict=True):
            done += 1
            on_field(field.title, done, total)
            yield each

    def fill(number: int) -> None:
        if is_read[number]:
            _fill_first(view, table.fields[number], seed + number)

    def ask(regime: Regime, number: int) -> _Answers:
        field = table.fields[number]
        team_seed = seed + 1_000 * (1 + REGIMES.index(regime)) + number
        if not is_read[number]:
            return _ask(view, field, regime, None, n_trees, {})
        asked = view.asked(field, regime, team_seed)
        is_cells = regime == "cells"
        team = make_team(
            asked,
            is_boosted=is_boosted and is_cells,
            is_supported=is_full and is_cells,
            own=own if effort == "full" else {},
        )
        return _ask(view, field, regime, asked, n_trees, team)

    view.prepare()
    import sklearn.ensemble  # noqa: F401  # loads OpenMP, before it is limited

    # OpenMP counts threads for each thread that asks, so every worker sets its own.
    one_thread = partial(threadpool_limits, 1, "openmp")
    workers = ThreadPoolExecutor(_n_workers(), initializer=one_thread)
    with workers as pool, threadpool_limits(1):
        numbers = range(n_fields)
        if has_rounds:
            for _ in counted(pool.map(fill, numbers)):
                pass
            view.end_first_round()
        answers = [
            answer
            for regime in regimes
            for answer in counted(pool.map(lambda n, r=regime: ask(r, n), numbers))
        ]
    known = view.known[:, [field.at.start for field in table.fields]]
    found = Predictions.nothing(table, known, held)
    names = tuple(dict.fromkeys(name for x in answers for name in x.told))
    weights = np.zeros((2, n_fields, len(names)), np.float32)
    scored: list[HeldField] = []
    for regime in regimes:
        for is_class in (False, True):
            own_answers = [
                x for x in answers if x.regime == regime and x.is_class == is_class
            ]
            mixed = _mix(own_answers)
            if is_class:
                _put_shares(view, found, mixed)
            else:
                _put_numbers(view, found, mixed)
            for each in mixed:
                number = table.fields.index(each.answers.field)
                for name, weight in each.weights.items():
                    at = REGIMES.index(regime), number, names.index(name)
                    weights[at] = weight
                _put_reasons(found, each.answers, number)
                scored.append(_held(view, each))
    fill_shares(view, found)
    return replace(found, readers=names, weights=weights), scored


def _n_workers() -> int:
    """Threads that read fields: one for each core, as the user allows."""
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    cores = cores or os.cpu_count() or 1
    return min(int(allowed), cores) if allowed.isdigit() and int(allowed) else cores


def _fill_first(view: TableView, field: Field, seed: int) -> None:
    """Fill the gaps of a field for the other columns, once blind to every fold."""
    gaps = []
    for fold in range(view.held.n_folds):
        asked, rows = view.asked_without(field, fold, seed)
        if len(asked.fold) >= FEWEST and len(asked.gaps):
            said = grow_forest(asked, leaf=FIRST_LEAF, n_trees=FIRST_TREES).gaps
            view.refill(field, fold, rows, said[: len(rows)])
            gaps.append(said[len(rows) :])
    if gaps:
        view.refill_gaps(field, np.mean(gaps, axis=0))


def _ask(
    view: TableView,
    field: Field,
    regime: Regime,
    asked: Asked | None,
    n_trees: int,
    team: Mapping[str, Callable[[Asked], Told]],
) -> _Answers:
    """Ask the forest, the team, the embedding and the family."""
    told: dict[str, Told] = {}
    forest = None
    if asked is not None:
        forest = grow_forest(asked, leaf=LEAVES[regime], n_trees=n_trees)
        told["forest"] = forest
        told |= {name: reader(asked) for name, reader in team.items()}
        heard = view.heard(field, regime)
        if heard is not None:
            told["messages"] = heard
            told["beside messages"] = _beside(asked, heard, n_trees, LEAVES[regime])
    told["embedding"] = Told(*view.factor(field, regime))
    if view.groups.steps:
        told["family"] = Told(*view.families(field, regime))
    told["mean"] = _usual(view, field, regime)
    return _Answers(
        field,
        regime,
        view.held.rows[view.known_rows(field)],
        view.gap_rows(field, regime),
        view.truth(field),
        told,
        forest,
    )


def _usual(view: TableView, field: Field, regime: Regime) -> Told:
    """The mean: some columns are told by nothing, and the weights can say so."""
    truth, n_gaps = view.truth(field), len(view.gap_rows(field, regime))
    mean = truth.mean(axis=0) if len(truth) else np.zeros(truth.shape[1])
    return Told(np.tile(mean, (len(truth), 1)), np.tile(mean, (n_gaps, 1)))


def _beside(asked: Asked, heard: Told, n_trees: int, leaf: int) -> Told:
    """What a second forest says: messages, and what they lack."""
    rest = asked.target - heard.held
    reach = FARTHEST_REST * float(rest.std())
    lacking = replace(asked, target=np.clip(rest, -reach, reach))
    found = grow_forest(lacking, leaf=leaf, n_trees=n_trees)
    return Told(found.held + heard.held, found.gaps + heard.gaps)


def _mix(answers: Sequence[_Answers]) -> list[_Mixed]:
    """Weigh the readers of each field, pulled to the weights of the whole table."""
    common = [x for x in answers if len(x.rows)]
    overall: dict[str, float] = {}
    for names in dict.fromkeys(tuple(x.told) for x in common):
        same = [x for x in common if tuple(x.told) == names]
        truth = np.concatenate([x.truth.ravel() for x in same])
        step = max(len(truth) // MOST_MIXED, 1)
        said = [
            np.concatenate([x.told[name].held.ravel() for x in same])[::step]
            for name in names
        ]
        found = mixing_weights(said, truth[::step], is_robust="messages" in names)
        team = ",".join(names)
        overall |= {team + x: w for x, w in zip(names, found, strict=True)}
    result = []
    for each in answers:
        names = tuple(each.told)
        pull = np.array(
            [overall.get(",".join(names) + x, 1 / len(names)) for x in names]
        )
        weights = pull
        if len(each.rows):
            said = [each.told[name].held.ravel() for name in names]
            is_robust = "messages" in names
            weights = mixing_weights(
                said, each.truth.ravel(), pull, is_robust=is_robust
            )
        pairs = list(zip(weights, each.told.values(), strict=True))
        held = sum((w * x.held for w, x in pairs), np.zeros_like(each.truth))
        shape = (len(each.gaps), each.truth.shape[1])
        gaps = sum((w * x.gaps for w, x in pairs), np.zeros(shape))
        named = dict(zip(names, map(float, weights), strict=True))
        result.append(_Mixed(each, named, held, gaps))
    return result


def _held(view: TableView, mixed: _Mixed) -> HeldField:
    each = mixed.answers
    family = view.nearest_family[view.known_rows(each.field)][:, each.field.at]
    return HeldField(each.field, each.regime, each.rows, each.truth, mixed.held, family)


def _put_reasons(found: Predictions, each: _Answers, number: int) -> None:
    """Name the labels that share most leaves with a gap."""
    if each.forest is None or not len(each.gaps) or not each.forest.because.size:
        return
    found.because[each.gaps, number] = each.rows[each.forest.because]
    found.because_share[each.gaps, number] = each.forest.because_share


def _put_numbers(view: TableView, found: Predictions, mixed: list[_Mixed]) -> None:
    """Numbers with intervals: conformal ones, scaled by the spread in the leaves."""
    units = [_units(each) for each in mixed]
    every = np.concatenate(
        [
            np.zeros(0),
            *(
                (x.answers.truth - x.held)[:, 0] / u[0]
                for x, u in zip(mixed, units, strict=True)
            ),
        ]
    )
    for each, (held_unit, gap_unit) in zip(mixed, units, strict=True):
        answers, field = each.answers, each.answers.field
        number = view.table.fields.index(field)
        error = (answers.truth - each.held)[:, 0] / held_unit
        low, high = _ends(error, every)
        is_first = answers.regime == "cells"
        parts = [(answers.gaps, each.gaps[:, 0], gap_unit)]
        if is_first:  # known cells are told as if they alone were unknown
            parts.append((answers.rows, each.held[:, 0], held_unit))
        for rows, said, unit in parts:
            ends = np.stack([said, said + low * unit, said + high * unit])
            steps = view.as_steps(field, _in_range(view, field, ends))
            for name, own in zip(("step", "low", "high"), steps, strict=True):
                getattr(found, name)[rows, number] = own


def _units(mixed: _Mixed) -> tuple[Floats, Floats]:
    """How far off each prediction may be, up to a factor: of known cells and gaps."""
    forest, n_gaps = mixed.answers.forest, len(mixed.answers.gaps)
    if forest is None or not len(mixed.held):
        return np.ones(len(mixed.held)), np.ones(n_gaps)
    usual = SPREAD * float(np.mean(forest.held_spread)) + 1e-6
    return forest.held_spread + usual, forest.gap_spread + usual


def _ends(error: Floats, every: Floats) -> tuple[float, float]:
    """Quantiles of errors between which `INTERVAL` of them lie.

    Those of all columns count as much as `OWN_UNITS` of the column's own.
    """
    tail = (1 - INTERVAL) / 2
    n = len(error)
    if not n:  # nothing is known of the column, so nobody can say how far off it is
        return np.nan, np.nan
    share = n / (n + OWN_UNITS)
    found = []
    for level in (tail, 1 - tail):
        usual = float(np.quantile(every, level))
        # Of n errors and one more, the next one is any of them.
        own_level = np.clip(0.5 + (level - 0.5) * (1 + 1 / n), 0, 1)
        own = float(np.quantile(error, own_level))
        found.append(share * own + (1 - share) * usual)
    return min(found[0], 0.0), max(found[1], 0.0)


def _in_range(view: TableView, field: Field, standard: Floats) -> Floats:
    """No number leaves the range that its column cannot leave, or goes far beyond.

    Numbers of which none is negative stay so, and shares and percentages that reach
    their largest value do not exceed it.
    """
    at = field.at.start
    known = view.table.matrix.column(at)
    known = known[~np.isnan(known)]
    if not len(known):
        return standard
    scaled = view.table.fit_matrix.column(at)
    scaled = scaled[~np.isnan(scaled)]
    beyond = BEYOND * np.ptp(scaled)
    low, high = scaled.min() - beyond, scaled.max() + beyond
    if known.min() >= 0:
        shift = view.table.log_shift[at]
        low = max(low, 0.0 if np.isnan(shift) else np.log(max(shift, 1e-300)))
        if any(0.99 * most <= known.max() <= most for most in (1.0, 100.0)):
            high = scaled.max()
    ends = (np.array([low, high]) - view.centre[at]) / view.spread[at]
    return np.asarray(np.clip(standard, *ends))


def _put_shares(view: TableView, found: Predictions, mixed: list[_Mixed]) -> None:
    """Probabilities: what the readers say, more or less sure as known cells tell."""
    losses = [_losses(x.held, x.answers.truth) for x in mixed]
    total = sum(losses, np.zeros(len(POWERS)))
    n_cells = sum(len(x.held) for x in mixed)
    for each, own in zip(mixed, losses, strict=True):
        at, answers = each.answers.field.at, each.answers
        power = POWERS[int(np.argmin(own + OWN_UNITS * total / max(n_cells, 1)))]
        parts = [(answers.gaps, each.gaps)]
        if answers.regime == "cells":
            parts.append((answers.rows, each.held))
        for rows, said in parts:
            shares = _sharpened(_whole(said), power)
            width = at.stop - at.start
            found.shares[rows, at] = shares if width > 1 else shares[:, 1:]


def _whole(shares: AnyFloats) -> Floats:
    """Shares of all classes, of a truth value as well as of a category."""
    own = np.asarray(shares, np.float64)
    return own if own.shape[1] > 1 else np.hstack([1 - own, own])


def _sharpened(shares: Floats, power: float) -> Floats:
    """Shares to a power, adding up to one."""
    least = min(FLOOR, 0.05 / shares.shape[1])
    found = np.clip(shares, least, 1.0) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _losses(said: Floats, truth: Floats) -> Floats:
    """How unlikely the truth is under each power: minus its log probabilities."""
    shares, is_true = _whole(said), _whole(truth)
    chances = [(_sharpened(shares, power) * is_true).sum(axis=1) for power in POWERS]
    return np.array([-np.log(chance.clip(1e-12)).sum() for chance in chances])
