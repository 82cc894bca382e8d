"""What an embedding keeps of a fit besides the vectors."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from phcle.contexts.alignment import Aligned
from phcle.embedding.fitted import Fitted, FittedDescriptive, FittedRelational
from phcle.solver.problem import Problem

__all__ = ["fitted_contexts", "library_versions", "without_times"]


def fitted_contexts(
    aligned: Aligned,
    problem: Problem,
    C: Iterable[np.ndarray],
    U: Iterable[np.ndarray],
    weights: Mapping[str, float],
) -> tuple[Fitted, ...]:
    """Contexts as the embedding keeps them."""
    relational = [
        FittedRelational(
            data.name,
            weights[data.name],
            data.columns,
            factor,
            data.column_mass,
            data.total,
            data.scale,
            context.on_columns(data.columns, problem.labels),
        )
        for context, data, factor in zip(
            aligned.relational, problem.relational, C, strict=True
        )
    ]
    descriptive = [
        FittedDescriptive(
            data.name,
            weights[data.name],
            data.columns,
            factor,
            data.offset,
            data.scale,
            context.readable,
            None if context.source is None else context.source.take([]),
            replace(context.rows_for(problem.labels), source=None),
        )
        for context, data, factor in zip(
            aligned.descriptive, problem.descriptive, U, strict=True
        )
    ]
    return (*relational, *descriptive)


def library_versions(backend: str = "numpy") -> dict[str, str]:
    """Libraries that the numbers depend on, with that of the back end."""
    packages = ["phcle", "numpy", "scipy", "scikit-learn"]
    if backend in ("numba", "torch"):
        packages.append(backend)
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # run from a source tree
            found[package] = "source"
    return found


def without_times(
    history: Sequence[Mapping[str, float]],
) -> tuple[dict[str, float], ...]:
    """The history without what differs from run to run: same fit, same file."""
    return tuple(
        {key: value for key, value in record.items() if key != "seconds"}
        for record in history
    )
