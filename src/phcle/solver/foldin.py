"""Labels that arrive later: solve their rows of W with all else fixed.

With C and U fixed the problem of one label is convex and small. `fit` ends with the
same solve for its own labels, so a training label that is folded in again gets its own
vector back, and stationarity makes similarities explainable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Context, align
from phcle.contexts.relational.sampling import ColumnSamples, Sample
from phcle.embedding.fitted import FittedDescriptive, FittedRelational
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, NumericalError, did_you_mean, some
from phcle.solver.later_rows import descriptive_rows, relational_rows
from phcle.solver.layout import LabelSide
from phcle.solver.problem import (
    DescriptiveData,
    Penalties,
    Problem,
    RelationalData,
)
from phcle.solver.rows import solve_rows

__all__ = ["fold_in", "solve_labels"]

Floats = npt.NDArray[np.floating[Any]]

OUT_OF_PROPORTION = "look for values out of all proportion to those of the fit."

ROUGHLY = {"full": 1e-3, "mixed": 1e-2}
"""How far steps before the last ones are asked to bring the rows, by precision."""

COARSELY, COARSE_SAMPLE = 1e-2, 512
"""How far a sample of so many columns is asked to bring rows that start at zero."""


DOUBLE_UP_TO = 5 * 10**7
"""Pairs up to which the last steps are in double precision, which is cheap then."""


@dataclass(frozen=True)
class _Stage:
    """Newton steps on one back end until rows move by `tol`; all columns or a few."""

    backend: Backend
    tol: float
    samples: list[Sample | None] | None = None


def solve_labels(
    backend: Backend,
    problem: Problem,
    start: Floats | None,
    C: Sequence[Floats],
    U: Sequence[Floats],
    weights: Mapping[str, float],
    *,
    tol: float = 1e-4,
) -> tuple[Floats, Floats]:
    """W at its optimum for these C and U, as doubles; every term's value there.

    A row's Newton steps end with one that moves it by no more than `tol`; what is left
    to go then is a small part of that.
    """
    stages = _stages(backend, problem, C, tol, has_start=start is not None)
    W: Any = start
    before = None
    for stage in stages:
        move = stage.backend.asarray
        if W is None:
            W = _zeros(stage.backend, problem)
        if before is None or before.dtype != stage.backend.dtype:
            side = LabelSide(stage.backend, problem)
            factors = [move(c) for c in C], [move(u) for u in U]
        elif before is not stage.backend:
            side = side.on(stage.backend)
        solved = solve_rows(
            stage.backend,
            move(W),
            side.views(*factors, weights, samples=stage.samples),
            problem.penalties.ridge,
            side.blocks,
            tol=stage.tol,
            max_iter=50,
        )
        W, before = solved.factor, stage.backend
    W = np.asarray(stage.backend.to_numpy(W), np.float64)
    broken = [
        name
        for name, value in zip(problem.names, solved.values, strict=True)
        if not np.isfinite(value)
    ]
    if broken:
        raise NumericalError(
            f"the numbers of context {some(broken)} are not finite when the labels are "
            f"solved for; {OUT_OF_PROPORTION}"
        )
    return W, solved.values


def _zeros(backend: Backend, problem: Problem) -> Any:
    """A start on the device, which takes less time than moving one there."""
    like = backend.asarray(np.zeros(1))
    shape = (len(problem.labels), problem.dim)
    return backend.xp.zeros(shape, dtype=like.dtype, device=like.device)


def _stages(
    backend: Backend,
    problem: Problem,
    C: Sequence[Floats],
    tol: float,
    *,
    has_start: bool,
) -> list[_Stage]:
    """The way to the optimum, made cheap.

    Without a start the rows first settle on a sample of the columns, and steps in less
    than the last precision come before the last ones. A problem of few pairs ends in
    double precision. One of many ends in that of the sweeps, no farther from its
    optimum, and on a GPU begins with products of halves.
    """
    n_pairs = len(problem.labels) * sum(len(c) for c in C)
    is_large = n_pairs > DOUBLE_UP_TO
    rough = backend.in_halves() if is_large else backend
    last = backend.with_dtype(backend.dtype if is_large else "float64")
    stages = [_Stage(last, tol)]
    if (rough.dtype, rough.precision) != (last.dtype, last.precision):
        stages.insert(0, _Stage(rough, max(tol, ROUGHLY[rough.precision])))
    if not has_start:
        drawn = ColumnSamples(problem, COARSE_SAMPLE, seed=0).draw(0)
        stages.insert(0, _Stage(rough, COARSELY, drawn.columns))
    return stages


def fold_in(
    embedding: LabelEmbedding,
    contexts: Context | Iterable[Context],
    *,
    names: Mapping[str, str] | None = None,
    backend: str = "auto",
    device: str = "cpu",
    dtype: str = "float32",
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
    given = {context.name: context for context in aligned.contexts}
    _refuse_foreign(given, embedding)
    labels = aligned.labels
    rows = [
        relational_rows(learned, given.get(learned.name), labels)
        if isinstance(learned, FittedRelational)
        else descriptive_rows(learned, given.get(learned.name), labels)
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
    n_pairs = len(labels) * sum(len(factor) for factor in C)
    chosen = choose_backend(backend, device, dtype, n_pairs=n_pairs)
    with chosen.working(), np.errstate(over="ignore", invalid="ignore"):
        vectors, _ = solve_labels(chosen, problem, None, C, U, weights)
        vectors = vectors.astype(embedding.vectors.dtype)
    _refuse_outgrown(labels, vectors)
    return embedding.with_rows(
        labels,
        vectors,
        [fitted_rows for _, fitted_rows in rows],
        names or {},
    )


def _refuse_foreign(given: Iterable[str], embedding: LabelEmbedding) -> None:
    """Refuse a context that the fit did not have."""
    fitted = [context.name for context in embedding.contexts]
    for name in given:
        if name not in fitted:
            raise ContextError(
                f"the fit had no context {name!r}.{did_you_mean(name, fitted)} It had "
                f"{some(fitted)}; name= says which one the new rows belong to."
            )


def _refuse_outgrown(labels: tuple[str, ...], vectors: Floats) -> None:
    """Refuse by name every label whose vector is not finite in its precision."""
    outgrown = [labels[i] for i in np.flatnonzero(~np.isfinite(vectors).all(axis=1))]
    if outgrown:
        raise NumericalError(
            f"the vectors of {some(outgrown)} would be beyond {vectors.dtype}; "
            f"{OUT_OF_PROPORTION}"
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
