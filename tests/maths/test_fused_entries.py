"""Known entries read in place, against plain formulas: on a GPU or interpreted."""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":  # must be said before Triton is imported
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="Triton is not installed")

from phcle.backends.kernels import fused_entries  # noqa: E402
from phcle.backends.kernels.fused_entries import FusedEntries  # noqa: E402


def problem(rng, rows, width, dim, n_columns=50):
    other, y = rng.normal(size=(n_columns, dim)), rng.normal(size=(rows, dim))
    columns = rng.integers(0, n_columns, (rows, width))
    weights = rng.normal(size=(rows, width)) * (rng.random((rows, width)) < 0.8)
    return other, y, columns, weights


def check(other, y, columns, weights, dtype, tol):
    move = lambda a: torch.tensor(a, dtype=dtype, device=DEVICE)  # noqa: E731
    near = FusedEntries(torch, torch.tensor(columns, device=DEVICE), move(other))
    gathered = other[columns]
    dots = np.einsum("rwd,rd->rw", gathered, y)
    expected = {
        "dots": dots,
        "sums": np.einsum("rwd,rw->rd", gathered, weights),
        "bent": np.einsum("rwd,rw->rd", gathered, weights * dots),
    }
    found = {
        "dots": near.dots(move(y)),
        "sums": near.sums(move(weights)),
        "bent": near.bent(move(weights), move(y)),
    }
    for name, right in expected.items():
        one = found[name].double().cpu().numpy()
        assert one.shape == right.shape
        far = np.linalg.norm(one - right)
        assert far <= tol * np.linalg.norm(right), name
    return near


@pytest.mark.parametrize(
    ("rows", "width", "dim"),
    [(1, 1, 1), (7, 3, 5), (5, 40, 16), (3, 9, 100), (2, 70, 128), (4, 8, 300)],
)
def test_entries_in_place_match_the_formulas_for_any_size(rows, width, dim, rng):
    check(*problem(rng, rows, width, dim), torch.float32, 1e-6)


def test_entries_of_few_long_rows_are_shared_out(rng, monkeypatch):
    monkeypatch.setattr(fused_entries, "PROGRAMS", 12)
    monkeypatch.setattr(fused_entries, "FEWEST_ENTRIES", 16)
    near = check(*problem(rng, 3, 90, 20), torch.float32, 1e-6)
    assert near.n_parts == 4


def test_entries_in_place_are_exact_in_double_precision(rng):
    check(*problem(rng, 6, 20, 24), torch.float64, 1e-14)


def test_no_rows_have_no_sums(rng):
    near = check(*problem(rng, 0, 4, 8), torch.float32, 1e-6)
    assert near.n_parts == 1


def test_rows_that_are_not_contiguous_are_read_right(rng):
    other, y, columns, weights = problem(rng, 5, 12, 16)
    move = lambda a: torch.tensor(a, device=DEVICE)  # noqa: E731
    near = FusedEntries(torch, move(columns.T.copy()).T, move(other.T.copy()).T)
    found = near.sums(move(weights.T.copy()).T).cpu().numpy()
    assert np.allclose(found, np.einsum("rwd,rw->rd", other[columns], weights))
    dots = near.dots(move(y.T.copy()).T).cpu().numpy()
    assert np.allclose(dots, np.einsum("rwd,rd->rw", other[columns], y))
