"""The command info: what a file of phcle holds, whichever of the formats it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import show, show_line, show_summary

SHOWN_BEFORE = ("labels", "dim", "contexts", "sweeps", "objective", "seed")
"""What `show_summary` prints of an embedding."""


def info(file: EmbeddingFile, as_json: Json = False) -> None:
    """Show what an embedding, a map or a checkpoint holds and how it was made."""
    from phcle.files.container import format_of

    about = ABOUT.get(format_of(file) or "")
    if about is not None:
        answer = {"file": str(file), **about(file)}
        show(answer, _show, as_json=as_json)
        return
    from phcle.embedding import load
    from phcle.embedding.summary import summarise

    summary = summarise(load(file))
    answer = {"file": str(file), "what": "embedding", **summary.to_dict()}
    if not as_json:
        show_summary(summary)
    skipped = (*SHOWN_BEFORE, "chosen", "completion")
    show(answer, lambda x: _show(x, skipped), as_json=as_json)


def _about_checkpoint(path: Path) -> dict[str, Any]:
    from phcle.model.checkpoint import VERSION, look_into

    found = look_into(path)
    return {"what": "checkpoint of a fit", **found, "format_version": VERSION}


def _about_map(path: Path) -> dict[str, Any]:
    from phcle.images.image_map import VERSION, load_map

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


# By name, because the modules that own these formats are slow to import.
ABOUT: dict[str, Callable[[Path], dict[str, Any]]] = {
    "phcle.checkpoint": _about_checkpoint,
    "phcle.image-map": _about_map,
}


def _show(answer: dict[str, Any], skipped: tuple[str, ...] = ()) -> None:
    for title, value in answer.items():
        is_said = title in (*skipped, "file", "format_version")
        if not is_said and value not in ({}, [], None):
            show_line(f"{title}: {_one_line(value)}")
    show_line(f"format version: {answer['format_version']}")


def _one_line(value: object) -> str:
    """Write a dictionary or a list on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_one_line, value))
    return str(value)
