"""ImNet-A and ImNet-O: attributes of some ImageNet classes, as tags."""

from __future__ import annotations

from pathlib import Path

from phcle.contexts import DescriptiveContext
from phcle.contexts.readers.delimited import read_text
from phcle.errors import ContextError, FileError
from phcle.files import is_folder, parse_json
from phcle_paper.datasets.class_names import readable_name
from phcle_paper.datasets.releases import IMNET

__all__ = ["load_imnet_attributes"]

FILES = ("ImNet_A.json", "ImNet_O.json")


def load_imnet_attributes(path: str | Path) -> DescriptiveContext:
    """Tags of wnids, from one JSON file, or from both in a folder.

    A class may be outside ImageNet-1K: `match_wnids` keeps those within.
    """
    path = Path(path)
    paths = [IMNET.file(path, name) for name in FILES] if is_folder(path) else [path]
    tags: dict[str, list[str]] = {}
    for source in paths:
        for wnid, own in _read(source).items():
            tags.setdefault(wnid, []).extend(map(readable_name, own))
    try:
        return DescriptiveContext.from_tags(tags, name="ImNet attributes")
    except ContextError as error:
        raise ContextError(f"{path}: {error}") from error


def _read(path: Path) -> dict[str, list[str]]:
    """An object of wnids with a list of attribute names each."""
    found = parse_json(read_text(path), str(path))
    if not isinstance(found, dict) or not found:
        raise FileError(
            f"{path}: must be a JSON object from wnids to attributes. {IMNET.remedy}"
        )
    for wnid, own in found.items():
        if not isinstance(own, list) or not all(isinstance(tag, str) for tag in own):
            raise FileError(
                f"{path}: the attributes of {wnid!r} must be a list of names. "
                f"Got {str(own)[:40]!r} instead. {IMNET.remedy}"
            )
    return found
