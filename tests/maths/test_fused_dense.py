"""The fused kernel against plain formulas, on a GPU or by Triton's interpreter."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.special import expit

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":  # must be said before Triton is imported
    os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="Triton is not installed")

from phcle.backends.kernels.fused_dense import (  # noqa: E402
    Blocking,
    fused_dense,
    fused_spread,
)
from phcle.backends.pairs import Columns  # noqa: E402
from phcle.backends.torch_backend import TorchBackend  # noqa: E402
from phcle.backends.torch_dense import FusedColumns, FusedPart  # noqa: E402

SMALL = Blocking(rows=16, columns=16, warps=4, stages=1)


def problem(rng, rows, columns, dim):
    y, z = rng.normal(size=(rows, dim)), rng.normal(size=(columns, dim))
    mass = rng.gamma(0.5, size=columns)
    trace = mass * (z**2).sum(axis=1)
    y /= np.sqrt(dim)
    x = y @ z.T
    expected = (
        np.logaddexp(x, 0) @ mass,
        (expit(x) * expit(-x)) @ (trace / trace.sum()),
        (expit(x) * mass) @ z,
    )
    move = lambda a: torch.tensor(a, dtype=torch.float32, device=DEVICE)  # noqa: E731
    return [move(a) for a in (y, z, mass)], expected


def run(y, z, mass, *, precise=True, **options):
    columns = Columns.of(TorchBackend.xp, z, mass)
    fused = FusedColumns.of(columns, precise=precise).every
    value, gradient = fused_dense(y, fused, blocking=SMALL, **options)
    spread = fused_spread(y, fused, blocking=SMALL)
    return value, spread, gradient


def relative(found, expected):
    found = found.double().cpu().numpy()
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize(
    ("rows", "columns", "dim", "splits"),
    [(1, 1, 1, 1), (5, 40, 3, 1), (17, 33, 16, 2), (33, 70, 100, 3), (3, 20, 300, 1)],
)
def test_fused_kernel_matches_the_formulas_for_any_size(
    rows, columns, dim, splits, rng
):
    tensors, expected = problem(rng, rows, columns, dim)
    found = run(*tensors, splits=splits)
    for one, other in zip(found, expected, strict=True):
        assert relative(one, other) < 2e-6


@pytest.mark.parametrize(("precise", "by"), [(True, 1e4), (False, 1e3)])
def test_values_stay_right_far_from_zero(precise, by, rng):
    tensors, _ = problem(rng, 4, 20, 4)
    tensors[0] *= by
    value, spread, gradient = run(*tensors, precise=precise)
    for found in (value, spread, gradient):
        assert bool(torch.isfinite(found).all())
    x = tensors[0].double() @ tensors[1].double().T
    expected = torch.nn.functional.softplus(x) @ tensors[2].double()
    assert torch.allclose(value.double(), expected, rtol=1e-5 if precise else 1e-2)


@pytest.mark.parametrize("by", [1e-9, 1e9])
def test_full_precision_does_not_depend_on_the_size_of_the_numbers(by, rng):
    (y, z, mass), _ = problem(rng, 30, 40, 20)
    # Rows and columns of very different lengths, and masses as well.
    length = torch.logspace(-3, 3, len(z), device=DEVICE)[:, None]
    x = y.double() @ (z * length).double().T
    value, _, gradient = run(y / by, z * length * by, mass * by)
    weighted = torch.sigmoid(x) * (mass * by).double()
    for found, true in (
        (value, torch.nn.functional.softplus(x) @ (mass * by).double()),
        (gradient, weighted @ (z * length * by).double()),
    ):
        assert relative(found, true.cpu().numpy()) < 2e-6


@pytest.mark.parametrize("precision", ["full", "mixed"])
def test_fused_part_answers_as_the_plain_one(precision, rng):
    (y, z, mass), _ = problem(rng, 20, 60, 12)
    backend = TorchBackend(DEVICE, "float32", precision)
    backend.is_fused = True
    columns = backend.columns(z, mass)
    fused = backend.dense_part(y, columns)
    assert isinstance(fused, FusedPart)
    plain = TorchBackend("cpu").dense_part(
        y.cpu(), TorchBackend("cpu").columns(z.cpu(), mass.cpu())
    )
    tolerance = 2e-3 if precision == "mixed" else 2e-6
    for name in ("value", "spread", "gradient"):
        expected = getattr(plain, name).double().cpu().numpy()
        assert relative(getattr(fused, name), expected) < tolerance
    direction = torch.tensor(rng.normal(size=(20, 12)), dtype=torch.float32)
    direction = direction.to(DEVICE)
    alone = fused.value_at(y)
    assert relative(alone, plain.value.double().cpu().numpy()) < tolerance
    product = fused.curvature()(direction)  # of halves in both precisions
    same = plain.curvature()(direction.to(plain.value.device))
    assert relative(product, same.double().cpu().numpy()) < 2e-3


@pytest.mark.parametrize("precision", ["full", "mixed"])
def test_rows_beyond_all_halves_have_finite_sums_and_no_curvature(precision, rng):
    (y, z, mass), _ = problem(rng, 20, 60, 12)
    z[:, 0] = 0.0  # infinity would meet it
    y[:] = 0.0
    y[:, :2] = 1e8
    backend = TorchBackend(DEVICE, "float32", precision)
    backend.is_fused = True
    fused = backend.dense_part(y, backend.columns(z, mass))
    assert bool(torch.isfinite(fused.gradient).all())
    assert bool((fused.curvature()(torch.ones_like(y)) == 0).all())


@pytest.mark.parametrize("by", [1e-6, 1e6])
def test_products_with_the_curvature_hold_for_numbers_of_any_size(by, rng):
    (y, z, mass), _ = problem(rng, 20, 60, 12)
    backend = TorchBackend(DEVICE)
    backend.is_fused = True
    fused = backend.dense_part(y / by, backend.columns(z * by, mass * by))
    direction = torch.tensor(rng.normal(size=(20, 12)), device=DEVICE)
    direction *= torch.logspace(-12, 12, 20, device=DEVICE)[:, None]
    direction[7] = 0.0
    sigmoid = torch.sigmoid(y.double() @ z.double().T)
    bend = sigmoid * (1 - sigmoid) * (mass * by).double()
    expected = ((direction @ (z * by).double().T) * bend) @ (z * by).double()
    products = fused.curvature()(direction.float())
    for row, one in zip(products, expected, strict=True):
        assert torch.linalg.norm(row.double() - one) <= 2e-3 * torch.linalg.norm(one)


def test_the_spread_over_many_columns_comes_from_a_fair_sample_of_them(rng):
    (y, z, mass), (_, expected, _) = problem(rng, 8, 3000, 6)
    backend = TorchBackend(DEVICE)
    backend.is_fused = True
    spread = backend.dense_part(y, backend.columns(z, mass)).spread
    assert relative(spread, expected) < 0.03
