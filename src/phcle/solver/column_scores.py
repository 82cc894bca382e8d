"""How good is the completion of a table? Hidden cells, beside the simple rules.

Every column is scored on cells that were hidden from trial fits: numbers by R² (0 is
what the mean reaches), categories and yes or no by the share that is right, tags
together by R² of their probabilities. The rules are those that a user would try first:
the mean or most common value, the family, and the nearest labels by known cells. The
rules may see all other known cells, as they would in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.answers import ColumnSkill, CompletionSkill
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.confidence import Calibration, Read, steps_per_unit
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.contexts.family_means import FamilyMeans, Groups
from phcle.contexts.labels import index_of
from phcle.contexts.masked import MaskedMatrix
from phcle.solver.problem import Problem

__all__ = ["read_cells", "score_columns"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

NEIGHBOURS = 10
"""Labels whose values the rule of the nearest labels averages."""

MOST_COMPARED = 2_000_000
"""Most cells of a table for the rule of the nearest labels, which takes a distance to
every label; above, it is left out."""

MOST_ASKED = 200
"""Most labels for which the nearest ones are looked for."""

FEWEST = 10
"""Columns with fewer hidden cells are not judged."""

ROWS = 1_000
"""Rows that are read at once."""

RULES = {
    "usual": "mean or most common value",
    "family": "family",
    "nearest": "nearest labels",
}

CERTAIN = 2.0
"""Standard errors by which a rule must differ to be called better or worse."""


def score_columns(
    problem: Problem,
    hidden: Mapping[str, HiddenPredictions],
    calibrations: Mapping[str, Calibration],
) -> CompletionSkill:
    """Score hidden cells, column by column.

    Parameters
    ----------
    problem : Problem
        All contexts; hierarchies among them tell the families.
    hidden : mapping from str to HiddenPredictions
        Hidden cells by table.
    calibrations : mapping from str to Calibration
        How to read predictions, by table; tables without one are left out.

    Returns
    -------
    CompletionSkill
        The scores.
    """
    groups = Groups.of_contexts(problem.labels, problem.contexts)
    position = index_of(problem.labels)
    found: list[ColumnSkill] = []
    for context in problem.contexts:
        cells, calibration = hidden.get(context.name), calibrations.get(context.name)
        if cells is None or calibration is None or not len(cells.rows):
            continue
        table = cast(PredictingContext, context)
        at = np.array([position[x] for x in table.data.labels], dtype=np.int64)
        matrix = table.data.on_fit_scale().matrix
        family = _at_cells(cells, FamilyMeans(matrix, groups, at).at)
        deviation = calibration.deviation[cells.columns]
        unit = np.divide(
            1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0
        )
        near = _nearest(matrix, at, table.scale, cells)
        read = read_cells(table, cells, calibration)
        offset, scale = table.offset[cells.columns], table.scale[cells.columns]
        scored = _Cells(
            cells,
            cells.truth * scale * unit,
            table.has(cells.columns, cells.truth),
            read.number,
            read.chance,
            (family - offset) * unit,
            family,
            (near - offset) * unit,
            near,
        )
        found += _scores(table, scored, calibration.presence)
    n_cells = sum(len(x.rows) for x in hidden.values())
    return CompletionSkill(None, n_cells, tuple(found))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Hidden cells, and what each rule says: in deviations from the mean, or as shares.

    NaN where a rule knows nothing.
    """

    hidden: HiddenPredictions
    steps: Floats  # the truth
    has_it: Flags
    own_steps: Floats
    own_share: Floats
    family_steps: Floats
    family_share: Floats
    near_steps: Floats
    near_share: Floats

    def where(self, kept: Ints) -> _Cells:
        arrays = [getattr(self, x.name)[kept] for x in fields(self)[1:]]
        return _Cells(self.hidden.where(kept), *arrays)


def _at_cells(cells: HiddenPredictions, rows_of: Callable[[Ints], Floats]) -> Floats:
    """Look up cells in rows that are computed block by block."""
    labels, at = np.unique(cells.rows, return_inverse=True)
    found = np.empty(len(cells.rows))
    for start in range(0, len(labels), ROWS):
        inside = (at >= start) & (at < start + ROWS)
        rows = rows_of(labels[start : start + ROWS])
        found[inside] = rows[at[inside] - start, cells.columns[inside]]
    return found


def read_cells(
    table: PredictingContext,
    cells: HiddenPredictions,
    calibration: Calibration | None = None,
) -> Read:
    """Read the predictions of single cells.

    Parameters
    ----------
    table : PredictingContext
        The table.
    cells : HiddenPredictions
        Some of its cells.
    calibration : Calibration, optional
        How to read them; by default as the table says.

    Returns
    -------
    Read
        What they mean, one number for each cell, in deviations from the mean.
    """
    calibration = calibration or table.calibration
    assert calibration is not None
    unit = steps_per_unit(table.scale, calibration.deviation)
    pairs, at = np.unique(
        np.stack([cells.trial, cells.rows]), axis=1, return_inverse=True
    )
    at = at.ravel()
    found = Read(*np.empty((4, len(cells.rows))))
    for start in range(0, pairs.shape[1], ROWS):
        inside = np.flatnonzero((at >= start) & (at < start + ROWS))
        row, column = at[inside] - start, cells.columns[inside]
        n = int(row.max()) + 1
        steps = np.zeros((n, len(unit)))
        steps[row, column] = cells.fitted[inside] * unit[column]
        family = np.full_like(steps, np.nan)
        family[row, column] = cells.family[inside] * unit[column]
        is_alone, supports = np.zeros(n, dtype=bool), np.zeros(n)
        is_alone[row], supports[row] = cells.is_alone[inside], cells.support[inside]
        read = calibration.read(steps, table.fields, ~is_alone, supports, family)
        for name, own in vars(read).items():
            getattr(found, name)[inside] = own[row, column]
    return found


def _nearest(
    matrix: MaskedMatrix, at: Ints, scale: Floats, cells: HiddenPredictions
) -> Floats:
    """Mean of the nearest labels that know the cell; NaN where none is looked for.

    Distances are over the columns that both labels know, without the hidden cells of
    the label that is asked for.
    """
    found = np.full(len(cells.rows), np.nan)
    if matrix.shape[0] * matrix.shape[1] > MOST_COMPARED:
        return found
    values = _dense(matrix)
    known = ~np.isnan(values)
    usual = matrix.moments().mean
    filled = np.where(known, values / scale, 0.0)
    row_of = {label: i for i, label in enumerate(at.tolist())}
    pairs, number = np.unique(
        np.stack([cells.trial, cells.rows]), axis=1, return_inverse=True
    )
    number = number.ravel()
    some = np.linspace(0, pairs.shape[1] - 1, min(pairs.shape[1], MOST_ASKED))
    for pair in np.unique(some.round().astype(np.int64)):
        inside = np.flatnonzero(number == pair)
        row, columns = row_of[int(pairs[1, pair])], cells.columns[inside]
        seen = known[row].copy()
        seen[columns] = False
        shared = known[:, seen].sum(axis=1)
        away = (filled[:, seen] - filled[row, seen]) * known[:, seen]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = (away**2).sum(axis=1) / shared
        distance[row] = np.nan  # last, like labels that share no column
        order = np.argsort(distance, kind="stable")
        order = order[~np.isnan(distance[order])]
        for cell, column in zip(inside, columns, strict=True):
            near = order[known[order, column]][:NEIGHBOURS]
            found[cell] = values[near, column].mean() if len(near) else usual[column]
    return found


def _dense(matrix: MaskedMatrix) -> Floats:
    """All values of a table; NaN where unknown."""
    stored, mask = matrix.arrays
    if not sp.issparse(stored):
        return np.asarray(stored, np.float64)
    values = np.asarray(cast(Any, stored).toarray(), np.float64)
    return values if mask is None else np.where(mask.toarray() > 0, values, np.nan)


def _scores(
    table: PredictingContext, cells: _Cells, presence: Floats
) -> Iterator[ColumnSkill]:
    """The scores of every field with enough cells; tags are scored together."""
    if table.fields[0].kind == "tag":
        usual = cells.hidden.presence
        yield _tag_skill(table, cells, usual)
        return
    number_of = np.empty(len(table.columns), dtype=np.int64)
    for number, field in enumerate(table.fields):
        number_of[field.at] = number
    of = number_of[cells.hidden.columns]
    for number, field in enumerate(table.fields):
        own = cells.where(np.flatnonzero(of == number))
        n_cells = len(own.steps) // max(len(field.values), 1)
        if n_cells >= FEWEST:
            yield _field_skill(table, field, own, presence[field.at], n_cells)


def _field_skill(
    table: PredictingContext,
    field: Field,
    cells: _Cells,
    presence: Floats,
    n_cells: int,
) -> ColumnSkill:
    """Score one field: losses of each rule, cell by cell."""
    labels = cells.hidden.rows
    if field.kind == "number":
        truth = cells.steps
        total = float((truth**2).mean()) or 1.0
        said = {
            "own": cells.own_steps,
            "usual": np.zeros(len(truth)),
            "family": cells.family_steps,
            "nearest": cells.near_steps,
        }
        losses = {x: (_filled(y, 0.0) - truth) ** 2 / total for x, y in said.items()}
        measure = "R²"
    else:
        n_values = max(len(field.values), 1)
        order = np.lexsort(
            (cells.hidden.columns, cells.hidden.rows, cells.hidden.trial)
        )
        cells = cells.where(order)
        labels = cells.hidden.rows[::n_values]

        def wrong(shares: Floats) -> Floats:
            grid = shares.reshape(-1, n_values)
            grid = np.where(np.isnan(grid), presence, grid)
            truth = cells.has_it.reshape(-1, n_values)
            if field.kind == "truth":
                return np.asarray(((grid > 0.5) != truth)[:, 0], np.float64)
            return np.asarray(grid.argmax(axis=1) != truth.argmax(axis=1), np.float64)

        usual = np.broadcast_to(presence, (n_cells, n_values)).ravel()
        losses = {
            "own": wrong(cells.own_share),
            "usual": wrong(usual),
            "family": wrong(cells.family_share),
            "nearest": wrong(cells.near_share),
        }
        measure = "share right"
    return _skill(table.name, field.title, field.kind, measure, cells, losses, labels)


def _tag_skill(
    table: PredictingContext, cells: _Cells, presence: Floats
) -> ColumnSkill:
    """Score all tags together, by the squares of their probabilities."""
    truth = cells.has_it.astype(np.float64)
    total = float(((presence - truth) ** 2).mean()) or 1.0
    said = {
        "own": cells.own_share,
        "usual": presence,
        "family": cells.family_share,
        "nearest": cells.near_share,
    }
    losses = {x: (_filled(y, presence) - truth) ** 2 / total for x, y in said.items()}
    return _skill(table.name, "all tags", "tag", "R²", cells, losses, cells.hidden.rows)


def _filled(said: Floats, otherwise: Floats | float) -> Floats:
    """What a rule says; the usual value where it knows nothing."""
    return np.where(np.isnan(said), otherwise, said)


def _skill(
    context: str,
    column: str,
    kind: str,
    measure: str,
    cells: _Cells,
    losses: Mapping[str, Floats],
    labels: Ints,
) -> ColumnSkill:
    """Scores, and whether we differ from the best rule by more than chance."""
    asked = {x: np.ones(len(labels), dtype=bool) for x in losses}
    if np.isnan(cells.family_share).all():
        del asked["family"]
    # The nearest labels were looked for only for some labels.
    width = len(cells.near_share) // len(labels)
    asked["nearest"] = ~np.isnan(cells.near_share[::width])
    if not asked["nearest"].any():
        del asked["nearest"]
    scores = {x: 1 - float(losses[x][own].mean()) for x, own in asked.items()}
    leads = {
        x: float((losses[x] - losses["own"])[own].mean())
        for x, own in asked.items()
        if x != "own"
    }
    best = min(leads, key=lambda x: leads[x])
    at, lead = asked[best], leads[best]
    gain = (losses[best] - losses["own"])[at]
    error = float(np.linalg.norm(np.bincount(labels[at], gain - lead))) / len(gain)
    verdict = "as good"
    if abs(lead) > CERTAIN * error:
        verdict = "better" if lead > 0 else "worse"
    return ColumnSkill(
        context,
        column,
        kind,
        len(labels),
        measure,
        scores["own"],
        scores["usual"],
        scores.get("family"),
        scores.get("nearest"),
        RULES[best],
        error,
        verdict,
    )
