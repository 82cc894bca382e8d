"""Each row against its own few columns, in one Triton kernel: nothing is gathered.

A program has one row, or a part of its entries if there are few rows and many entries.
It reads the rows of Z at the row's columns, a block at a time, and uses each of them
for the product with y and for the weighted sum. Plain torch would write them to memory
first, (rows, width, d), and read them again for both. Parts of a row are added
afterwards, always in the same order.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from phcle.backends.pairs import KnownEntries

BLOCK, FEW = 4096, 8
"""Numbers of Z that a program holds at once, 32 for each of its threads, and entries of
a block where no row has more."""

PROGRAMS, FEWEST_ENTRIES = 2048, 128
"""Programs that keep a GPU busy: fewer rows than this share out their entries, but none
has fewer entries than this."""

DOTS, SUMS, BENT = (tl.constexpr(i) for i in range(3))


# Sizes differ from block to block, and must not be compiled for one by one.
@triton.jit(do_not_specialize=["n_rows", "width", "part"])
def _kernel(  # type: ignore[no-untyped-def]
    y_at,
    z_at,
    columns_at,
    weights_at,
    result_at,
    n_rows,
    width,
    part,  # entries of a program
    dim,
    BLOCK_ENTRIES: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    WHAT: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    number = tl.program_id(1).to(tl.int64)
    d = tl.arange(0, BLOCK_DIM)
    in_row = d < dim
    total = tl.zeros((BLOCK_ENTRIES, BLOCK_DIM), dtype=z_at.dtype.element_ty)
    own = tl.load(y_at + row * dim + d, mask=in_row, other=0.0)
    start = number * part
    stop = tl.minimum(start + part, width)
    for first in range(start, stop, BLOCK_ENTRIES):
        entry = first + tl.arange(0, BLOCK_ENTRIES)
        is_entry = entry < stop
        at = row * width + entry
        column = tl.load(columns_at + at, mask=is_entry, other=0)
        places = z_at + column[:, None] * dim + d[None, :]
        z = tl.load(places, mask=is_entry[:, None] & in_row[None, :], other=0.0)
        if WHAT == DOTS:
            tl.store(result_at + at, tl.sum(z * own[None, :], axis=1), mask=is_entry)
        else:
            weight = tl.load(weights_at + at, mask=is_entry, other=0.0)
            if WHAT == BENT:
                weight *= tl.sum(z * own[None, :], axis=1)
            total += weight[:, None] * z
    if WHAT != DOTS:
        places = result_at + (number * n_rows + row) * dim + d
        tl.store(places, tl.sum(total, axis=0), mask=in_row)


class FusedEntries(KnownEntries):
    """Sums over the known entries of a block, each row with its own columns.

    Parameters
    ----------
    xp : module
        The array-API namespace.
    columns : Tensor of shape (rows, width)
        Positions of the known columns, in 64 bits.
    other : Tensor of shape (columns, d)
        Z.
    """

    def __init__(self, xp: Any, columns: torch.Tensor, other: torch.Tensor) -> None:
        super().__init__(xp, columns.contiguous(), other.contiguous())
        n_rows, width = columns.shape
        most = PROGRAMS // max(n_rows, 1)
        self.n_parts = max(1, min(most, width // FEWEST_ENTRIES))

    def dots(self, y: torch.Tensor) -> torch.Tensor:
        """y·z_c for every known column: (rows, width)."""
        result = self.other.new_empty(self.columns.shape)
        self._launch(y, self.other, result, DOTS)
        return result

    def sums(self, weights: torch.Tensor) -> torch.Tensor:
        """Σ_c weight_c z_c for every row: (rows, d)."""
        return self._summed(self.other, weights, SUMS)

    def bent(self, weights: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Σ_c weight_c (y·z_c) z_c for every row: (rows, d)."""
        return self._summed(y, weights, BENT)

    def _summed(
        self, y: torch.Tensor, weights: torch.Tensor, what: tl.constexpr
    ) -> torch.Tensor:
        """Sums of each part of the entries, added up."""
        shape = (self.n_parts, len(self.columns), self.other.shape[1])
        result = self.other.new_empty(shape)
        self._launch(y, weights, result, what)
        return result[0] if self.n_parts == 1 else result.sum(dim=0)

    def _launch(
        self,
        y: torch.Tensor,
        weights: torch.Tensor,
        result: torch.Tensor,
        what: tl.constexpr,
    ) -> None:
        (n_rows, width), dim = self.columns.shape, self.other.shape[1]
        if not n_rows:
            return
        block_dim = triton.next_power_of_2(dim)
        block = FEW if width <= FEW else max(BLOCK // block_dim, FEW)
        _kernel[(n_rows, self.n_parts)](
            y.contiguous(),
            self.other,
            self.columns,
            weights.contiguous(),
            result,
            n_rows,
            width,
            triton.cdiv(width, self.n_parts),
            dim,
            BLOCK_ENTRIES=block,
            BLOCK_DIM=block_dim,
            WHAT=what,
            num_warps=1 if width <= FEW else 4,
        )
