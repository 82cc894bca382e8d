"""Add labels to an embedding: solve their rows of W while everything else is fixed.

With C and U fixed, each label is a small convex problem. `fit` ends with the same solve
for its own labels. So a training label that is folded in again gets its own vector
back, and similarities can be explained exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.base import Context, Penalties
from phcle.contexts.terms import Sample
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, NumericalError, did_you_mean, some
from phcle.solver.column_samples import ColumnSamples
from phcle.solver.problem import LabelRows, Problem
from phcle.solver.rows import Updated, solve_rows

__all__ = ["Solved", "fold_in", "solve_labels"]

Floats = npt.NDArray[np.floating[Any]]

TOO_LARGE = "look for values far larger than those of the fit."

ROUGH_TOL = {"full": 1e-3, "mixed": 1e-2}
"""Tolerance of the stages before the last one, by precision. The last stage continues
from there, so more exact steps would be wasted."""

SAMPLED_TOL, SAMPLED_COLUMNS = 1e-2, 512
"""Tolerance and number of columns of the first stage, for rows that start at zero. Its
cheap steps cover most of the distance."""

DOUBLE_UP_TO = 5 * 10**7
"""Up to this many pairs, the last stage uses double precision. Above, it takes too long
and brings rows no nearer to their optimum."""


MOST_STEPS = 50
"""Most Newton steps of a row. Few rows need more than ten."""

EXACTER, STEPS_PER_TURN = 1e-2, 3
"""While nodes settle, a turn makes this many Newton steps, or fewer for rows that move
by this share of the tolerance. Errors of the rows would hide where a slow series of
turns leads: with one step, some settled only after more than 100 turns, not 20."""

MOST_TURNS, KEPT_TURNS = 100, 6
"""Most turns between W and the nodes of families, and how many are remembered. With six
remembered, 5 to 20 turns are usual."""


@dataclass(frozen=True)
class Solved:
    """Label vectors at their optimum.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors in double precision.
    factors : tuple of arrays
        The factor of each context.
    values : array of shape (contexts,)
        The value of each context's term.
    """

    W: Floats
    factors: tuple[Floats, ...]
    values: Floats


@dataclass(frozen=True)
class _Stage:
    """Newton steps on one back end until rows move by at most `tol`."""

    backend: Backend
    tol: float
    samples: list[Sample | None] | None = None
    is_last: bool = False


def solve_labels(
    backend: Backend,
    problem: Problem,
    start: Floats | None,
    factors: Sequence[Floats],
    weights: Mapping[str, float],
    *,
    tol: float = 1e-4,
    settle: bool = False,
) -> Solved:
    """Find the best W for fixed factors.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
    start : array of shape (labels, dim), or None
        Where the rows begin; None is zero.
    factors : sequence of arrays
        One for each context.
    weights : mapping
        α and β by context.
    tol : float, default 1e-4
        A row is done when a Newton step moves it by at most this share of its length.
    settle : bool, default False
        Solve the nodes of families together with W, until neither moves.

    Returns
    -------
    Solved
        The rows and factors in double precision, and the value of each term.
    """
    stages = _stages(backend, problem, tol, has_start=start is not None)
    W: Any = start
    placed: list[Any] = []
    before = None
    for stage in stages:
        move = stage.backend.asarray
        if W is None:
            W = _zeros(stage.backend, problem)
        if before is None or before.dtype != stage.backend.dtype:
            rows = LabelRows(stage.backend, problem)
            if before is not None:
                factors = [before.to_numpy(factor) for factor in placed]
            placed = [move(factor) for factor in factors]
        elif before is not stage.backend:
            rows = rows.on(stage.backend)
        solved = solve_rows(
            stage.backend,
            move(W),
            rows.views(placed, weights, samples=stage.samples),
            problem.penalties.ridge,
            rows.blocks,
            tol=stage.tol,
            max_iter=MOST_STEPS,
        )
        if settle and any(context.turns_with_labels for context in problem.contexts):
            solved, placed = _settle(stage, rows, solved, placed, weights)
        W, before = solved.factor, stage.backend
    W = np.asarray(stage.backend.to_numpy(W), np.float64)
    factors = tuple(np.asarray(stage.backend.to_numpy(x), np.float64) for x in placed)
    broken = [
        name
        for name, value in zip(problem.names, solved.values, strict=True)
        if not np.isfinite(value)
    ]
    if broken:
        raise NumericalError(
            f"the numbers of context {some(broken)} are not finite while labels are "
            f"solved; {TOO_LARGE}"
        )
    return Solved(W, factors, solved.values)


def _settle(
    stage: _Stage,
    rows: LabelRows,
    solved: Updated,
    factors: list[Any],
    weights: Mapping[str, float],
) -> tuple[Updated, list[Any]]:
    """Solve W and the nodes of families in turn, until neither moves.

    Where many relatives have little data, plain turns would crawl. Anderson's method
    combines the last few of them into a step towards the end of the series.
    """
    backend, problem = stage.backend, rows.problem
    lam = problem.penalties
    families = [
        (i, context.factor_update(backend, problem.dim, lam))
        for i, context in enumerate(problem.contexts)
        if context.turns_with_labels
    ]
    edges = np.cumsum([0, *(factors[i].shape[0] for i, _ in families)])

    def on_host(parts: Sequence[Any]) -> Floats:
        return np.concatenate(
            [np.asarray(backend.to_numpy(x), np.float64) for x in parts]
        )

    def solve(tol: float, max_iter: int) -> Updated:
        return solve_rows(
            backend,
            solved.factor,
            rows.views(factors, weights),
            lam.ridge,
            rows.blocks,
            tol=tol,
            max_iter=max_iter,
        )

    tried: list[Floats] = []
    found: list[Floats] = []
    for _ in range(MOST_TURNS):
        tried.append(on_host([factors[i] for i, _ in families]))
        renewed = []
        for i, update in families:
            context = problem.contexts[i]
            weight = context.term_weight(weights[context.name], lam)
            renewed.append(update.improve(solved.factor, factors[i], weight, _no_rows))
        found.append(on_host(renewed))
        tried, found = tried[-KEPT_TURNS:], found[-KEPT_TURNS:]
        mixed = _mix(tried, found)
        # Small moves do not show the end of a slow series; its estimated end does.
        left = max(np.linalg.norm(x - tried[-1]) for x in (found[-1], mixed))
        if len(tried) > 1 and left <= stage.tol * np.linalg.norm(mixed):
            break
        for (i, _), a, b in zip(families, edges, edges[1:], strict=False):
            factors[i] = backend.asarray(mixed[a:b])
        solved = solve(EXACTER * stage.tol, STEPS_PER_TURN if stage.is_last else 1)
    return solve(stage.tol, MOST_STEPS), factors


def _mix(tried: list[Floats], found: list[Floats]) -> Floats:
    """The next point of Anderson's method, from points and what a turn made of them."""
    if len(tried) == 1:
        return found[-1]
    steps = [(b - a).ravel() for a, b in zip(tried, found, strict=True)]
    change = np.stack([steps[-1] - step for step in steps[:-1]], axis=1)
    shares = np.linalg.lstsq(change, steps[-1], rcond=1e-8)[0]
    back = (s * (found[-1] - x) for s, x in zip(shares, found[:-1], strict=True))
    return np.asarray(found[-1] - sum(back))


def _no_rows(*_: Any) -> Any:
    raise AssertionError("the nodes of a family are solved, not stepped")


def _zeros(backend: Backend, problem: Problem) -> Any:
    """A start of zeros, made on the device, which is faster than copying it there."""
    like = backend.asarray(np.zeros(1))
    shape = (len(problem.labels), problem.dim)
    return backend.xp.zeros(shape, dtype=like.dtype, device=like.device)


def _stages(
    backend: Backend,
    problem: Problem,
    tol: float,
    *,
    has_start: bool,
) -> list[_Stage]:
    """Cheap steps first, exact steps last.

    Without a start, rows first converge on a sample of the columns. Then come steps in
    the precision of the sweeps (half precision for a large problem on a GPU). A small
    problem ends in double precision, a large one in the precision of the sweeps.
    """
    is_large = problem.n_pairs > DOUBLE_UP_TO
    rough = backend.in_half_precision() if is_large else backend
    last = backend.with_dtype(backend.dtype if is_large else "float64")
    stages = [_Stage(last, tol, is_last=True)]
    if (rough.dtype, rough.precision) != (last.dtype, last.precision):
        stages.insert(0, _Stage(rough, max(tol, ROUGH_TOL[rough.precision])))
    if not has_start:
        drawn = ColumnSamples(problem, SAMPLED_COLUMNS, seed=0).draw(0)
        stages.insert(0, _Stage(rough, SAMPLED_TOL, drawn.columns))
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
    """Embed labels that were not in the fit, from whatever is known about them.

    Nothing is learned anew: the vectors of the other labels stay the same. Columns that
    the fit did not have are ignored with a warning.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    contexts : Context or iterable of Context
        What is known about the new labels, under the names that the contexts had at the
        fit. Any context may be missing. A taxonomy needs only the new edges.
    names : mapping from str to str, optional
        Readable names of the new labels.
    backend : {"auto", "numpy", "numba", "torch"}, default "auto"
        Library that computes, as in `PHCLE`. Change it only for very many labels.
    device : str, default "cpu"
        Device that computes, as in `PHCLE`, such as "cuda".
    dtype : {"float32", "float64"}, default "float32"
        Precision, as in `PHCLE`.

    Returns
    -------
    LabelEmbedding
        The new labels alone. `embedding.joined(...)` adds them to the others.

    Examples
    --------
    >>> from phcle import DescriptiveContext, PHCLE
    >>> tags = {"cat": ["fur"], "dog": ["fur", "tail"], "fish": ["fins"]}
    >>> embedding = PHCLE(dim=2).fit(DescriptiveContext.from_tags(tags)).embedding_
    >>> new = DescriptiveContext.from_tags({"wolf": ["fur", "tail"]})
    >>> wolf = fold_in(embedding, new)
    >>> wolf.labels
    ('wolf',)
    >>> wolf.nearest("wolf", k=1), embedding.joined(wolf).nearest("wolf", k=1)[0][0]
    ([], 'dog')
    """
    if not embedding.contexts:
        raise ContextError(
            "this embedding has no contexts, so no label can be folded in; use an "
            "embedding that PHCLE learned."
        )
    aligned = align(contexts, must_inform=False)
    given = {context.name: context for context in aligned.contexts}
    _refuse_foreign(given, embedding)
    labels = aligned.labels
    rows = [
        learned.for_new_labels(given.get(learned.given_name), labels)
        for learned in embedding.contexts
    ]
    penalties = Penalties(**embedding.penalties)
    problem = Problem(labels, tuple(rows), penalties, embedding.dim)
    _refuse_uninformed(problem)
    chosen = choose_backend(backend, device, dtype, n_pairs=problem.n_pairs)
    factors = [context.factor for context in rows]
    weights = {context.name: context.weight for context in rows}
    with chosen.limited_threads(), np.errstate(over="ignore", invalid="ignore"):
        vectors = solve_labels(chosen, problem, None, factors, weights).W
        vectors = vectors.astype(embedding.vectors.dtype)
    _refuse_overflow(labels, vectors)
    kept = [context.learned(labels, context.weight, context.factor) for context in rows]
    return embedding.with_rows(labels, vectors, kept, names or {})


def _refuse_foreign(given: Iterable[str], embedding: LabelEmbedding) -> None:
    """Refuse a context that the fit did not have."""
    fitted = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    for name in given:
        if name not in fitted:
            raise ContextError(
                f"the fit had no context {name!r}.{did_you_mean(name, fitted)} It had "
                f"{some(fitted)}; set name= to the one that the new rows belong to."
            )


def _refuse_overflow(labels: tuple[str, ...], vectors: Floats) -> None:
    """Refuse labels whose vectors are not finite in the precision of the embedding."""
    broken = [labels[i] for i in np.flatnonzero(~np.isfinite(vectors).all(axis=1))]
    if broken:
        raise NumericalError(
            f"the vectors of {some(broken)} would exceed {vectors.dtype}; {TOO_LARGE}"
        )


def _refuse_uninformed(problem: Problem) -> None:
    """Refuse labels about which no context with a weight knows anything."""
    informed = np.zeros(len(problem.labels), dtype=bool)
    for context in problem.contexts:
        if context.weight > 0:
            informed |= context.observed
    if not informed.all():
        unknown = [problem.labels[i] for i in np.flatnonzero(~informed)]
        raise ContextError(
            f"no context of the fit says anything about {some(unknown)}; give a "
            "parent, an attribute or another entry that the fit knows."
        )
