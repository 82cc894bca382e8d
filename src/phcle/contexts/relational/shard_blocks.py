"""Blocks of a factor in shards: which rows are updated together.

A block asks other processes for the rows of the other factor at its known entries. So
the rows of a block should share many columns, and be nearly equally wide, because they
are padded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from phcle.backends.protocol import Backend
from phcle.backends.row_blocks import Block
from phcle.backends.shard_exchange import Layout, ShardExchange

__all__ = ["MOST_ROWS", "cut_blocks", "most_near"]

Rows = npt.NDArray[np.int64]

MOST_ROWS = 8192
"""Most rows of a block. More need fewer exchanges and more memory."""

MOST_GATHERED = 32_000_000
"""Most numbers in the rows at known entries of a block (rows × width × dim): 128 MB in
single precision. On a CPU twice as many as in blocks of other fits, which fit into its
cache; more blocks would need more exchanges."""

ALIKE = 1.25
"""Rows whose numbers of entries differ by at most this factor may be padded to the same
width. More would save exchanges and waste sums over padding."""

FEWEST_NEAR = 1024
"""Rows of the other factor that a process may always ask for at once, however small the
factor is. Otherwise half a part: with the rows of the next block, which come while a
block is updated, a process holds one part more than its own."""


def cut_blocks(
    exchange: ShardExchange,
    backend: Backend,
    layout: Layout,
    patterns: Sequence[sp.csr_array],
    dim: int,
) -> list[Block]:
    """Partition the rows of this process into blocks; all processes have as many.

    Parameters
    ----------
    exchange : ShardExchange
        The processes.
    backend : Backend
        Where blocks are updated.
    layout : Layout
        Parts of the rows. No block has rows of two parts.
    patterns : sequence of csr_array
        Known entries of the own rows in each context.
    dim : int
        Length of a vector.

    Returns
    -------
    list of Block
        Every own row is in one block; some blocks may be empty. A row with more known
        entries than a process may ask for, a hub, has a block of its own, after those
        of all other rows.
    """
    width = np.zeros(layout.stop - layout.start, dtype=np.int64)
    for pattern in patterns:
        width = np.maximum(width, np.diff(pattern.indptr))
    most_gathered = min(MOST_GATHERED, 2 * backend.gathered)
    allowed = [most_near(pattern.shape[1], layout.n_parts) for pattern in patterns]

    def fits(rows: Rows) -> bool:
        if len(rows) > MOST_ROWS or len(rows) * width[rows].max() * dim > most_gathered:
            return False
        return all(
            len(np.unique(pattern[rows].indices)) <= most
            for pattern, most in zip(patterns, allowed, strict=True)
        )

    usual: list[Rows] = []
    hubs: list[Rows] = []
    for _, a, b in layout.parts:
        at = slice(a - layout.start, b - layout.start)
        order = _order([pattern[at] for pattern in patterns], width[at])
        left = [at.start + order] if len(order) else []
        while left:
            rows = left.pop()
            if fits(rows):
                usual.append(np.sort(rows))
            elif len(rows) == 1:
                hubs.append(rows)
            else:
                left += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
    none = np.empty(0, dtype=np.int64)
    for blocks in (usual, hubs):  # hubs of all processes have the same numbers
        blocks += [none] * (exchange.most(len(blocks)) - len(blocks))
    return [Block(rows, backend.indices(rows)) for rows in (*usual, *hubs)]


def _order(patterns: Sequence[sp.csr_array], width: Rows) -> Rows:
    """Order rows by their width, roughly, so that neighbours share many columns.

    Blocks of such rows ask for fewer rows of the other factor. Columns that very many
    rows share say nothing about which rows are near each other.
    """
    n_rows = len(width)
    shared = sp.csr_array(sp.hstack(patterns, format="csr"))
    n_uses = np.bincount(shared.indices, minlength=shared.shape[1])
    shared = sp.csr_array(shared[:, n_uses <= max(n_rows, 1) ** 0.5])
    graph = sp.block_array([[None, shared], [shared.T, None]], format="csr")
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    order = order[order < n_rows]
    group = np.floor(np.log(np.maximum(width, 1)) / np.log(ALIKE))
    return order[np.argsort(group[order], kind="stable")].astype(np.int64)


def most_near(n_rows: int, n_parts: int) -> int:
    """Say how many rows of the other factor a process may ask for at once.

    Parameters
    ----------
    n_rows : int
        Rows of the other factor.
    n_parts : int
        Parts into which they are divided.

    Returns
    -------
    int
        The most rows.
    """
    return max(FEWEST_NEAR, n_rows // (2 * n_parts))
