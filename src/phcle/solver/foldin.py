"""Add labels to an embedding: solve their rows of W while everything else is fixed.

With C and U fixed, each label is a small convex problem. `fit` ends with the same solve
for its own labels. So a training label that is folded in again gets its own vector
back, and similarities can be explained exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.base.context import Context
from phcle.contexts.base.penalties import Penalties
from phcle.contexts.readers.files_to_contexts import ReadContexts
from phcle.contexts.terms import Curvature, LinearUpdate, Sample
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, NumericalError, did_you_mean, some
from phcle.solver.column_samples import ColumnSamples
from phcle.solver.problem import LabelRows, Problem, penalty_terms
from phcle.solver.rows import Updated, solve_rows

__all__ = ["Solved", "fold_in", "solve_labels", "solves_sample"]

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


SOLVED_PAIRS, SOLVED_COLUMNS, SOLVED_TOL, SOLVED_STEPS = 10**13, 1 << 19, 1e-3, 5
"""Above so many pairs, a GPU ends with a sample of so many columns, to this tolerance,
after so many steps at most: all pairs would take minutes for each step. Rows then end
within about 1e-3 of their length from the exact optimum, so smaller steps, and products
in full precision, would be wasted."""

FORESEEN_PAIRS = 10**11
"""Above so many pairs, a step that is known to be short enough is not made: it would
take a second or more on a GPU."""

MOST_STEPS = 50
"""Most Newton steps of a row. Few rows need more than ten."""

KEPT_TURNS, MOST_TURNS = 6, {"float32": 20, "float64": 100}
"""How many turns between W and the nodes of families are remembered, and the most turns
that are made. With six remembered, 5 to 15 are usual."""

NODES_TOL = {"float32": 1e-3, "float64": 0.0}
"""Least tolerance of the nodes. Some directions hardly change a prediction; rounding
errors of the rows keep the nodes moving along these."""

RESPONSE_SOLVED, MOST_RESPONSE_STEPS = 0.03, 50
"""Conjugate gradients for the joint response of rows and nodes end at this share of the
residual, or after this many steps. The curvature is a mean over rows, so a more exact
response would save no turn."""


@dataclass(frozen=True)
class Solved:
    """Label vectors at their optimum, in the precision of the last steps.

    Attributes
    ----------
    W : array of shape (labels, dim)
        Label vectors.
    factors : tuple of arrays
        The factor of each context.
    values : array of shape (contexts,)
        The value of each context's term.
    penalties : mapping from str to float
        The penalties there.
    """

    W: Floats
    factors: tuple[Floats, ...]
    values: Floats
    penalties: Mapping[str, float]


@dataclass(frozen=True)
class _Stage:
    """Newton steps on one back end until rows move by at most `tol`."""

    backend: Backend
    tol: float
    samples: list[Sample | None] | None = None
    most_steps: int = MOST_STEPS


def solve_labels(
    backend: Backend,
    problem: Problem,
    start: Floats | None,
    factors: Sequence[Floats],
    weights: Mapping[str, float],
    *,
    tol: float = 1e-4,
    settle: bool = False,
    rows: LabelRows | None = None,
) -> Solved:
    """Find the best W for fixed factors.

    On a GPU, more than 10¹³ pairs are represented by a sample of their columns; see
    `solves_sample`.

    Parameters
    ----------
    backend : Backend
        Where to compute.
    problem : Problem
        Labels and contexts.
    start : array of shape (labels, dim), or None
        Where the rows begin, on any device; None is zero.
    factors : sequence of arrays
        One for each context, on any device.
    weights : mapping
        α and β by context.
    tol : float, default 1e-4
        A row is done when a Newton step moves it by at most this share of its length.
    settle : bool, default False
        Solve the nodes of families together with W, until neither moves.
    rows : LabelRows, optional
        The terms of this problem, if they are on the back end already.

    Returns
    -------
    Solved
        The rows and factors, and the value of each term.
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
            if before is not None:
                factors = [before.to_numpy(factor) for factor in placed]
            placed = [move(factor) for factor in factors]
        if rows is None or rows.backend.dtype != stage.backend.dtype:
            rows = LabelRows(stage.backend, problem)
        elif rows.backend is not stage.backend:
            rows = rows.on(stage.backend)
        solved = solve_rows(
            stage.backend,
            move(W),
            rows.views(placed, weights, samples=stage.samples),
            problem.penalties.ridge,
            rows.blocks,
            tol=stage.tol,
            max_iter=stage.most_steps,
            foresee=problem.n_pairs > FORESEEN_PAIRS,
        )
        if settle and any(context.turns_with_labels for context in problem.contexts):
            solved, placed = _settle(stage, rows, solved, placed, weights)
        W, before = solved.factor, stage.backend
    penalties = penalty_terms(stage.backend.xp, problem, W, placed)
    W = stage.backend.to_numpy(W)
    factors = tuple(map(stage.backend.to_numpy, placed))
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
    return Solved(W, factors, solved.values, penalties)


def _settle(
    stage: _Stage,
    rows: LabelRows,
    solved: Updated,
    factors: list[Any],
    weights: Mapping[str, float],
) -> tuple[Updated, list[Any]]:
    """Solve W and the nodes of families together, until neither moves.

    Plain turns between them would crawl: nodes follow rows, which follow nodes. So a
    turn solves for the joint response of both, with a mean curvature for each block of
    rows. Anderson's method combines the last few turns, which makes up for the mean.
    """
    backend, problem = stage.backend, rows.problem
    families = [
        i for i, context in enumerate(problem.contexts) if context.turns_with_labels
    ]
    joint = _JointResponse(backend, rows, solved.factor, factors, weights, families)
    tol = max(stage.tol, NODES_TOL[backend.dtype])

    def solve(start: Any, max_iter: int) -> Updated:
        return solve_rows(
            backend,
            start,
            rows.views(factors, weights),
            problem.penalties.ridge,
            rows.blocks,
            tol=stage.tol,
            max_iter=max_iter,
        )

    tried: list[Floats] = []
    found: list[Floats] = []
    for _ in range(MOST_TURNS[backend.dtype]):
        nodes = [factors[i] for i in families]
        tried.append(_on_host(backend, nodes))
        found.append(_on_host(backend, joint.improved(solved.factor, nodes)))
        tried, found = tried[-KEPT_TURNS:], found[-KEPT_TURNS:]
        mixed = _mix(tried, found)
        left = max(np.linalg.norm(x - tried[-1]) for x in (found[-1], mixed))
        if left <= tol * np.linalg.norm(mixed):
            break
        edges = np.cumsum([0, *(len(x) for x in nodes)])
        for i, a, b in zip(families, edges, edges[1:], strict=False):
            factors[i] = backend.asarray(mixed[a:b])
        moves = [factors[i] - x for i, x in zip(families, nodes, strict=True)]
        start = solved.factor + joint.rows_after(moves)
        solved = solve(start, max_iter=1)
    return solve(solved.factor, MOST_STEPS), factors


def _on_host(backend: Backend, parts: Sequence[Any]) -> Floats:
    return np.concatenate([np.asarray(backend.to_numpy(x), np.float64) for x in parts])


class _JointResponse:
    """How rows and nodes answer to each other, with a mean curvature for each block.

    If nodes P = A⁻¹ Sᵀ W move by p, rows move by T⁻¹ S p, where T is the curvature; the
    nodes follow, and so on. The sum of this series is p + A⁻¹ Sᵀ u with
    (T − S A⁻¹ Sᵀ) u = S p. (S is multiplied by the weight.)
    """

    def __init__(
        self,
        backend: Backend,
        rows: LabelRows,
        W: Any,
        factors: list[Any],
        weights: Mapping[str, float],
        families: list[int],
    ) -> None:
        self.backend, self.blocks = backend, rows.blocks
        xp, problem = self.backend.xp, rows.problem
        lam = problem.penalties
        self.updates = []
        for i in families:
            context = problem.contexts[i]
            weight = context.term_weight(weights[context.name], lam)
            update = context.factor_update(self.backend, problem.dim, lam)
            self.updates.append((cast(LinearUpdate, update), weight))
        views = rows.views(factors, weights)
        processes = self.backend.processes
        curvatures = np.zeros((len(self.blocks), problem.dim, problem.dim))
        for number in processes.own_blocks(len(self.blocks)):
            y = xp.take(W, self.blocks[number].at, axis=0)
            for view in views:
                mean = view.local(number, y).mean_curvature(Curvature.MATCHED)
                curvatures[number] += self.backend.to_numpy(mean)
        curvatures = processes.sum_over(curvatures) + lam.ridge * np.eye(problem.dim)
        self.curvatures = self.backend.asarray(curvatures)
        self.inverses = self.backend.asarray(np.linalg.inv(curvatures))

    def improved(self, W: Any, nodes: list[Any]) -> list[Any]:
        """Where the nodes go, if the rows W answer to them."""
        steps = [new - old for new, old in zip(self._follow(W), nodes, strict=True)]
        answers = self._follow(self._solve(self._pull(steps)))
        return [x + s + a for x, s, a in zip(nodes, steps, answers, strict=True)]

    def rows_after(self, moves: list[Any]) -> Any:
        """How the rows move, if the nodes move."""
        return self._times(self.inverses, self._pull(moves))

    def _follow(self, W: Any) -> list[Any]:
        return [update.solved(W, weight) for update, weight in self.updates]

    def _pull(self, moves: list[Any]) -> Any:
        pairs = zip(self.updates, moves, strict=True)
        return sum(update.pull(move, weight) for (update, weight), move in pairs)

    def _times(self, matrices: Any, rows: Any) -> Any:
        """Multiply every row by the matrix of its block."""
        xp = self.backend.xp
        product = xp.empty_like(rows)
        for number, block in enumerate(self.blocks):
            part = xp.take(rows, block.at, axis=0)
            product[block.at] = xp.matmul(part, matrices[number])
        return product

    def _solve(self, target: Any) -> Any:
        """Conjugate gradients for (T − S A⁻¹ Sᵀ) u = target."""
        xp = self.backend.xp

        def dot(a: Any, b: Any) -> float:
            return float(xp.sum(a * b, dtype=xp.float64))

        u, residual = xp.zeros_like(target), target
        search = self._times(self.inverses, residual)
        strength = first = dot(residual, search)
        for _ in range(MOST_RESPONSE_STEPS):
            if strength <= RESPONSE_SOLVED**2 * first:
                break
            follow = self._pull(self._follow(search))
            bent = self._times(self.curvatures, search) - follow
            length = strength / dot(search, bent)
            u, residual = u + length * search, residual - length * bent
            better = self._times(self.inverses, residual)
            renewed = dot(residual, better)
            search = better + renewed / strength * search
            strength = renewed
        return u


def _mix(tried: list[Floats], found: list[Floats]) -> Floats:
    """The next point of Anderson's method, from points and what a turn made of them."""
    if len(tried) == 1:
        return found[-1]
    steps = [(b - a).ravel() for a, b in zip(tried, found, strict=True)]
    change = np.stack([steps[-1] - step for step in steps[:-1]], axis=1)
    shares = np.linalg.lstsq(change, steps[-1], rcond=1e-8)[0]
    back = (s * (found[-1] - x) for s, x in zip(shares, found[:-1], strict=True))
    return np.asarray(found[-1] - sum(back))


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
    problem ends in double precision, a large one in the precision of the sweeps, and so
    does one for which rough steps are exact enough.
    """
    is_large = problem.n_pairs > DOUBLE_UP_TO
    rough = backend.in_half_precision() if is_large else backend
    if solves_sample(backend, problem):
        samples = ColumnSamples(problem, SOLVED_COLUMNS, seed=1).draw(0).columns
        return [_Stage(rough, max(tol, SOLVED_TOL), samples, SOLVED_STEPS)]
    is_double = not is_large and tol < ROUGH_TOL[rough.precision]
    last = backend.with_dtype("float64" if is_double else backend.dtype)
    stages = [_Stage(last, tol)]
    if (rough.dtype, rough.precision) != (last.dtype, last.precision):
        stages.insert(0, _Stage(rough, max(tol, ROUGH_TOL[rough.precision])))
    if not has_start:
        drawn = ColumnSamples(problem, SAMPLED_COLUMNS, seed=0).draw(0)
        stages.insert(0, _Stage(rough, SAMPLED_TOL, drawn.columns))
    return stages


def solves_sample(backend: Backend, problem: Problem) -> bool:
    """Tell whether the last solve takes a sample of the columns in place of all.

    Parameters
    ----------
    backend : Backend
        Where it would run.
    problem : Problem
        Labels and contexts.

    Returns
    -------
    bool
        True on a GPU above `SOLVED_PAIRS`.
    """
    return backend.is_accelerated and problem.n_pairs > SOLVED_PAIRS


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
        fit. Any context may be missing. A taxonomy needs only the new edges. If the fit
        had a context of label names, it is made from the new labels' own names.
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
    rows = []
    for learned in embedding.contexts:
        own = given.get(learned.given_name)
        if own is None:
            own = learned.from_names(labels, names or {})
        rows.append(learned.for_new_labels(own, labels))
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
    new = embedding.with_rows(labels, vectors, kept, names or {})
    match = contexts.match if isinstance(contexts, ReadContexts) else None
    if match is None:
        return new
    return replace(new, spellings={**new.spellings, **match.spellings})


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
