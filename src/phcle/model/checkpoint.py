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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.backends.protocol import Backend
from phcle.errors import FileError, PhcleWarning
from phcle.files.atomic import check_can_write, only_writer
from phcle.files.container import read_sealed, write_sealed
from phcle.files.reading import naming
from phcle.model.problem import DeviceProblem, Problem, State
from phcle.model.trials import Chosen
from phcle.options import DEFAULTS, OPTIONS

FORMAT, VERSION = "phcle.checkpoint", 2
FOREIGN = "is not a checkpoint of a fit."
BROKEN = "is not a whole checkpoint"

ONCE_AUTO = ("negatives", "descriptive_weight", "stiffness")
"""Options whose default was called "auto" when earlier checkpoints were written."""


@dataclass
class Checkpoint:
    """The file of a fit, and how often it is written.

    Attributes
    ----------
    path : Path
        The file.
    device : DeviceProblem
        What is fitted, and where. One of several processes writes.
    options : mapping from str to object
        All options of the fit.
    chosen : Chosen
        What the fit chose by itself.
    every : float
        Seconds between two checkpoints.
    """

    path: Path
    device: DeviceProblem
    options: Mapping[str, Any]
    chosen: Chosen
    every: float
    prints: Mapping[str, Any] = field(init=False)
    _written: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.prints = fingerprint(self.device.problem, self.options)

    def write(self, state: State, *, now: bool = False) -> None:
        """Write the state if the last checkpoint is old enough.

        An older file is replaced only by a complete one. If the disk is full, it warns
        and the fit continues.

        Parameters
        ----------
        state : State
            The state after a sweep.
        now : bool, default False
            Write it in any case.
        """
        if not now and time.monotonic() - self._written < self.every:
            return
        self._written = time.monotonic()
        backend = self.device.backend
        if backend.processes.rank > 0:
            return
        parts = map(backend.to_numpy, (state.W, *state.factors))
        tensors = dict(zip(_tensor_names(len(state.factors)), parts, strict=True))
        about = {
            "prints": self.prints,
            "chosen": self.chosen.to_dict(),
            "weights": state.weights,
            "history": state.history,
            "versions": library_versions(),
        }
        try:
            write_sealed(self.path, FORMAT, VERSION, about, tensors)
        except FileError as error:
            message = f"no checkpoint of sweep {state.iteration}: {error}"
            warnings.warn(message, PhcleWarning, stacklevel=2)

    def read(self) -> State:
        """Read the file, if it belongs to these options and data.

        Returns
        -------
        State
            Where the fit continues, on the host.
        """
        about, tensors = read_sealed(self.path, FORMAT, VERSION, FOREIGN)
        with naming(self.path, BROKEN, Exception):
            self._refuse_another_fit(about["prints"])
            W, *factors = (tensors[x] for x in _tensor_names(len(tensors) - 1))
            weights, *history = (
                {str(name): float(x) for name, x in record.items()}
                for record in (about["weights"], *about["history"])
            )
            state = State(W, tuple(factors), weights, tuple(history))
            self._refuse_misfits(state)
        return state

    def _refuse_misfits(self, state: State) -> None:
        """Refuse factors of other sizes, which no checksum can tell."""
        problem, parts = self.device.problem, [state.W, *state.factors]
        width = 1 if self.options["init"] == "ones" else problem.dim
        rows = (problem.labels, *(context.columns for context in problem.contexts))
        wanted = [(len(names), width) for names in rows]
        shapes = [part.shape for part in parts]
        if shapes != wanted:
            raise ValueError(f"factors of the shapes {shapes}, not {wanted}")
        if not all(x.dtype.kind == "f" and np.isfinite(x).all() for x in parts):
            raise ValueError("factors that are not finite numbers")
        if not all({"objective", "gap"} <= record.keys() for record in state.history):
            raise ValueError("a sweep without its objective")
        if set(state.weights) != set(problem.names):
            raise ValueError("weights of other contexts")

    def _refuse_another_fit(self, found: Mapping[str, Any]) -> None:
        """Name the first thing in which the checkpoint's fit differs from this one."""
        ours = json.loads(json.dumps(self.prints))
        # An option that came later had its default then.
        theirs = {**DEFAULTS, **found["options"]}
        theirs |= {x: DEFAULTS[x] for x in ONCE_AUTO if theirs[x] == "auto"}
        differences = [
            f"{name}={theirs[name]!r}, this fit {value!r}"
            for name, value in ours["options"].items()
            if theirs[name] != value
        ]
        before, now = found["data"], ours["data"]
        for name in {**now, **before}:
            if name not in before or name not in now:
                place = "this fit" if name in now else "the checkpoint"
                differences.append(f"other contexts: only {place} has {name!r}")
            elif before[name] != now[name]:
                differences.append(f"other data in {name!r}")
        if differences:
            raise FileError(
                f"{self.path}: belongs to another fit: it has {differences[0]}. Resume "
                "with the same options and data, or start a new fit with another file."
            )


@contextmanager
def writing(path: Path | None, backend: Backend, *, resume: bool) -> Iterator[None]:
    """Refuse a file that is there already, or to which another fit writes.

    Parameters
    ----------
    path : Path or None
        The file; None: no checkpoint is written.
    backend : Backend
        One of its processes writes.
    resume : bool
        Whether the fit goes on from the file.

    Yields
    ------
    None
        The body runs as usual.
    """
    is_writer = backend.processes.rank == 0
    if path is not None:
        check_can_write(path)  # now rather than after minutes of sweeps
    with only_writer(path) if path is not None and is_writer else nullcontext():
        if path is not None and path.exists() and not resume:
            raise FileError(
                f"{path}: there is a checkpoint already; resume it (resume=True, "
                "--resume), or give another file."
            )
        yield


def read_choice(path: Path) -> Chosen:
    """Read what the fit of a checkpoint chose by itself.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Chosen
        The settings of that fit.
    """
    if not os.path.lexists(path):
        raise FileError(
            f"{path}: no such checkpoint; leave out --resume (resume=True) "
            "to start a new fit."
        )
    about, tensors = read_sealed(path, FORMAT, VERSION, FOREIGN)
    with naming(path, BROKEN, Exception):
        chosen = Chosen.from_dict(about["chosen"])
        if tensors["W0"].shape[1] not in (1, chosen.setting.dim):
            raise ValueError("its vectors have another length than its settings")
    return chosen


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
    with naming(path, BROKEN, Exception):
        (labels, dim), history = tensors["W0"].shape, list(about["history"])
        found = {"labels": labels, "dim": dim, "contexts": dict(about["weights"])}
        objective = history[-1].get("objective") if history else None
        found |= {"sweeps": len(history), "objective": objective}
        return found | dict(about["prints"]) | {"versions": dict(about["versions"])}


def _tensor_names(n_factors: int) -> list[str]:
    return ["W0", *(f"factor{i}" for i in range(n_factors))]


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
    kept = [option.name for option in OPTIONS if not option.may_change_on_resume]
    contexts = {
        context.name: _digest(context.columns, *context.fingerprint_arrays())
        for context in problem.contexts
    }
    return {
        "options": {name: options[name] for name in kept},
        "data": {"labels": _digest(problem.labels), **contexts},
    }


def _digest(*parts: Sequence[str] | np.ndarray | sp.csr_array) -> str:
    """A short hash of names and numbers."""
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            whole.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, Sequence):
            whole.update("\0".join(part).encode())
        else:
            for each in (part.indptr, part.indices):
                whole.update(each.astype(np.int64).tobytes())
            whole.update(part.data.tobytes())
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
    if backend != "numpy":
        packages.append(backend)
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "source"
    return found
