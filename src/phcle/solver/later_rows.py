"""Rows of labels that arrive after the fit, laid out on the columns of the fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.alignment import Context
from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.reencoding import Cells, Words
from phcle.contexts.labels import index_of
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.hierarchy import HierarchyCounts
from phcle.embedding.fitted import FittedDescriptive, FittedRelational
from phcle.errors import ContextError, ContextWarning, some
from phcle.solver.problem import DescriptiveData, RelationalData, describe_rows

__all__ = ["descriptive_rows", "relational_rows"]

Floats = npt.NDArray[np.floating[Any]]


def relational_rows(
    learned: FittedRelational,
    context: Context | None,
    labels: Sequence[str],
) -> tuple[RelationalData, FittedRelational]:
    """New labels on the columns of the fit, for the solver and for the embedding."""
    counts = sp.csr_array((len(labels), len(learned.columns)))
    recipe = None
    if context is not None:
        if not isinstance(context, RelationalContext):
            raise _wrong_kind(learned.name, "relational")
        recipe = learned.data.hierarchy if learned.data is not None else None
        if recipe is not None and context.hierarchy is not None:
            recipe = recipe.extended(context.hierarchy.hierarchy, name=learned.name)
            context = _counted_like_the_fit(context, learned, recipe)
        counts = _match_columns(context, learned.columns, labels)
    data = RelationalData(
        learned.name,
        learned.columns,
        sp.csr_array(counts * learned.scale),
        learned.column_mass,
        learned.total,
        learned.scale,
    )
    kept = None
    if counts.nnz:
        kept = RelationalContext(
            learned.name, tuple(labels), learned.columns, counts, recipe
        )
    return data, replace(learned, data=kept)


def _counted_like_the_fit(
    context: RelationalContext, learned: FittedRelational, recipe: HierarchyCounts
) -> RelationalContext:
    """A few new edges, counted within the whole hierarchy."""
    trained = () if learned.data is None else learned.data.labels
    counts = recipe.count_on(context.labels, trained=trained, columns=learned.columns)
    return RelationalContext(
        context.name, context.labels, learned.columns, counts, recipe
    )


def _match_columns(
    context: RelationalContext, columns: Sequence[str], labels: Sequence[str]
) -> sp.csr_array:
    """Counts of the labels on the columns of the fit; others are dropped, and told."""
    if tuple(context.columns) == tuple(columns):
        return context.rows_for(labels)
    position = index_of(columns)
    at = np.array([position.get(column, -1) for column in context.columns])
    _warn_unknown(context.name, [c for c in context.columns if c not in position])
    kept = np.flatnonzero(at >= 0)
    pick = sp.csr_array(
        (np.ones(len(kept)), (kept, at[kept])),
        shape=(len(context.columns), len(columns)),
    )
    return sp.csr_array(context.rows_for(labels) @ pick)


def descriptive_rows(
    learned: FittedDescriptive, context: Context | None, labels: Sequence[str]
) -> tuple[DescriptiveData, FittedDescriptive]:
    """Values of new labels on the columns of the fit; missing columns are unknown."""
    n_columns = len(learned.columns)
    kept = None
    if context is not None:
        if not isinstance(context, DescriptiveContext):
            raise _wrong_kind(learned.name, "descriptive")
        kept = _on_columns(context, learned)
    if kept is None:
        nothing = np.zeros(0, dtype=np.int64)
        data = DescriptiveData(
            learned.name,
            learned.columns,
            learned.offset,
            learned.scale,
            nothing,
            np.empty((0, n_columns)),
            np.zeros(n_columns),
            sp.csr_array((len(labels), n_columns)),
        )
    else:
        data = describe_rows(kept, labels, learned.offset, learned.scale)
    return data, replace(learned, data=kept)


def _on_columns(
    context: DescriptiveContext, learned: FittedDescriptive
) -> DescriptiveContext | None:
    """The context on the columns of the fit, or None if it has none of them."""
    position = index_of(context.columns)
    known = index_of(learned.columns)
    at = np.array([position.get(column, -1) for column in learned.columns])
    observed = None
    values: Floats | sp.csr_array
    if isinstance(context.source, Words) and isinstance(learned.source, Words):
        values = context.source.encoded_like(learned.source, learned.columns)
        if values.nnz == 0:
            return None
    elif isinstance(context.source, Cells) and isinstance(learned.source, Cells):
        _warn_unknown(
            context.name,
            [t for t in context.source.cells if t not in learned.source.titles],
        )
        values = context.source.encoded_like(learned.source, learned.columns)
        if np.isnan(values).all():
            return None
    elif isinstance(context.values, np.ndarray):
        _warn_unknown(context.name, [c for c in context.columns if c not in known])
        values = np.where(at >= 0, context.values[:, at], np.nan)
        if np.isnan(values).all():
            return None
    else:
        _warn_unknown(context.name, [c for c in context.columns if c not in known])
        # A tag that the fit knows and the new labels lack is absent, not unknown.
        present = np.flatnonzero(at >= 0)
        pick = sp.csr_array(
            (np.ones(len(present)), (at[present], present)),
            shape=(len(context.columns), len(learned.columns)),
        )
        values = sp.csr_array(context.values @ pick)
        if context.observed is not None:
            observed = sp.csr_array(context.observed @ pick)
            if observed.nnz == 0:
                return None
    return DescriptiveContext(
        learned.name,
        context.labels,
        learned.columns,
        values,
        observed,
        readable=learned.readable,
    )


def _warn_unknown(name: str, columns: Sequence[str]) -> None:
    if columns:
        warnings.warn(
            f"context {name!r}: {len(columns)} columns were not in the fit and are "
            f"ignored: {some(columns, 3)}.",
            ContextWarning,
            stacklevel=5,
        )


def _wrong_kind(name: str, kind: str) -> ContextError:
    return ContextError(f"context {name!r} was {kind} at the fit; give the same kind.")
