"""The command info: what a file of phcle holds, whichever of the formats it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from phcle import answers
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import show, show_line, show_summary


def info(file: EmbeddingFile, as_json: Json = False) -> None:
    """Show what an embedding, a map or a checkpoint holds and how it was made."""
    from phcle.files.container import format_of

    answer = ABOUT.get(format_of(file) or "", _about_embedding)(file)
    show(answer, _show, as_json=as_json)


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
    from phcle.images.image_map import VERSION, load_map

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


# By name, because the modules that own these formats are slow to import.
ABOUT: dict[str, Callable[[Path], answers.FileInfo]] = {
    "phcle.checkpoint": _about_checkpoint,
    "phcle.image-map": _about_map,
}


def _show(answer: answers.FileInfo) -> None:
    skipped = {"file", "format_version"}
    if isinstance(answer, answers.EmbeddingInfo):
        show_summary(answer)
        skipped |= {"labels", "dim", "contexts", "sweeps", "objective", "seed"}
        skipped |= {"chosen", "completion"}
    values = answer.to_dict()
    for title, value in values.items():
        if title not in skipped and value not in ({}, [], None):
            show_line(f"{title}: {_one_line(value)}")
    show_line(f"format version: {values['format_version']}")


def _one_line(value: object) -> str:
    """Write a dictionary or a list on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_one_line, value))
    return str(value)
