"""Fit relational contexts whose factors no single process can hold."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phcle.backends.protocol import choose_backend
from phcle.backends.shard_exchange import KINDS, ShardExchange
from phcle.contexts.base.penalties import Penalties
from phcle.errors import (
    BackendError,
    ContextError,
    ConvergenceWarning,
    FileError,
    OptionError,
)
from phcle.files.writing import make_folder
from phcle.options import DEFAULTS, check_options
from phcle.solver.problem import State
from phcle.solver.rows import solve_rows
from phcle.solver.settings import Setting
from phcle.solver.shard_files import INDEX, ShardedFactors, ShardFolder
from phcle.solver.sharded_problem import CountRows, ShardedProblem, ShardSamples
from phcle.solver.sharded_start import start_shards
from phcle.solver.sweep import MajoriseSolver, run

__all__ = ["fit_shards"]

SAMPLE = 2048
"""Columns in the first sample of a sampled fit; it grows with the sweeps."""

LAST_SAMPLE = 16_384
"""Columns in the sample of the last solve of a sampled fit. Its rows are the result, so
it is larger than that of any sweep."""

EXACT_PAIRS = 10**9
"""mode="auto" samples contexts with more pairs of labels and columns than this."""

LAST_TOL, MOST_STEPS = 1e-4, 50
"""The last solve ends when rows move by at most this share, or after so many steps."""


KEPT = ("negatives", "ridge", "context_ridge", "mode", "init", "dtype", "random_state")
"""Options that a resumed fit must share with the checkpoint."""

ALLOWED = (*KEPT, "dim", "backend", "device", "max_iter", "tol")
"""All options; PHCLE has others, for contexts that are not in shards."""


def fit_shards(
    contexts: CountRows | Sequence[CountRows],
    n_labels: int,
    folder: str | Path,
    *,
    n_parts: int | None = None,
    resume: bool = False,
    checkpoint_every: float = 300.0,
    on_step: Callable[[State], None] | None = None,
    **options: Any,
) -> ShardedFactors:
    """Learn one vector per label, with every process holding its own rows only.

    Start it with `torchrun`, in every process alike. Labels and columns are divided
    into parts; each process owns some parts, with their counts and vectors, and gets
    other vectors block by block. Without `torchrun`, one process owns all parts.

    Parameters
    ----------
    contexts : CountRows or sequence of CountRows
        Relational contexts, read some rows at a time.
    n_labels : int
        Number of labels: rows of every context.
    folder : str or Path
        A folder that all processes see, for checkpoints and the result.
    n_parts : int, optional
        Number of parts, at least that of processes. Fits with the same number of parts
        make the same sweeps with any number of processes. By default, that of processes
        at the start.
    resume : bool, default False
        Continue from the last checkpoint in the folder, with any number of processes up
        to that of parts.
    checkpoint_every : float, default 300.0
        Seconds between two checkpoints.
    on_step : callable, optional
        Called with the state after each sweep. Its factors are the own rows.
    **options : dict
        Options of `PHCLE`: `dim`, `negatives`, `ridge`, `context_ridge`, `mode`,
        `init`, `backend`, `device`, `dtype`, `max_iter`, `tol` and `random_state`.

    Returns
    -------
    ShardedFactors
        The result, read from the folder some rows at a time.

    Examples
    --------
    >>> import scipy.sparse as sp, tempfile
    >>> counts = sp.random_array((30, 30), density=0.3, rng=0)
    >>> rows = CountRows.from_matrix("seen together", counts + counts.T)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit_shards(rows, 30, folder, dim=4).vectors(0, 2).shape
    (2, 4)
    """
    given = [contexts] if isinstance(contexts, CountRows) else list(contexts)
    chosen = _checked(options, given)
    exchange = ShardExchange()
    folder = make_folder(Path(folder))
    n_parts = _n_parts(folder, n_parts, exchange.size, resume=resume)
    setting = Setting()
    dim = setting.dim if chosen["dim"] == "auto" else int(chosen["dim"])
    k = chosen["negatives"]
    penalties = Penalties(
        negatives=float(setting.negatives if k == "auto" else k),
        descriptive=0.0,
        sparsity=0.0,
        ridge=float(chosen["ridge"]),
        context_ridge=float(chosen["context_ridge"]),
    )
    pairs = sum(n_labels * rows.n_columns for rows in given)
    backend = choose_backend(
        chosen["backend"],
        chosen["device"],
        chosen["dtype"],
        n_pairs=pairs // exchange.size,
    )
    backend.processes = exchange
    with (
        nullcontext() if exchange.size == 1 else backend.limited_threads(),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        device = ShardedProblem(
            exchange, backend, given, n_labels, n_parts, penalties, dim
        )
        about = {
            "n_labels": n_labels,
            "dim": dim,
            "n_parts": n_parts,
            "columns": {rows.name: rows.n_columns for rows in given},
            "options": {name: chosen[name] for name in KEPT},
        }
        files = ShardFolder(folder, exchange, device.layouts, device.digests, about)
        is_sampled = chosen["mode"] == "sampled" or (
            chosen["mode"] == "auto" and pairs > EXACT_PAIRS
        )
        seed = int(chosen["random_state"])
        samples = ShardSamples(device, SAMPLE, seed) if is_sampled else None
        solver = _ShardedSolver(device, tol=float(chosen["tol"]), samples=samples)
        state = _first_state(solver, files, chosen, resume=resume)
        clock = _Clock(exchange, checkpoint_every)

        def remember(new: State) -> None:
            if clock.is_time():
                _write(files, new, f"sweep-{new.iteration:05}", backend)
            if on_step is not None:
                on_step(new)

        state = run(solver, state, max_iter=int(chosen["max_iter"]), on_step=remember)
        if not solver.converged(state) and exchange.rank == 0:
            warnings.warn(
                f"not converged after {state.iteration} sweeps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        _write(files, state, f"sweep-{state.iteration:05}", backend)
        state = _last_solve(solver, state)
        _write(files, state, "result", backend, is_finished=True)
    return ShardedFactors.open(folder)


def _checked(options: dict[str, Any], contexts: Sequence[CountRows]) -> dict[str, Any]:
    """All options with their defaults."""
    for name in options:
        if name not in ALLOWED:
            raise OptionError(
                f"fit_shards has no option {name!r}; it has {', '.join(ALLOWED)}."
            )
    chosen = {**{name: DEFAULTS[name] for name in ALLOWED}, **options}
    check_options(chosen)
    if chosen["init"] == "ones":
        raise OptionError("fit_shards starts from init='spectral' or 'random'.")
    names = [rows.name for rows in contexts]
    if not names or len(set(names)) < len(names):
        raise ContextError("fit_shards needs contexts with different names.")
    return chosen


def _n_parts(folder: Path, n_parts: int | None, size: int, *, resume: bool) -> int:
    """The number of parts: as given, as before, or that of processes."""
    if (folder / INDEX).exists() != resume:
        raise FileError(
            f"{folder}: has no checkpoint to resume."
            if resume
            else f"{folder}: there is a fit already; resume it (resume=True), or give "
            "another folder."
        )
    if n_parts is None:
        n_parts = ShardedFactors.open(folder).n_parts if resume else size
    if n_parts < size:
        raise BackendError(
            f"{size} processes cannot share {n_parts} parts; start at most {n_parts}."
        )
    return n_parts


class _Clock:
    """Says when to write; the first process decides for all."""

    def __init__(self, exchange: ShardExchange, every: float) -> None:
        self.exchange, self.every, self.last = exchange, every, time.monotonic()

    def is_time(self) -> bool:
        """Whether the last checkpoint is old enough."""
        is_old = time.monotonic() - self.last >= self.every
        if not self.exchange.any_of(is_old and self.exchange.rank == 0):
            return False
        self.last = time.monotonic()
        return True


class _ShardedSolver(MajoriseSolver):
    """The usual sweeps; the history also says how many bytes all processes sent."""

    device: ShardedProblem

    def step(self, state: State) -> State:
        exchange = self.device.exchange
        before = Counter(exchange.sent)
        state = super().step(state)
        own = [exchange.sent[kind] - before[kind] for kind in KINDS]
        sent = exchange.sum_over(np.array(own, np.float64))
        named = {f"sent:{x}": float(n) for x, n in zip(KINDS, sent, strict=True)}
        *before_it, record = state.history
        return replace(state, history=(*before_it, {**record, **named}))


def _first_state(
    solver: _ShardedSolver, files: ShardFolder, chosen: dict[str, Any], *, resume: bool
) -> State:
    """The state of the last checkpoint, or the start."""
    device = solver.device
    names = device.problem.names
    if resume:
        found, factors = files.read()
        W, *others = map(device.backend.asarray, factors)
        n_sweeps = int(found.is_finished)  # the last record is that of the last solve
        history = found.history[: len(found.history) - n_sweeps]
        return State(W, tuple(others), found.weights, history)
    weights = dict.fromkeys(names, 1 / len(names))
    W, *others = start_shards(
        device, weights, chosen["init"], int(chosen["random_state"])
    )
    return State(W, tuple(others), weights)


def _last_solve(solver: _ShardedSolver, state: State) -> State:
    """Bring every row of W to its optimum, with the other factors fixed."""
    device, samples = solver.device, solver.samples
    began = time.perf_counter()
    drawn = None
    if isinstance(samples, ShardSamples):
        drawn = samples.draw_about(LAST_SAMPLE, state.iteration).columns
    solved = solve_rows(
        device.backend,
        state.W,
        device.labels.views(state.factors, state.weights, samples=drawn),
        device.problem.penalties.ridge,
        device.labels.blocks,
        tol=LAST_TOL,
        max_iter=MOST_STEPS,
    )
    return solver.advance(state, solved.factor, state.factors, solved.values, began)


def _write(
    files: ShardFolder,
    state: State,
    name: str,
    backend: Any,
    *,
    is_finished: bool = False,
) -> None:
    factors = [backend.to_numpy(part) for part in (state.W, *state.factors)]
    files.write(name, factors, state.weights, state.history, is_finished=is_finished)
