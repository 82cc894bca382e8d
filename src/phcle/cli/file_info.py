"""What a file of phcle is and says, whichever of the formats it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from phcle.uses import named_answers as answers

__all__ = ["about_file"]

Answer = dict[str, Any]


def about_file(path: Path) -> Answer:
    """What a file holds, with `what` for the sort of file it is."""
    from phcle.files.archive import format_of

    about = ABOUT.get(format_of(path) or "", _about_embedding)
    return {"file": str(path), **about(path)}


def _about_embedding(path: Path) -> Answer:
    from phcle.embedding import load

    return {"what": "embedding", **answers.summary(load(path))}


def _about_checkpoint(path: Path) -> Answer:
    from phcle.solver.checkpoint import VERSION, look_into

    found = look_into(path)
    return {"what": "checkpoint of a fit", **found, "format_version": VERSION}


def _about_map(path: Path) -> Answer:
    from phcle.uses.pictures.image_map_storage import VERSION, load_map

    found = load_map(path)
    return {
        "what": "map of pictures",
        "features": len(found.weights),
        "dim": found.weights.shape[1],
        "images": found.n_images,
        "classes": list(found.classes),
        "penalties": dict(found.penalties),
        "network": None if found.network is None else found.network["name"],
        "format_version": VERSION,
    }


def _about_index(path: Path) -> Answer:
    from phcle.files.archive import read_sealed
    from phcle.uses.faiss_index import FORMAT, VERSION

    _, tensors = read_sealed(path, FORMAT, VERSION, "is not an index of phcle.")
    return {
        "what": "index of an embedding",
        **{name: list(tensor.shape) for name, tensor in tensors.items()},
        "format_version": VERSION,
    }


# By name, as the modules that have these formats take long to import.
ABOUT: dict[str, Callable[[Path], Answer]] = {
    "phcle.checkpoint": _about_checkpoint,
    "phcle.image-map": _about_map,
    "phcle.label-index": _about_index,
}
