"""How good is the completion of a table? Hidden cells, beside the simple rules.

Every column is scored on cells that were hidden from trial fits: numbers by R² (0 is
what the mean reaches), categories and yes or no by the share that is right, tags
together by R² of their probabilities. The rules are those that a user would try first:
the mean or most common value, and the family. They may see all other known cells, as
they would in use.

Trials hide single cells and whole rows, in numbers that suit the learning of
confidence. The user's gaps are another mix of both, and whole rows are harder. So the
two sorts of hidden cells are weighted like the gaps of their column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import cast

import numpy as np

from phcle.answers import ColumnSkill, CompletionSkill
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.confidence import Calibration, Read, steps_per_unit
from phcle.contexts.descriptive.fields import Field
from phcle.contexts.descriptive.hidden_cells import HiddenPredictions
from phcle.contexts.family_means import FamilyMeans
from phcle.contexts.labels import index_of
from phcle.contexts.masked import MaskedMatrix
from phcle.solver.problem import Problem

FEWEST = 10
"""Columns with fewer hidden cells are not judged; weights count as if they were fewer
cells of equal weight."""

NO_GAPS = 0.5
"""Weight of whole rows in a table without gaps, which tells nothing about the mix."""

ROWS = 1_000
"""Rows that are read at once."""

RULES = {"usual": "mean or most common value", "family": "family"}

R2 = "R²"

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
    position = index_of(problem.labels)
    found: list[ColumnSkill] = []
    for context in problem.contexts:
        cells, calibration = hidden.get(context.name), calibrations.get(context.name)
        if cells is None or calibration is None or not len(cells.rows):
            continue
        table = cast(PredictingContext, context)
        at = np.array([position[x] for x in table.data.labels], dtype=np.int64)
        matrix = table.data.on_fit_scale().matrix
        family = _at_cells(cells, FamilyMeans(matrix, problem.families, at).at)
        deviation = calibration.deviation[cells.columns]
        unit = np.divide(
            1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0
        )
        read = read_cells(table, cells, calibration)
        scored = _Cells(
            cells,
            cells.truth * table.scale[cells.columns] * unit,
            cells.has_it,
            read.number,
            read.chance,
            (family - cells.mean) * unit,
            family,
        )
        shares = _WholeRows.of(problem, table, matrix)
        found += _scores(table, scored, calibration.presence, shares)
    n_cells = sum(len(x.rows) for x in hidden.values())
    return CompletionSkill(None, n_cells, tuple(found))


@dataclass(frozen=True, eq=False)
class _WholeRows:
    """Share of a table's gaps that lies in labels without any value in it."""

    of_table: float
    of_columns: Floats

    @classmethod
    def of(
        cls, problem: Problem, table: PredictingContext, matrix: MaskedMatrix
    ) -> _WholeRows:
        others = [x.observed for x in problem.contexts if x.name != table.name]
        # Labels that no context knows are never completed.
        informed = np.any(others, axis=0) if others else np.zeros(1, dtype=bool)
        n_alone = np.count_nonzero(informed & ~table.observed)
        in_part = np.count_nonzero(table.observed) - matrix.moments().count
        gaps = n_alone + in_part
        total = float(gaps.sum())
        no_gaps = NO_GAPS if informed.any() else 0.0  # rows are not hidden then
        whole = n_alone * len(gaps) / total if total else no_gaps
        shares = np.full(len(gaps), whole)  # columns without gaps: like the table
        np.divide(n_alone, gaps, out=shares, where=gaps > 0)
        return cls(whole, shares)


def _weights(is_alone: Flags, whole: float) -> Floats:
    """Weights of hidden cells, which add up to one.

    Cells of whole rows get a given share, if there are some of both sorts.
    """
    n_alone = int(np.count_nonzero(is_alone))
    n_part = len(is_alone) - n_alone
    found = np.where(is_alone, whole / max(n_alone, 1), (1 - whole) / max(n_part, 1))
    return np.asarray(found / (found.sum() or 1.0))


def _is_enough(is_alone: Flags, whole: float, width: int = 1) -> bool:
    """Whether there are enough hidden cells of each sort that has a large share.

    A sort that no trial hid counts as half a cell: it may be missing if few gaps are of
    this sort. A category has as many columns for each cell as the width says.
    """
    n_alone = np.count_nonzero(is_alone) / width
    n_part = len(is_alone) / width - n_alone
    variance = whole**2 / max(n_alone, 0.5) + (1 - whole) ** 2 / max(n_part, 0.5)
    return variance <= 1 / FEWEST


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
    at = cells.question
    found = Read(*np.empty((4, len(cells.rows))))
    for start in range(0, int(at.max(initial=-1)) + 1, ROWS):
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


def _scores(
    table: PredictingContext, cells: _Cells, presence: Floats, shares: _WholeRows
) -> Iterator[ColumnSkill]:
    """The scores of every field with enough cells; tags are scored together."""
    if table.fields[0].kind == "tag":
        if _is_enough(cells.hidden.is_alone, shares.of_table):
            yield _tag_skill(table, cells, shares.of_table)
        return
    number_of = np.empty(len(table.columns), dtype=np.int64)
    for number, field in enumerate(table.fields):
        number_of[field.at] = number
    of = number_of[cells.hidden.columns]
    for number, field in enumerate(table.fields):
        own = cells.where(np.flatnonzero(of == number))
        whole = float(shares.of_columns[field.at].mean())
        if _is_enough(own.hidden.is_alone, whole, max(len(field.values), 1)):
            yield _field_skill(table, field, own, presence[field.at], whole)


def _field_skill(
    table: PredictingContext,
    field: Field,
    cells: _Cells,
    presence: Floats,
    whole: float,
) -> ColumnSkill:
    """Score one field: losses of each rule, cell by cell."""
    if field.kind == "number":
        truth = cells.steps
        said = {
            "own": cells.own_steps,
            "usual": np.zeros(len(truth)),
            "family": cells.family_steps,
        }
        losses = {x: (_filled(y, 0.0) - truth) ** 2 for x, y in said.items()}
        measure = R2
    else:
        n_values = max(len(field.values), 1)
        order = np.lexsort(
            (cells.hidden.columns, cells.hidden.rows, cells.hidden.trial)
        )
        cells = cells.where(order)

        def wrong(shares: Floats) -> Floats:
            grid = shares.reshape(-1, n_values)
            grid = np.where(np.isnan(grid), presence, grid)
            truth = cells.has_it.reshape(-1, n_values)
            if field.kind == "truth":
                return np.asarray(((grid > 0.5) != truth)[:, 0], np.float64)
            return np.asarray(grid.argmax(axis=1) != truth.argmax(axis=1), np.float64)

        usual = np.tile(presence, len(cells.steps) // n_values)
        losses = {
            "own": wrong(cells.own_share),
            "usual": wrong(usual),
            "family": wrong(cells.family_share),
        }
        measure = "share right"
    return _skill(table.name, field.title, field.kind, measure, cells, losses, whole)


def _tag_skill(table: PredictingContext, cells: _Cells, whole: float) -> ColumnSkill:
    """Score all tags together, by the squares of their probabilities."""
    truth, presence = cells.has_it.astype(np.float64), cells.hidden.presence
    said = {
        "own": cells.own_share,
        "usual": presence,
        "family": cells.family_share,
    }
    losses = {x: (_filled(y, presence) - truth) ** 2 for x, y in said.items()}
    return _skill(table.name, "all tags", "tag", R2, cells, losses, whole)


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
    whole: float,
) -> ColumnSkill:
    """Scores, and whether we differ from the best rule by more than chance."""
    width = len(cells.steps) // len(losses["own"])  # columns of a category
    labels, is_alone = cells.hidden.rows[::width], cells.hidden.is_alone[::width]
    weights = _weights(is_alone, whole)
    # Scaled, the loss of the mean is one, and R² is 1 − loss.
    total = float(weights @ losses["usual"]) if measure == R2 else 1.0
    scores = {x: 1 - float(weights @ y) / (total or 1.0) for x, y in losses.items()}
    knows_family = not np.isnan(cells.family_share).all()
    rules = RULES if knows_family else ("usual",)
    gains = {x: (losses[x] - losses["own"]) / (total or 1.0) for x in rules}
    leads = {x: float(weights @ gains[x]) for x in rules}
    best = min(leads, key=lambda x: leads[x])
    error = _error(gains[best], weights, is_alone, labels)
    verdict = "as good"
    if abs(leads[best]) > CERTAIN * error:
        verdict = "better" if leads[best] > 0 else "worse"
    return ColumnSkill(
        context,
        column,
        kind,
        len(labels),
        measure,
        scores["own"],
        scores["usual"],
        scores["family"] if knows_family else None,
        RULES[best],
        error,
        verdict,
        float(weights[is_alone].sum()),
    )


def _error(gain: Floats, weights: Floats, is_alone: Flags, labels: Ints) -> float:
    """Standard error of a weighted mean, clustered by label, with fixed shares."""
    left = gain.copy()
    for sort in (is_alone, ~is_alone):
        total = float(weights[sort].sum())
        if total:
            left[sort] -= weights[sort] @ gain[sort] / total
    return float(np.linalg.norm(np.bincount(labels, weights * left)))
