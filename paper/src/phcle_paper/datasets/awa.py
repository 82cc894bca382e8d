"""Animals with Attributes: the text files of the base package, and word vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.errors import FileError
from phcle_paper.datasets.classes import readable_name
from phcle_paper.datasets.mat_files import MatFile
from phcle_paper.datasets.releases import AWA
from phcle_paper.reading import numbered_lines

__all__ = ["load_awa", "load_awa_word_vectors"]

STRENGTHS = "predicate-matrix-continuous.txt"
WORD_VECTORS = "att_splits_with_wv.mat"


def load_awa(folder: str | Path) -> DescriptiveContext:
    """Attributes of the 50 animals, from 0 to 100; a strength of −1 is unknown."""
    folder = Path(folder)
    classes = _numbered_names(AWA.file(folder, "classes.txt"))
    columns = _numbered_names(AWA.file(folder, "predicates.txt"))
    values = _read_matrix(AWA.file(folder, STRENGTHS), (len(classes), len(columns)))
    values[values == -1.0] = np.nan
    return DescriptiveContext("attributes", classes, columns, values)


def load_awa_word_vectors(path: str | Path) -> DescriptiveContext:
    """Word vectors of the 50 animals, from the key `wv` of a split file.

    `path` is the MAT file, or the folder that holds `att_splits_with_wv.mat`.
    """
    path = Path(path)
    if path.is_dir():
        path = AWA.file(path, WORD_VECTORS)
    file = MatFile(path, ("allclasses_names", "wv"), AWA)
    names = file.names("allclasses_names", "one name per class")
    vectors = file.numbers("wv", (None, len(names)), f"dimensions × {len(names)}").T
    return DescriptiveContext.from_vectors(
        dict(zip(map(readable_name, names), vectors, strict=True)), name="word vectors"
    )


def _numbered_names(path: Path) -> tuple[str, ...]:
    """Lines of a running number and a name."""
    names: list[str] = []
    for line, text in numbered_lines(path):
        words = text.split()
        if len(words) != 2 or words[0] != str(len(names) + 1):
            raise FileError(
                f"{path}, line {line}: must be the number {len(names) + 1} and a name. "
                f"Got {' '.join(words)[:60]!r} instead. {AWA.remedy}"
            )
        names.append(readable_name(words[1]))
    if not names:
        raise FileError(f"{path}: is empty. {AWA.remedy}")
    return tuple(names)


def _read_matrix(path: Path, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """One line per class, one number per attribute."""
    rows: list[npt.NDArray[np.float64]] = []
    for line, text in numbered_lines(path):
        words = text.split()
        try:
            row = np.array(words, dtype=np.float64)
        except ValueError:
            row = np.empty(0)
        if len(row) != shape[1] or not np.isfinite(row).all():
            raise FileError(
                f"{path}, line {line}: must be {shape[1]} finite numbers, one for "
                f"each line of predicates.txt. Got {len(words)} words that start with "
                f"{' '.join(words)[:40]!r}. {AWA.remedy}"
            )
        rows.append(row)
    if len(rows) != shape[0]:
        raise FileError(
            f"{path}: must have {shape[0]} lines, one for each line of classes.txt. "
            f"Got {len(rows)} instead. {AWA.remedy}"
        )
    return np.array(rows)
