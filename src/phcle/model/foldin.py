"""Labels that arrive later: solve their rows of W with all else fixed.

With C and U fixed the problem of one label is convex and small. `fit` ends with the
same solve for its own labels, so a training label that is folded in again gets its own
vector back, and stationarity makes similarities explainable.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Context, align
from phcle.contexts.descriptive import DescriptiveContext
from phcle.contexts.labels import index_of
from phcle.contexts.relational import RelationalContext
from phcle.embedding.fitted import FittedDescriptive, FittedRelational
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, ContextWarning, did_you_mean, some
from phcle.model.layout import LabelSide
from phcle.model.majorise import solve_rows
from phcle.model.problem import (
    DescriptiveData,
    Penalties,
    Problem,
    RelationalData,
    describe_rows,
)

__all__ = ["fold_in", "solve_labels"]

Floats = npt.NDArray[np.floating[Any]]


def solve_labels(
    backend: Backend,
    problem: Problem,
    start: Floats,
    C: Sequence[Floats],
    U: Sequence[Floats],
    weights: Mapping[str, float],
    *,
    tol: float = 1e-7,
) -> Floats:
    """W at its optimum for these C and U, in double precision."""
    precise = backend.with_dtype("float64")
    side = LabelSide(precise, problem)
    move = precise.asarray
    views = side.views([move(c) for c in C], [move(u) for u in U], weights)
    solved = solve_rows(
        precise,
        move(start),
        views,
        problem.penalties.ridge,
        side.blocks,
        tol=tol,
        max_iter=50,
    )
    return np.asarray(precise.to_numpy(solved.factor))


def fold_in(
    embedding: LabelEmbedding,
    contexts: Context | Iterable[Context],
    *,
    names: Mapping[str, str] | None = None,
    backend: Backend | None = None,
) -> LabelEmbedding:
    """Embed labels that were not in the fit, from whichever contexts they have.

    The contexts carry the names they had at the fit. A taxonomy needs only the new
    edges. Columns the fit did not know are left out, with a warning that counts them.
    """
    if not embedding.contexts:
        raise ContextError(
            "this embedding keeps no contexts, so nothing can be folded into it; "
            "only embeddings learned by PHCLE do."
        )
    aligned = align(contexts, must_inform=False)
    fitted = {context.name: context for context in embedding.contexts}
    for context in aligned.contexts:
        if context.name not in fitted:
            raise ContextError(
                f"the fit had no context {context.name!r}."
                f"{did_you_mean(context.name, fitted)} It had {some(fitted)}; "
                "name= says which one the new rows belong to."
            )
    given = {context.name: context for context in aligned.contexts}
    labels = aligned.labels
    rows = [
        _relational_rows(learned, given.get(learned.name), labels, embedding.labels)
        if isinstance(learned, FittedRelational)
        else _descriptive_rows(learned, given.get(learned.name), labels)
        for learned in embedding.contexts
    ]
    problem = Problem(
        labels,
        tuple(data for data, _ in rows if isinstance(data, RelationalData)),
        tuple(data for data, _ in rows if isinstance(data, DescriptiveData)),
        Penalties(**embedding.penalties),
        embedding.dim,
    )
    weights = {context.name: context.weight for context in embedding.contexts}
    _refuse_uninformed(problem, weights)
    C = [c.factor for c in embedding.contexts if isinstance(c, FittedRelational)]
    U = [c.factor for c in embedding.contexts if isinstance(c, FittedDescriptive)]
    backend = backend or choose_backend("numpy", "cpu", "float64")
    start = np.zeros((len(labels), embedding.dim))
    with backend.working():
        vectors = solve_labels(backend, problem, start, C, U, weights)
    return embedding.with_rows(
        labels,
        vectors.astype(embedding.vectors.dtype),
        [fitted_rows for _, fitted_rows in rows],
        names or {},
    )


def _relational_rows(
    learned: FittedRelational,
    context: Context | None,
    labels: Sequence[str],
    trained: Sequence[str],
) -> tuple[RelationalData, FittedRelational]:
    """New labels on the columns of the fit, for the solver and for the embedding."""
    shape = (len(labels), len(learned.columns))
    counts, recipe = sp.csr_array(shape), None
    if context is not None:
        if not isinstance(context, RelationalContext):
            raise _wrong_kind(learned.name, "relational")
        recipe = learned.data.hierarchy if learned.data is not None else None
        if recipe is not None and context.hierarchy is not None:
            recipe = recipe.extended(context.hierarchy.hierarchy, name=learned.name)
            own = [label for label in labels if label in context.index]
            found = recipe.count_on(own, trained=trained, columns=learned.columns)
            context = replace(
                context, labels=tuple(own), columns=learned.columns, counts=found
            )
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


def _match_columns(
    context: RelationalContext, columns: Sequence[str], labels: Sequence[str]
) -> sp.csr_array:
    """Counts of the labels on the columns of the fit; others are dropped, and told."""
    position = index_of(columns)
    at = np.array([position.get(column, -1) for column in context.columns])
    _warn_unknown_columns(context, at)
    kept = np.flatnonzero(at >= 0)
    pick = sp.csr_array(
        (np.ones(len(kept)), (kept, at[kept])),
        shape=(len(context.columns), len(columns)),
    )
    return sp.csr_array(context.rows_for(labels) @ pick)


def _descriptive_rows(
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
    _warn_unknown_columns(
        context, np.array([known.get(column, -1) for column in context.columns])
    )
    at = np.array([position.get(column, -1) for column in learned.columns])
    observed = None
    values: Floats | sp.csr_array
    if isinstance(context.values, np.ndarray):
        values = np.where(at >= 0, context.values[:, at], np.nan)
        if np.isnan(values).all():
            return None
    else:
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


def _warn_unknown_columns(context: Context, at: npt.NDArray[np.int64]) -> None:
    unknown = [context.columns[i] for i in np.flatnonzero(at < 0)]
    if unknown:
        warnings.warn(
            f"context {context.name!r}: {len(unknown)} of {len(at)} columns were not "
            f"in the fit and are ignored: {some(unknown, 3)}.",
            ContextWarning,
            stacklevel=4,
        )


def _refuse_uninformed(problem: Problem, weights: Mapping[str, float]) -> None:
    """Refuse by name every label that no context with a weight says anything about."""
    informed = np.zeros(len(problem.labels), dtype=bool)
    for data in problem.data:
        if weights[data.name] > 0:
            informed |= data.observed
    if not informed.all():
        unknown = [problem.labels[i] for i in np.flatnonzero(~informed)]
        raise ContextError(
            f"no context of the fit says anything about {some(unknown)}; give a "
            "parent, an attribute or another entry that the fit knows."
        )


def _wrong_kind(name: str, kind: str) -> ContextError:
    return ContextError(f"context {name!r} was {kind} at the fit; give the same kind.")
