"""A problem in shards: counts are read by the process that owns them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.backends.protocol import Array, Backend
from phcle.backends.row_blocks import Block
from phcle.backends.shard_exchange import Layout, ShardExchange
from phcle.contexts.base.penalties import UNITS, Penalties
from phcle.contexts.relational.column_sampling import draw_in_parts
from phcle.contexts.relational.shard_blocks import MOST_ROWS, cut_blocks
from phcle.contexts.relational.sharded import ShardedRelational, ShardedTerm
from phcle.contexts.terms import Sample
from phcle.errors import ContextError, some
from phcle.files.numpy_arrays import map_npy
from phcle.solver.column_samples import GROWS_EVERY, ColumnSamples, Drawn
from phcle.solver.problem import DeviceProblem, LabelRows, Problem, penalty_terms

__all__ = ["CountRows", "ShardSamples", "ShardedProblem"]

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CountRows:
    """Counts of a relational context that are read some rows at a time.

    Parameters
    ----------
    name : str
        Name of the context.
    n_columns : int
        Number of columns.
    read : callable
        Takes the first label and the end of a range of labels, as positions, and
        returns their counts as a sparse array of shape (labels, columns).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> rows = CountRows.from_matrix("seen", sp.eye_array(5, format="csr"))
    >>> rows.n_columns, rows.read(1, 3).shape
    (5, (2, 5))
    """

    name: str
    n_columns: int
    read: Callable[[int, int], Any]

    @classmethod
    def from_matrix(cls, name: str, counts: Any) -> CountRows:
        """Take rows from a matrix in memory.

        Parameters
        ----------
        name : str
            Name of the context.
        counts : sparse array of shape (labels, columns)
            The counts.

        Returns
        -------
        CountRows
            The rows of the matrix.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> counts = sp.csr_array([[0, 2, 1], [2, 0, 0]])
        >>> CountRows.from_matrix("seen", counts).read(1, 2).toarray()
        array([[2, 0, 0]])
        """
        matrix = sp.csr_array(counts)
        return cls(name, matrix.shape[1], lambda start, stop: matrix[start:stop])

    @classmethod
    def from_npy(cls, name: str, folder: str | Path, n_columns: int) -> CountRows:
        """Read rows of a matrix on disk: `indptr.npy`, `indices.npy` and `data.npy`.

        Parameters
        ----------
        name : str
            Name of the context.
        folder : str or Path
            Folder with the three arrays of a matrix in CSR form.
        n_columns : int
            Number of columns.

        Returns
        -------
        CountRows
            The rows; every process reads its own only.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp, tempfile
        >>> counts = sp.csr_array([[0, 2, 1], [2, 0, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for part in ("indptr", "indices", "data"):
        ...         np.save(f"{folder}/{part}.npy", getattr(counts, part))
        ...     CountRows.from_npy("seen", folder, 3).read(1, 2).toarray()
        array([[2, 0, 0]])
        """
        return cls(name, n_columns, partial(_read_npy, Path(folder), n_columns))


def _read_npy(folder: Path, n_columns: int, start: int, stop: int) -> sp.csr_array:
    """Read some rows of a matrix in CSR form."""
    indptr, indices, data = (
        map_npy(folder / f"{part}.npy") for part in ("indptr", "indices", "data")
    )
    edges = np.array(indptr[start : stop + 1])
    a, b = int(edges[0]), int(edges[-1])
    parts = np.array(data[a:b]), np.array(indices[a:b]), edges - a
    return sp.csr_array(parts, shape=(stop - start, n_columns))


class ShardedProblem(DeviceProblem):
    """Relational contexts in shards, for the solver that also serves one process.

    Parameters
    ----------
    exchange : ShardExchange
        The processes.
    backend : Backend
        Where to compute.
    contexts : sequence of CountRows
        The contexts.
    n_labels : int
        Labels in all.
    n_parts : int
        Parts into which labels and columns are divided.
    penalties : Penalties
        The λ's and k.
    dim : int
        Length of a vector.

    Attributes
    ----------
    layouts : list of Layout
        Layout of the labels, and of the columns of each context.
    digests : dict of int to str
        A hash of the counts of each own part.
    """

    def __init__(
        self,
        exchange: ShardExchange,
        backend: Backend,
        contexts: Sequence[CountRows],
        n_labels: int,
        n_parts: int,
        penalties: Penalties,
        dim: int,
    ) -> None:
        self.backend, self.exchange = backend, exchange
        labels = exchange.layout(n_labels, n_parts)
        columns = [exchange.layout(rows.n_columns, n_parts) for rows in contexts]
        self.layouts = [labels, *columns]
        counts = [_read(rows, labels) for rows in contexts]
        self.digests = {
            number: _digest([x[a - labels.start : b - labels.start] for x in counts])
            for number, a, b in labels.parts
        }
        _refuse_empty(exchange, labels, counts)
        blocks = cut_blocks(exchange, backend, labels, counts, dim)
        found = []
        for rows, own, layout in zip(contexts, counts, columns, strict=True):
            n_known = np.count_nonzero(np.diff(own.indptr))
            total, n_known = exchange.sum_over(np.array([own.sum(), n_known]))
            scale = UNITS * n_known / total
            own.data *= scale
            found.append(
                self._shard(rows.name, own, scale, blocks, layout, penalties, dim)
            )
        n_own = labels.stop - labels.start
        # Names of labels and columns stay outside; the solver only counts them.
        nameless = cast("tuple[str, ...]", range(n_own))
        self.problem = Problem(nameless, tuple(found), penalties, dim)
        self.labels = _OwnRows(self.problem, blocks)
        self.updates = [
            context.factor_update(backend, dim, penalties) for context in found
        ]

    def _shard(
        self,
        name: str,
        counts: sp.csr_array,
        scale: float,
        blocks: list[Block],
        columns: Layout,
        lam: Penalties,
        dim: int,
    ) -> ShardedRelational:
        """Arrange scaled counts by own labels and by own columns."""
        exchange, backend, labels = self.exchange, self.backend, self.layouts[0]
        turned = _turned(exchange, counts, labels, columns)
        row_mass, column_mass = (
            np.asarray(x.sum(axis=1), np.float64).ravel() for x in (counts, turned)
        )
        total = float(exchange.sum_over(column_mass.sum()[None])[0])
        column_blocks = cut_blocks(exchange, backend, columns, [turned], dim)

        def term(
            own: sp.csr_array,
            mass: Doubles,
            other_mass: Doubles,
            cut: list[Block],
            others: Layout,
        ) -> ShardedTerm:
            rate = lam.negatives * mass / total
            return ShardedTerm(exchange, backend, own, rate, other_mass, cut, others)

        return ShardedRelational(
            name=name,
            columns=cast("tuple[str, ...]", range(columns.n_rows)),
            data=None,
            column_mass=column_mass,
            total=total,
            scale=scale,
            own_row_mass=row_mass,
            label_rows=term(counts, row_mass, column_mass, blocks, columns),
            column_rows=term(turned, column_mass, row_mass, column_blocks, labels),
            column_blocks=column_blocks,
        )

    def penalties(self, W: Array, factors: Sequence[Array]) -> dict[str, float]:
        """Compute the penalties λ2, λ3 and λ4 over all processes."""
        own = penalty_terms(self.backend.xp, self.problem, W, factors)
        sums = self.exchange.sum_over(np.array(list(own.values())))
        return dict(zip(own, map(float, sums), strict=True))

    def gram(self, factor: Array) -> Array:
        """Compute factorᵀ factor over all processes, in double precision.

        Some rows at a time, because a copy in double precision is twice as large.
        """
        own = np.zeros((factor.shape[1], factor.shape[1]))
        for start in range(0, factor.shape[0], MOST_ROWS):
            part = super().gram(factor[start : start + MOST_ROWS])
            own += self.backend.to_numpy(part)
        return self.backend.with_dtype("float64").asarray(self.exchange.sum_over(own))


class _OwnRows(LabelRows):
    """The terms of all contexts for the rows of W that this process owns."""

    def __init__(self, problem: Problem, blocks: list[Block]) -> None:
        self.problem, self.blocks = problem, blocks
        contexts = cast("tuple[ShardedRelational, ...]", problem.contexts)
        self.terms = [context.label_rows for context in contexts]


class ShardSamples(ColumnSamples):
    """Draws samples of every sweep, each part by itself.

    Parameters
    ----------
    device : ShardedProblem
        The problem.
    n : int
        Number of columns at the first sweep.
    seed : int
        Seed of the samples.
    """

    def __init__(self, device: ShardedProblem, n: int, seed: int) -> None:
        super().__init__(device.problem, n, seed)
        self.layouts = device.layouts
        self.totals = [context.total for context in device.problem.contexts]  # type: ignore[attr-defined]

    def draw(self, sweep: int) -> Drawn:
        """Draw the samples of a sweep; they grow during the fit."""
        return self.draw_about(self.n * (1 + sweep // GROWS_EVERY), sweep)

    def draw_about(self, n: int, sweep: int) -> Drawn:
        """Draw samples of a given size.

        Parameters
        ----------
        n : int
            About how many labels or columns to draw.
        sweep : int
            Part of the seed.

        Returns
        -------
        Drawn
            A sample for each context; positions are among the own rows.
        """
        labels, *columns = self.layouts
        found: tuple[list[Sample | None], list[Sample | None]] = ([], [])
        for i, (masses, total) in enumerate(zip(self.masses, self.totals, strict=True)):
            assert masses is not None
            for side, layout in enumerate((labels, columns[i])):
                seed = [self.seed, sweep, i, side]
                parts = [
                    (x, a - layout.start, b - layout.start) for x, a, b in layout.parts
                ]
                found[side].append(
                    None
                    if n >= layout.n_rows
                    else draw_in_parts(masses[side].mass, parts, n, total, seed)
                )
        return Drawn(*found)


def _read(rows: CountRows, labels: Layout) -> sp.csr_array:
    """Read and check the counts of the own labels, part by part."""
    parts = []
    for _, a, b in labels.parts:
        part = sp.csr_array(rows.read(a, b), dtype=np.float64)
        if part.shape != (b - a, rows.n_columns):
            raise ContextError(
                f"context {rows.name!r}: read({a}, {b}) must return "
                f"{b - a} × {rows.n_columns} counts. Got {part.shape} instead."
            )
        if not (np.isfinite(part.data).all() and (part.data >= 0).all()):
            raise ContextError(
                f"context {rows.name!r}: counts of labels {a} to {b} must be finite "
                "numbers of 0 or more."
            )
        part.sum_duplicates()
        part.eliminate_zeros()
        parts.append(part)
    if not parts:
        return sp.csr_array((0, rows.n_columns), dtype=np.float64)
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _refuse_empty(
    exchange: ShardExchange, labels: Layout, counts: Sequence[sp.csr_array]
) -> None:
    """Refuse labels without a count, whose vectors would be zero."""
    known = np.any([np.diff(own.indptr) > 0 for own in counts], axis=0)
    empty = np.flatnonzero(~known) + labels.start
    n_empty = int(exchange.sum_over(np.array([len(empty)]))[0])
    if n_empty:
        own = f": {some(list(map(str, empty)))}" if len(empty) else ""
        raise ContextError(
            f"{n_empty} labels have no count in any context{own}; leave them out."
        )


def _turned(
    exchange: ShardExchange, counts: sp.csr_array, labels: Layout, columns: Layout
) -> sp.csr_array:
    """Counts of the own columns, (own columns, all labels), from all processes."""
    edges = [(a - labels.start, b - labels.start) for _, a, b in labels.parts]
    edges += [(0, 0)] * (exchange.most(len(edges)) - len(edges))
    got = []
    for a, b in edges:
        entries = sp.coo_array(counts[a:b])
        rows, at = (x.astype(np.int64) for x in entries.coords)
        owner = np.searchsorted(columns.bounds, at, side="right") - 1
        got.append(
            exchange.send_to_owners(owner, rows + a + labels.start, at, entries.data)
        )
    rows, at, data = (np.concatenate([part[i] for part in got]) for i in range(3))
    shape = (columns.stop - columns.start, labels.n_rows)
    turned = sp.csr_array((data, (at - columns.start, rows)), shape=shape)
    turned.sort_indices()
    return turned


def _digest(parts: Sequence[sp.csr_array]) -> str:
    """A short hash of some rows of all contexts."""
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        for array in (part.indptr, part.indices):
            whole.update(np.ascontiguousarray(array, np.int64).tobytes())
        whole.update(np.ascontiguousarray(part.data).tobytes())
    return whole.hexdigest()
