"""What a file holds: an embedding, a checkpoint, a map of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phcle.answers.answer import Answer
from phcle.answers.completed_cells import CompletionSkill

__all__ = [
    "CheckpointInfo",
    "ChosenSettings",
    "ContextSummary",
    "EmbeddingInfo",
    "EmbeddingSummary",
    "FileInfo",
    "FitSummary",
    "HierarchyRecipe",
    "ImageMapInfo",
]


@dataclass(frozen=True)
class HierarchyRecipe(Answer):
    """How a hierarchy was turned into counts.

    Attributes
    ----------
    kind : str
        Name of the construction, such as `ancestors`.
    decay, radius, random_state : float, int or None
        Its options; None where the construction does not use them.
    """

    kind: str
    decay: float | None
    radius: int | None
    random_state: int


@dataclass(frozen=True)
class ContextSummary(Answer):
    """A context that an embedding was learned from.

    Attributes
    ----------
    name, kind : str
        Name and kind of the context.
    labels : int
        Number of labels that it knows.
    coverage : float
        Share of all labels that it knows.
    columns : int
        Number of its columns.
    weight : float
        Its weight in the objective.
    hierarchy : HierarchyRecipe or None
        How its hierarchy was counted; None for any other context.
    """

    name: str
    kind: str
    labels: int
    coverage: float
    columns: int
    weight: float
    hierarchy: HierarchyRecipe | None


@dataclass(frozen=True)
class ChosenSettings(Answer):
    """The settings of a fit that were left open.

    Attributes
    ----------
    setting : mapping
        The settings of the fit, by name.
    trials : tuple of mapping
        What was tried: `change`, `setting`, `skill`, `skills` by table and `kept`.
    words : tuple of str
        What was chosen and why, in sentences; also which columns are fitted on a log
        scale, and with weights="auto" why each context has its weight.
    """

    setting: Mapping[str, Any]
    trials: tuple[Mapping[str, Any], ...]
    words: tuple[str, ...]


@dataclass(frozen=True)
class EmbeddingSummary(Answer):
    """What an embedding holds and how it was learned.

    Attributes
    ----------
    labels, dim : int
        Number of labels and of dimensions.
    contexts : tuple of ContextSummary
        The contexts of the fit.
    sweeps : int
        Number of sweeps of the solver.
    objective : float or None
        The objective at the end; None if the embedding was not learned by PHCLE.
    seed : int or None
        The fit's `random_state`.
    options : dict
        The options of the fit.
    versions : dict of str to str
        Versions of Python, phcle and the libraries that were used.
    run : dict
        Back end, device, precision and number of processes.
    files : tuple of dict
        The files that were read, with their checksums.
    chosen : ChosenSettings or None
        The settings that were left open; None if the file does not say.
    completion : CompletionSkill or None
        How well cells were predicted that the fit hid; None if the file does not say.
    format_version : int
        Version of the file format.
    """

    labels: int
    dim: int
    contexts: tuple[ContextSummary, ...]
    sweeps: int
    objective: float | None
    seed: int | None
    options: dict[str, Any]
    versions: dict[str, str]
    run: dict[str, Any]
    files: tuple[dict[str, Any], ...]
    chosen: ChosenSettings | None
    completion: CompletionSkill | None
    format_version: int


@dataclass(frozen=True)
class _InFile(Answer):
    """The file that an answer is about; its first field."""

    file: str


@dataclass(frozen=True)
class FitSummary(EmbeddingSummary, _InFile):
    """What `phcle fit` learned and wrote.

    Attributes
    ----------
    seconds : float
        Time that the fit took.
    match : dict
        Labels of the files that were joined, may be joined, or match nothing; see
        `LabelMatch`.
    """

    seconds: float
    match: dict[str, Any]


@dataclass(frozen=True)
class FileInfo(_InFile):
    """What kind of file a file is.

    Attributes
    ----------
    what : str
        The kind of file, in words.
    """

    what: str


@dataclass(frozen=True)
class EmbeddingInfo(EmbeddingSummary, FileInfo):
    """What a file with an embedding holds."""


@dataclass(frozen=True)
class CheckpointInfo(FileInfo):
    """What the checkpoint of a fit holds.

    Attributes
    ----------
    labels, dim : int
        Number of labels and of dimensions.
    contexts : dict of str to float
        The contexts and their weights.
    sweeps : int
        Number of sweeps so far.
    objective : float or None
        The objective after the last sweep.
    options : dict
        The options of the fit.
    data : dict of str to str
        Digests of the data, which a resumed fit must share.
    versions : dict of str to str
        Versions of Python, phcle and the libraries that were used.
    format_version : int
        Version of the file format.
    """

    labels: int
    dim: int
    contexts: dict[str, float]
    sweeps: int
    objective: float | None
    options: dict[str, Any]
    data: dict[str, str]
    versions: dict[str, str]
    format_version: int


@dataclass(frozen=True)
class ImageMapInfo(FileInfo):
    """What a file with a map of pictures holds.

    Attributes
    ----------
    features, dim : int
        Number of features of a picture, and of dimensions of the embedding.
    images : int
        Number of pictures that the map was learned from.
    classes : tuple of str
        Their classes.
    penalties : dict of str to float
        The penalties of the map.
    network : str or None
        The network that made the features, if it is known.
    format_version : int
        Version of the file format.
    """

    features: int
    dim: int
    images: int
    classes: tuple[str, ...]
    penalties: dict[str, float]
    network: str | None
    format_version: int
