"""The source of each data set, which errors about its files name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from phcle.errors import FileError

__all__ = ["APY", "AWA", "XLSA17", "Release"]


@dataclass(frozen=True)
class Release:
    """Title and authors of a data set."""

    title: str
    cite: str

    def file(self, folder: Path, name: str) -> Path:
        """The path of a file of the release, which must be there."""
        if not folder.exists():
            raise FileError(f"{folder}: no such folder. {self.remedy}")
        if not folder.is_dir():
            raise FileError(f"{folder}: is a file; give the folder that holds {name}.")
        path = folder / name
        if not path.is_file():
            raise FileError(f"{path}: no such file. {self.remedy}")
        return path

    @property
    def remedy(self) -> str:
        """What to do if a file is missing or damaged."""
        return f"It belongs to {self.title} ({self.cite}); get it from its authors."


XLSA17 = Release(
    'the "proposed splits" release xlsa17',
    "Xian, Lampert, Schiele and Akata: Zero-Shot Learning, a Comprehensive Evaluation "
    "of the Good, the Bad and the Ugly, 2018",
)
AWA = Release(
    "Animals with Attributes 2, base package",
    "Lampert, Nickisch and Harmeling: Attribute-Based Classification for Zero-Shot "
    "Visual Object Categorization, 2014; Xian et al., 2018",
)
APY = Release(
    "aPascal and aYahoo, attribute annotations",
    "Farhadi, Endres, Hoiem and Forsyth: Describing Objects by their Attributes, 2009",
)
