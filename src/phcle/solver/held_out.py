"""How well each context is predicted where it was held out.

Some labels of every context are hidden from a trial fit. Each is then folded in from
its other contexts and from half of the hidden columns, and the other half is predicted.
Skill is one minus the loss over the loss of a model that knows nothing (the means; no
association), and never below zero: noise gets no weight, however well it can be
over-fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Backend
from phcle.solver.foldin import solve_labels
from phcle.solver.layout import Layout
from phcle.solver.objective import softplus
from phcle.solver.problem import (
    DescriptiveData,
    Problem,
    RelationalData,
    csr_with_zeros,
)
from phcle.solver.start import start_factors
from phcle.solver.sweep import MajoriseSolver, run
from phcle.solver.weights import equal_weights

__all__ = ["draw_rows", "held_out_skills", "without_rows"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Data = RelationalData | DescriptiveData

SHARE = 0.2  # of a context's labels are held out
MOST_LABELS = 5_000  # of a trial fit
MOST = 100  # held-out labels of a context: enough for a stable ratio
TRIALS = 3  # small contexts have few labels to hold out
SWEEPS = 15  # a trial fit need not converge
TRUSTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # 0 is the model that knows nothing


class _Score:
    """Losses on held-out entries, summed over trials.

    A prediction may be right in direction and too bold, which the logistic loss
    punishes without limit. So it is trusted by the share that serves one half of the
    labels best, and judged on the other half.
    """

    def __init__(self) -> None:
        self.model = self.nothing = 0.0

    def add(self, losses: Floats) -> None:
        """Take in losses by trust and label."""
        halves = losses[:, ::2].sum(axis=1), losses[:, 1::2].sum(axis=1)
        for tuned, judged in (halves, halves[::-1]):
            self.model += float(judged[tuned.argmin()])
            self.nothing += float(judged[0])

    @property
    def skill(self) -> float:
        return max(0.0, 1 - self.model / self.nothing) if self.nothing > 0 else 0.0


def held_out_skills(
    problem: Problem, backend: Backend, *, seed: int
) -> dict[str, float]:
    """Skill of every context, between 0 (predicts nothing) and 1."""
    rng = np.random.default_rng(seed)
    scores = {name: _Score() for name in problem.names}
    whole = problem
    for _ in range(TRIALS):
        problem = _some_labels(whole, rng)
        hidden = {data.name: draw_rows(data, rng) for data in problem.data}
        trial = problem.with_data(
            problem.labels,
            [without_rows(data, hidden[data.name]) for data in problem.data],
        )
        factors = _trial_fit(trial, backend, rng)
        for data in problem.data:
            rows = hidden[data.name]
            is_given = rng.permutation(len(data.columns)) < len(data.columns) // 2
            _judge(problem, data, rows, is_given, factors, backend, scores[data.name])
    return {name: score.skill for name, score in scores.items()}


def _some_labels(problem: Problem, rng: np.random.Generator) -> Problem:
    """A part of a large problem, with as many labels of every context as it may have.

    Skills are ratios, and a few thousand labels give them as well as all would.
    """
    n = len(problem.labels)
    if n <= MOST_LABELS:
        return problem
    chosen = np.zeros(n, dtype=bool)
    each = MOST_LABELS // (2 * len(problem.data))
    for data in problem.data:
        known = np.flatnonzero(data.observed)
        chosen[rng.choice(known, min(each, len(known)), replace=False)] = True
    others = np.flatnonzero(~chosen)
    chosen[rng.choice(others, MOST_LABELS - chosen.sum(), replace=False)] = True
    rows = np.flatnonzero(chosen)
    return problem.with_data(
        [problem.labels[i] for i in rows],
        [_with_used_columns(data.take(rows)) for data in problem.data],
    )


def _with_used_columns(data: Data) -> Data:
    """A part of a relational context, with masses and columns of its own."""
    if isinstance(data, DescriptiveData):
        return data
    mass = np.asarray(data.counts.sum(axis=0)).ravel()
    used = np.flatnonzero(mass)
    return replace(
        data,
        columns=tuple(data.columns[i] for i in used),
        counts=sp.csr_array(data.counts[:, used]),
        column_mass=mass[used],
        total=float(mass.sum()) or 1.0,
    )


def draw_rows(data: Data, rng: np.random.Generator) -> Rows:
    """Some of the observed rows, but never all of them."""
    observed = np.flatnonzero(data.observed)
    n = int(np.clip(round(SHARE * len(observed)), 1, MOST))
    return np.sort(rng.choice(observed, size=min(n, len(observed) - 1), replace=False))


def without_rows(data: Data, rows: Rows) -> Data:
    """The context with some rows taken out."""
    kept = np.ones(len(data.observed), dtype=bool)
    kept[rows] = False
    if isinstance(data, DescriptiveData):
        stays = np.flatnonzero(kept[data.full_rows])
        return replace(
            data,
            full_rows=data.full_rows[stays],
            full=data.full[stays],
            entries=_only(data.entries, kept[:, None]),
        )
    counts = _only(data.counts, kept[:, None])
    # A column that lost all its labels keeps a trace of mass: B must stay positive.
    mass = np.maximum(np.asarray(counts.sum(axis=0)).ravel(), 1e-9 * data.column_mass)
    return replace(data, counts=counts, column_mass=mass, total=float(mass.sum()))


def _only(matrix: sp.csr_array, kept: npt.NDArray[np.bool_]) -> sp.csr_array:
    """The entries where a mask (rows, 1) or (1, columns) is true; zeros stay stored."""
    entries = sp.coo_array(matrix)
    rows, columns = entries.coords
    inside = np.broadcast_to(kept, matrix.shape)[rows, columns]
    return csr_with_zeros(
        rows[inside], columns[inside], entries.data[inside], matrix.shape
    )


def _trial_fit(
    problem: Problem, backend: Backend, rng: np.random.Generator
) -> tuple[Sequence[Floats], Sequence[Floats]]:
    """C and U after a short fit with equal weights."""
    weights = equal_weights(problem)
    solver = MajoriseSolver(Layout(backend, problem), tol=1e-3)
    state = solver.init(start_factors(problem, weights, "spectral", rng), weights)
    state = run(solver, state, max_iter=SWEEPS)
    return solver.layout.to_numpy(state.C), solver.layout.to_numpy(state.U)


def _judge(
    problem: Problem,
    data: Data,
    rows: Rows,
    is_given: npt.NDArray[np.bool_],
    factors: tuple[Sequence[Floats], Sequence[Floats]],
    backend: Backend,
    score: _Score,
) -> None:
    """Fold the hidden labels in from half of this context; predict the other half."""
    taken = data.take(rows)
    given, asked = _on(taken, is_given), _on(taken, ~is_given)
    known = [given if d is data else d.take(rows) for d in problem.data]
    informed = np.any([d.observed for d in known], axis=0)
    if not informed.any() or (isinstance(data, RelationalData) and not is_given.any()):
        return
    kept = np.flatnonzero(informed)
    labels = [problem.labels[i] for i in rows[kept]]
    part = problem.with_data(labels, [d.take(kept) for d in known])
    C, U = factors
    W, _ = solve_labels(
        backend,
        part,
        np.zeros((len(labels), problem.dim)),
        C,
        U,
        equal_weights(problem),
        tol=1e-2,
    )
    asked = asked.take(kept)
    factor = dict(zip(problem.names, (*C, *U), strict=True))[data.name]
    if isinstance(asked, RelationalData):
        losses = _deviances(asked, W @ factor.T, problem.penalties.negatives)
    else:
        losses = _squared_errors(asked, W, factor)
    score.add(losses)


def _on(data: Data, columns: npt.NDArray[np.bool_]) -> Data:
    """The context as if it had only some of its columns."""
    if isinstance(data, RelationalData):
        mass = np.where(columns, data.column_mass, 0.0)
        return replace(
            data,
            counts=_only(data.counts, columns[None, :]),
            column_mass=mass,
            total=float(mass.sum()) or 1.0,
        )
    # Few rows are held out, so all their values may be listed one by one.
    values = np.full(data.entries.shape, np.nan)
    full = data.full if isinstance(data.full, np.ndarray) else data.full.toarray()
    values[data.full_rows] = full - data.shift
    entries = sp.coo_array(data.entries)
    values[entries.coords] = entries.data
    r, c = np.nonzero(~np.isnan(values) & columns)
    return replace(
        data,
        full_rows=data.full_rows[:0],
        full=np.empty((0, len(data.columns))),
        shift=np.zeros(len(data.columns)),
        entries=csr_with_zeros(r, c, values[r, c], values.shape),
    )


def _deviances(data: RelationalData, x: Floats, negatives: float) -> Floats:
    """Loss above the saturated floor, by label, for every trust: (trusts, labels).

    No association is x = −log k: D = B, as for independent labels and columns.
    """
    B = negatives * np.outer(data.row_mass, data.column_mass) / data.total
    D = data.counts.toarray()
    Q = B + D
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = np.where(D > 0, Q * np.log(Q) - D * np.log(D) - B * np.log(B), 0.0)
    nothing = -np.log(negatives)
    return np.array(
        [
            (Q * softplus(trusted) - D * trusted - floor).sum(axis=1)
            for trusted in (nothing + trust * (x - nothing) for trust in TRUSTS)
        ]
    )


def _squared_errors(data: DescriptiveData, W: Floats, U: Floats) -> Floats:
    """Squared errors, by label, for every trust: (trusts, labels)."""
    entries = sp.coo_array(data.entries)
    rows, columns = entries.coords
    fitted = np.einsum("ij,ij->i", W[rows], U[columns])
    return np.array(
        [
            np.bincount(rows, (entries.data - trust * fitted) ** 2, len(W))
            for trust in TRUSTS
        ]
    )
