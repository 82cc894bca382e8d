"""Checkpoints: a long fit can be stopped and resumed.

One safetensors file holds the factors after a sweep, the weights and the history, with
a fingerprint of the options and of the data. A sweep depends on nothing else, so a
resumed fit makes the same sweeps as one that was not stopped, on any number of
processes. The file is written under another name and then renamed, so a crash leaves
the last complete checkpoint.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.errors import FileError, PhcleWarning
from phcle.files.atomic import check_can_write
from phcle.files.container import read_sealed, write_sealed
from phcle.model.problem import Problem, State
from phcle.model.start import Factors
from phcle.options import DEFAULTS, OPTIONS

FORMAT, VERSION = "phcle.checkpoint", 2
FOREIGN = "is not a checkpoint of a fit."

NAMES_AT_ONCE = 1 << 20
"""Names that are joined into one text for a fingerprint."""


@dataclass(frozen=True)
class Resumed:
    """What a checkpoint holds.

    Attributes
    ----------
    factors : Factors
        W and the factor of each context.
    weights : dict of str to float
        α and β by context.
    history : tuple of dict
        Terms of the objective after each sweep.
    """

    factors: Factors
    weights: dict[str, float]
    history: tuple[dict[str, float], ...]


@dataclass
class Checkpoint:
    """Where and how often a fit is written.

    Attributes
    ----------
    path : Path
        The file.
    every : float
        Seconds between two checkpoints.
    prints : mapping
        What `fingerprint` returned for this fit.
    chosen : mapping
        What the fit chose by itself.
    shapes : sequence of tuple of int
        Shapes that W and the factors must have.
    is_writer : bool
        Whether this process writes; one of several does.
    """

    path: Path
    every: float
    prints: Mapping[str, Any]
    chosen: Mapping[str, Any]
    shapes: Sequence[tuple[int, ...]] = ()
    is_writer: bool = True
    _written: float = field(init=False, default_factory=time.monotonic)

    @classmethod
    def of_fit(
        cls,
        path: Path,
        problem: Problem,
        options: Mapping[str, Any],
        chosen: Mapping[str, Any],
        *,
        every: float,
        is_writer: bool,
        resume: bool,
    ) -> Checkpoint:
        """Prepare the file of a fit; the checkpoint of another fit is never replaced.

        Parameters
        ----------
        path : Path
            The file.
        problem : Problem
            What is fitted.
        options : mapping of str to object
            All options of the fit.
        chosen : mapping
            What the fit chose by itself.
        every : float
            Seconds between two checkpoints.
        is_writer : bool
            Whether this process writes.
        resume : bool
            Whether the file must exist rather than not.

        Returns
        -------
        Checkpoint
            Ready to be written or read.
        """
        if path.exists() and not resume:
            raise FileError(
                f"{path}: there is a checkpoint already; resume it (resume=True, "
                "--resume), or give another file."
            )
        check_can_write(path)  # now rather than after minutes of sweeps
        width = 1 if options["init"] == "ones" else problem.dim
        rows = (problem.labels, *(context.columns for context in problem.contexts))
        shapes = [(len(names), width) for names in rows]
        prints = fingerprint(problem, options)
        return cls(path, every, prints, chosen, shapes, is_writer)

    def maybe_write(self, state: State, to_numpy: Any) -> None:
        """Write the state if the last checkpoint is old enough.

        Parameters
        ----------
        state : State
            The state after a sweep.
        to_numpy : callable
            Brings an array of the back end to the host.
        """
        if time.monotonic() - self._written >= self.every:
            self.write(state, to_numpy)

    def write(self, state: State, to_numpy: Any) -> None:
        """Write the state; an older file is replaced only by a complete one.

        If the disk is full, it warns and the fit continues.

        Parameters
        ----------
        state : State
            The state after a sweep.
        to_numpy : callable
            Brings an array of the back end to the host.
        """
        self._written = time.monotonic()
        if not self.is_writer:
            return
        tensors = {"W0": to_numpy(state.W)}
        for i, factor in enumerate(state.factors):
            tensors[f"factor{i}"] = to_numpy(factor)
        about = {
            "prints": self.prints,
            "chosen": self.chosen,
            "weights": state.weights,
            "history": state.history,
            "versions": library_versions(),
        }
        try:
            write_sealed(self.path, FORMAT, VERSION, about, tensors)
        except FileError as error:
            older = (
                "the one before is whole" if self.path.is_file() else "there is none"
            )
            message = f"no checkpoint of sweep {state.iteration}, {older}: {error}"
            warnings.warn(message, PhcleWarning, stacklevel=2)

    def read(self) -> Resumed:
        """Read the file, if it belongs to these options and data.

        Returns
        -------
        Resumed
            Where the fit continues.
        """
        if not os.path.lexists(self.path):
            raise FileError(
                f"{self.path}: no such checkpoint; leave out --resume (resume=True) "
                "to start a new fit."
            )
        about, tensors = read_sealed(self.path, FORMAT, VERSION, FOREIGN)
        try:
            self._refuse_another_fit(about["prints"])
            factors = tuple(tensors[f"factor{i}"] for i in range(len(tensors) - 1))
            found = Resumed(
                Factors(tensors["W0"], factors),
                {str(name): float(x) for name, x in about["weights"].items()},
                tuple(
                    {str(name): float(x) for name, x in record.items()}
                    for record in about["history"]
                ),
            )
            self._refuse_misfits(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileError(
                f"{self.path}: is not a whole checkpoint ({error})."
            ) from error
        return found

    def _refuse_misfits(self, found: Resumed) -> None:
        """Refuse factors of other sizes, which no checksum can tell."""
        parts = (found.factors.W, *found.factors.of_contexts)
        shapes = [part.shape for part in parts]
        if self.shapes and shapes != list(self.shapes):
            raise ValueError(f"factors of the shapes {shapes}, not {list(self.shapes)}")
        for part in parts:
            if part.dtype.kind != "f" or not np.isfinite(part).all():
                raise ValueError("factors that are not finite numbers")
        if not all({"objective", "gap"} <= record.keys() for record in found.history):
            raise ValueError("a sweep without its objective")
        if set(found.weights) != set(self.prints["data"]) - {"labels"}:
            raise ValueError("weights of other contexts")

    def _refuse_another_fit(self, found: Mapping[str, Any]) -> None:
        """Name the first thing in which the checkpoint's fit differs from this one."""
        for kind in ("options", "data"):
            theirs, ours = found[kind], json.loads(json.dumps(self.prints[kind]))
            if kind == "options":  # an option that came later had its default then
                theirs = {**{x: DEFAULTS[x] for x in ours if x in DEFAULTS}, **theirs}
            for name in (*ours, *(x for x in theirs if x not in ours)):
                if theirs.get(name) == ours.get(name):
                    continue
                if kind == "options":
                    what = f"{name}={theirs.get(name)!r}, this fit {ours.get(name)!r}"
                elif name not in theirs or name not in ours:
                    place = "this fit" if name in ours else "the checkpoint"
                    what = f"other contexts: only {place} has {name!r}"
                else:
                    what = f"other data in {name!r}"
                raise FileError(
                    f"{self.path}: belongs to another fit: it has {what}. Resume with "
                    "the same options and data, or start a new fit with another file."
                )


def read_choice(path: Path) -> Mapping[str, Any] | None:
    """Read what the fit of a checkpoint chose by itself.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    mapping or None
        What `Chosen.to_dict` returned; None for an older file.
    """
    if not os.path.lexists(path):
        return None  # `Checkpoint.read` says so
    about, tensors = read_sealed(path, FORMAT, VERSION, FOREIGN)
    found: Mapping[str, Any] | None = about.get("chosen")
    if found is not None and tensors["W0"].shape[1] != found["setting"]["dim"]:
        raise ValueError("its vectors have another length than its settings")
    return found


def look_into(path: Path) -> dict[str, Any]:
    """Summarise the checkpoint of any fit.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        Labels, dimension, contexts with their weights, sweeps, objective, options,
        fingerprints of the data, and versions of libraries.
    """
    about, tensors = read_sealed(path, FORMAT, VERSION, FOREIGN)
    try:
        n_labels, dim = tensors["W0"].shape
        history = list(about["history"])
        return {
            "labels": n_labels,
            "dim": dim,
            "contexts": dict(about["weights"]),
            "sweeps": len(history),
            "objective": history[-1].get("objective") if history else None,
            "options": dict(about["prints"]["options"]),
            "data": dict(about["prints"]["data"]),
            "versions": dict(about.get("versions", {})),
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{path}: is not a whole checkpoint ({error}).") from error


def fingerprint(problem: Problem, options: Mapping[str, Any]) -> dict[str, Any]:
    """Compute what a resumed fit must share with the one that wrote the checkpoint.

    Parameters
    ----------
    problem : Problem
        What is fitted.
    options : mapping of str to object
        All options of the fit.

    Returns
    -------
    dict
        Options that may not change, and a hash of the labels and of each context.
    """
    return {
        "options": {
            option.name: options[option.name]
            for option in OPTIONS
            if not option.may_change_on_resume
        },
        "data": {
            "labels": _digest(problem.labels),
            **{
                context.name: _digest(context.columns, *context.fingerprint_arrays())
                for context in problem.contexts
            },
        },
    }


def _digest(*parts: Sequence[str] | np.ndarray | sp.csr_array) -> str:
    """A short hash of names and numbers."""
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, Sequence):
            for start in range(0, len(part), NAMES_AT_ONCE):
                between = "\0" if start else ""
                names = "\0".join(part[start : start + NAMES_AT_ONCE])
                whole.update((between + names).encode())
            continue
        arrays = (
            [part]
            if isinstance(part, np.ndarray)
            else [
                part.indptr.astype(np.int64),
                part.indices.astype(np.int64),
                part.data,
            ]
        )
        for array in arrays:
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def library_versions(backend: str = "numpy") -> dict[str, str]:
    """Return the versions of the libraries that the numbers depend on.

    Parameters
    ----------
    backend : str, default "numpy"
        Name of the back end; its library is listed too.

    Returns
    -------
    dict
        Version by package; "source" for a package that runs from a source tree.
    """
    packages = ["phcle", "numpy", "scipy", "scikit-learn"]
    if backend in ("numba", "torch"):
        packages.append(backend)
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "source"
    return found


def without_times(
    history: Sequence[Mapping[str, float]],
) -> tuple[dict[str, float], ...]:
    """Remove times from a history, so that the same fit gives the same file.

    Parameters
    ----------
    history : sequence of mapping
        A record for each sweep.

    Returns
    -------
    tuple of dict
        The records without "seconds".
    """
    return tuple(
        {key: value for key, value in record.items() if key != "seconds"}
        for record in history
    )
