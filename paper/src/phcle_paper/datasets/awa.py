"""Animals with Attributes: the text files of the base package, and word vectors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phcle.contexts import DescriptiveContext
from phcle.contexts.readers.delimited import read_lines
from phcle.errors import FileError, OptionError, did_you_mean
from phcle_paper.datasets.class_attributes import ClassAttributes
from phcle_paper.datasets.class_names import read_class_list, readable_name
from phcle_paper.datasets.mat_files import MatFile
from phcle_paper.datasets.releases import AWA

__all__ = ["load_awa", "load_awa_word_vectors"]

MATRICES = {
    "continuous": "predicate-matrix-continuous.txt",
    "binary": "predicate-matrix-binary.txt",
}
CLASS_LISTS = {"seen": "trainclasses.txt", "unseen": "testclasses.txt"}
WORD_VECTORS = "att_splits_with_wv.mat"


def load_awa(folder: str | Path, *, kind: str = "continuous") -> ClassAttributes:
    """Attributes of the 50 animals, `"continuous"` (0 to 100) or `"binary"`.

    A strength of −1 is unknown. The binary values were made from the strengths by a
    threshold, so an unknown strength makes an unknown binary value too.
    """
    if kind not in MATRICES:
        raise OptionError(
            f"kind must be 'continuous' or 'binary'. Got {kind!r} instead."
        )
    folder = Path(folder)
    classes = _numbered_names(AWA.file(folder, "classes.txt"))
    columns = _numbered_names(AWA.file(folder, "predicates.txt"))
    shape = (len(classes), len(columns))
    values = _read_matrix(AWA.file(folder, MATRICES[kind]), shape)
    strengths = folder / MATRICES["continuous"]
    if strengths.is_file():
        values[_read_matrix(strengths, shape) == -1.0] = np.nan
    splits = {
        split: read_class_list(folder / name, classes)
        for split, name in CLASS_LISTS.items()
        if (folder / name).is_file()
    }
    counts = folder / "numexamples.txt"
    return ClassAttributes(
        name="AWA",
        attributes=DescriptiveContext("attributes", classes, columns, values),
        splits=splits,
        n_images=_read_counts(counts, classes) if counts.is_file() else {},
        note=f"{kind} attributes; the original split",
    )


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


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Numbered lines of words; empty ones are skipped."""
    lines = enumerate(read_lines(path), 1)
    return [(number, line.split()) for number, line in lines if line.strip()]


def _numbered_names(path: Path) -> tuple[str, ...]:
    """Lines of a running number and a name."""
    names: list[str] = []
    for line, words in _lines(path):
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
    for line, words in _lines(path):
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


def _read_counts(path: Path, classes: tuple[str, ...]) -> dict[str, int]:
    """Number of pictures of each class, in the order of `classes`."""
    counts: dict[str, int] = {}
    for line, words in _lines(path):
        if len(words) != 2 or not re.fullmatch(r"[0-9]{1,12}", words[1]):
            raise FileError(
                f"{path}, line {line}: must be a class and its number of images. "
                f"Got {' '.join(words)[:60]!r} instead. {AWA.remedy}"
            )
        name = readable_name(words[0])
        if name not in classes:
            raise FileError(
                f"{path}, line {line}: {name!r} is not a class of classes.txt."
                f"{did_you_mean(name, classes)}"
            )
        counts[name] = int(words[1])
    return {name: counts[name] for name in classes if name in counts}
