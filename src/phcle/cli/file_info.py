"""What a file of phcle holds, whichever of the formats it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from phcle import answers

__all__ = ["about_file"]


def about_file(path: Path) -> answers.FileInfo:
    """Say what a file is, what it holds and how it was made.

    Parameters
    ----------
    path : Path
        An embedding, a checkpoint, a map of pictures or an index.

    Returns
    -------
    FileInfo
        One of its subclasses, by the kind of file.
    """
    from phcle.files.archive import format_of

    return ABOUT.get(format_of(path) or "", _about_embedding)(path)


def _about_embedding(path: Path) -> answers.EmbeddingInfo:
    from phcle.embedding import load
    from phcle.uses.named_answers import summarise

    return answers.EmbeddingInfo(
        file=str(path), what="embedding", **vars(summarise(load(path)))
    )


def _about_checkpoint(path: Path) -> answers.CheckpointInfo:
    from phcle.solver.checkpoint import VERSION, look_into

    return answers.CheckpointInfo(
        file=str(path),
        what="checkpoint of a fit",
        **look_into(path),
        format_version=VERSION,
    )


def _about_map(path: Path) -> answers.ImageMapInfo:
    from phcle.uses.pictures.image_map import VERSION, load_map

    found = load_map(path)
    return answers.ImageMapInfo(
        file=str(path),
        what="map of pictures",
        features=len(found.weights),
        dim=found.weights.shape[1],
        images=found.n_images,
        classes=tuple(found.classes),
        penalties=dict(found.penalties),
        network=None if found.network is None else found.network["name"],
        format_version=VERSION,
    )


def _about_index(path: Path) -> answers.IndexInfo:
    from phcle.errors import FileError
    from phcle.files.archive import read_sealed
    from phcle.uses.faiss_index import FORMAT, VERSION

    _, tensors = read_sealed(path, FORMAT, VERSION, "is not an index of phcle.")
    try:
        cells, centers = tensors["cells"].shape, tensors["centers"].shape
    except KeyError as error:
        raise FileError(f"{path}: is not a whole index; make it anew.") from error
    return answers.IndexInfo(
        str(path), "index of an embedding", cells, centers, VERSION
    )


# By name, because the modules that own these formats are slow to import.
ABOUT: dict[str, Callable[[Path], answers.FileInfo]] = {
    "phcle.checkpoint": _about_checkpoint,
    "phcle.image-map": _about_map,
    "phcle.label-index": _about_index,
}
