"""Factors in a folder, one file for each part: checkpoints and results of shards.

Every process writes the parts that it owns. When all have done so, the first one
replaces `fit.json`, which names the folder of the last complete sweep. A run that is
killed at any time leaves a complete older sweep.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.backends.shard_exchange import Layout, ShardExchange
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, FileError
from phcle.files.archive import read_sealed, write_sealed
from phcle.files.json_toml import parse_json
from phcle.files.writing import check_is_file, make_folder, write_whole

__all__ = ["ShardFolder", "ShardedFactors"]

FORMAT, VERSION = "phcle.shard", 1
FOREIGN = "is not a part of a sharded fit."
INDEX = "fit.json"

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ShardedFactors:
    """Vectors of a sharded fit, read from its folder some rows at a time.

    Attributes
    ----------
    folder : Path
        The folder.
    n_labels : int
        Number of labels.
    dim : int
        Length of a vector.
    n_parts : int
        Number of parts, each with a file.
    columns : dict of str to int
        Number of columns of each context.
    options : dict
        Options of the fit.
    weights : dict of str to float
        α by context.
    history : tuple of dict
        Terms of the objective after each sweep.
    state : str
        Folder of the files within `folder`.
    is_finished : bool
        Whether the last solve has been made.

    Examples
    --------
    >>> import scipy.sparse as sp, tempfile
    >>> from phcle import CountRows, fit_shards
    >>> rows = CountRows.from_matrix("seen", sp.random_array((9, 9), density=1, rng=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = fit_shards(rows, 9, folder, dim=2, n_parts=3)
    ...     ShardedFactors.open(folder).context_vectors("seen", 4, 9).shape
    (5, 2)
    """

    folder: Path
    n_labels: int
    dim: int
    n_parts: int
    columns: dict[str, int]
    options: dict[str, Any]
    weights: dict[str, float]
    history: tuple[dict[str, float], ...]
    state: str
    is_finished: bool

    @classmethod
    def open(cls, folder: str | Path) -> ShardedFactors:
        """Open the folder of a fit.

        Parameters
        ----------
        folder : str or Path
            The folder.

        Returns
        -------
        ShardedFactors
            What the folder holds; vectors are read when they are asked for.

        Examples
        --------
        >>> ShardedFactors.open("shards").vectors(0, 10)  # doctest: +SKIP
        """
        folder = Path(folder)
        path = folder / INDEX
        check_is_file(path)
        try:
            about = parse_json(path.read_text(), str(path))
            if about["format"] != FORMAT or about["version"] != VERSION:
                raise ValueError("another format or version")
            return cls(
                folder,
                int(about["n_labels"]),
                int(about["dim"]),
                int(about["n_parts"]),
                {str(name): int(n) for name, n in about["columns"].items()},
                dict(about["options"]),
                {str(name): float(x) for name, x in about["weights"].items()},
                tuple(dict(record) for record in about["history"]),
                str(about["state"]),
                bool(about["is_finished"]),
            )
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"{path}: is not that of a sharded fit ({error}).") from (
                error
            )

    def vectors(self, start: int = 0, stop: int | None = None) -> Floats:
        """Read vectors of labels.

        Parameters
        ----------
        start : int, default 0
            Position of the first label.
        stop : int, optional
            End of the labels. By default the last one.

        Returns
        -------
        array of shape (stop - start, dim)
            The vectors.
        """
        return self._read("W", self.n_labels, start, stop)

    def context_vectors(
        self, name: str, start: int = 0, stop: int | None = None
    ) -> Floats:
        """Read vectors of columns.

        Parameters
        ----------
        name : str
            Name of the context.
        start : int, default 0
            Position of the first column.
        stop : int, optional
            End of the columns. By default the last one.

        Returns
        -------
        array of shape (stop - start, dim)
            The vectors.
        """
        if name not in self.columns:
            raise ContextError(
                f"the fit had no context {name!r}; it had {', '.join(self.columns)}."
            )
        number = list(self.columns).index(name)
        return self._read(f"C{number}", self.columns[name], start, stop)

    def to_embedding(self, labels: Sequence[str]) -> LabelEmbedding:
        """Make an embedding in memory, for search and for files of other programs.

        It has no contexts, so it cannot complete values or add labels.

        Parameters
        ----------
        labels : sequence of str
            Names of all labels, in the order of the counts.

        Returns
        -------
        LabelEmbedding
            The embedding.
        """
        return LabelEmbedding(tuple(labels), self.vectors())

    def _read(self, key: str, n_rows: int, start: int, stop: int | None) -> Floats:
        """Read a range of rows from the parts that have them."""
        stop = n_rows if stop is None else min(stop, n_rows)
        layout = Layout(n_rows, self.n_parts, 0, 1)
        found = [
            self.read_part(number)[1][key][max(start - a, 0) : stop - a]
            for number, a, b in layout.parts
            if a < stop and b > start
        ]
        return np.concatenate([np.empty((0, self.dim), np.float32), *found])

    def read_part(self, number: int) -> tuple[Any, dict[str, Floats]]:
        """Read one part.

        Parameters
        ----------
        number : int
            Number of the part.

        Returns
        -------
        about : dict
            What the part says about itself.
        tensors : dict of str to array
            Its rows of W and of each context's factor, "C0", "C1", ….
        """
        path = self.folder / self.state / _part_name(number)
        return read_sealed(path, FORMAT, VERSION, FOREIGN)


@dataclass
class ShardFolder:
    """Where processes write their parts.

    Attributes
    ----------
    folder : Path
        A folder that all processes see.
    exchange : ShardExchange
        The processes.
    layouts : list of Layout
        Layout of the labels, and of the columns of each context.
    digests : dict of int to str
        A hash of the counts of each own part.
    about : dict
        Sizes and options, as in `fit.json`.
    """

    folder: Path
    exchange: ShardExchange
    layouts: list[Layout]
    digests: dict[int, str]
    about: dict[str, Any]

    def write(
        self,
        state: str,
        factors: Sequence[Floats],
        weights: Mapping[str, float],
        history: Sequence[Mapping[str, float]],
        *,
        is_finished: bool,
    ) -> None:
        """Write the parts of this process; all processes must do so.

        Parameters
        ----------
        state : str
            Name of the folder for the parts.
        factors : sequence of arrays
            Own rows of W and of each context's factor.
        weights : mapping
            α by context.
        history : sequence of mappings
            A record for each sweep.
        is_finished : bool
            Whether this is the result.
        """
        within = self.folder / state
        make_folder(within)
        for number in self.digests:
            tensors = {}
            for i, (rows, layout) in enumerate(zip(factors, self.layouts, strict=True)):
                a, b = layout.edge(number), layout.edge(number + 1)
                key = f"C{i - 1}" if i else "W"
                tensors[key] = np.ascontiguousarray(
                    rows[a - layout.start : b - layout.start]
                )
            content = {"part": number, "counts": self.digests[number]}
            path = within / _part_name(number)
            write_sealed(path, FORMAT, VERSION, content, tensors)
        self.exchange.any_of(False)  # all parts are written
        if self.exchange.rank == 0:
            about = {
                "format": FORMAT,
                "version": VERSION,
                **self.about,
                "weights": dict(weights),
                "history": [dict(record) for record in history],
                "state": state,
                "is_finished": is_finished,
            }
            with write_whole(self.folder / INDEX) as temporary:
                temporary.write_text(json.dumps(about, indent=1))
            for old in self.folder.glob("sweep-*"):
                if old.name != state:
                    shutil.rmtree(old, ignore_errors=True)
        self.exchange.any_of(False)  # the old parts are gone

    def read(self) -> tuple[ShardedFactors, list[Floats]]:
        """Read the own parts of a fit that was stopped.

        Returns
        -------
        found : ShardedFactors
            The fit.
        factors : list of arrays
            Own rows of W and of each context's factor.
        """
        found = ShardedFactors.open(self.folder)
        for name, now in self.about.items():
            before = getattr(found, name)
            if before != now:
                raise FileError(
                    f"{self.folder}: belongs to another fit: {name} was {before}, and "
                    f"is {now} now. Resume with the same, or give another folder."
                )
        parts = [found.read_part(number) for number in self.digests]
        is_other = any(
            about["counts"] != self.digests[about["part"]] for about, _ in parts
        )
        if self.exchange.any_of(is_other):
            raise FileError(
                f"{self.folder}: belongs to another fit: it has other counts."
            )
        keys = ["W", *(f"C{i}" for i in range(len(self.layouts) - 1))]
        return found, [np.concatenate([x[key] for _, x in parts]) for key in keys]


def _part_name(number: int) -> str:
    return f"part-{number:05}.safetensors"
