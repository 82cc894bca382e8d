"""The explorer's map of all labels."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer

__all__ = [
    "Colouring",
    "MapData",
    "MapGroups",
    "Shade",
]


@dataclass(frozen=True)
class MapGroups(Answer):
    """A way to colour the map.

    Attributes
    ----------
    title : str
        What the colours mean.
    groups : tuple of str
        Names of the groups.
    codes : str
        Position of each label's group, as bytes in base64.
    """

    title: str
    groups: tuple[str, ...]
    codes: str


@dataclass(frozen=True)
class Shade(Answer):
    """The colour of a group on the map.

    Attributes
    ----------
    colour : int or None
        Number of the colour; None is grey.
    is_faint : bool
        Whether the colour is faint, which marks predictions.
    """

    colour: int | None
    is_faint: bool


@dataclass(frozen=True)
class Colouring(MapGroups):
    """A way to colour the map by an attribute.

    Attributes
    ----------
    shades : tuple of Shade
        The colour of each group.
    """

    shades: tuple[Shade, ...]


@dataclass(frozen=True)
class MapData(Answer):
    """The map of all labels.

    Attributes
    ----------
    names : list of str
        Readable names of the labels.
    labels : list of str or None
        Their ids; None if they are the names.
    x, y : str
        Places, as float32 in base64.
    neighbours : str
        Positions of each label's nearest labels, as uint32 in base64.
    colourings : tuple of MapGroups
        Ways to colour the map.
    method : str
        How the places were computed.
    ready : bool
        False for a first sketch, while the map is still being computed.
    """

    names: list[str]
    labels: list[str] | None
    x: str
    y: str
    neighbours: str
    colourings: tuple[MapGroups, ...]
    method: str
    ready: bool
