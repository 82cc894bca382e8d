"""The explorer's map of all labels."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers.answer import Answer

__all__ = [
    "MapColouring",
    "MapData",
    "MapRegion",
    "Shade",
]


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
class MapColouring(Answer):
    """A way to colour the map: by groups of labels, or by a number.

    Arrays are texts: a type ("f4", "u4", "u2" or "u1"), a colon and base64.

    Attributes
    ----------
    title : str
        What the colours mean.
    groups : tuple of str or None
        Names of the groups; None for numbers.
    codes : str or None
        Position of each label's group, an array of "u1".
    shades : tuple of Shade or None
        The colour of each group. None if every group has its own colour and the last
        one is "other".
    values : str or None
        The number of each label, an array of "f4", NaN where it is unknown.
    low, high : float or None
        Ends of the scale of the numbers.
    is_log : bool, default=False
        Whether the scale shows ratios, and not differences.
    is_known : str or None
        For an attribute: 1 where it is observed, 0 where it is predicted, "u1".
    confidence : str or None
        For an attribute: how sure the value is, from 0 to 255, "u1".
    context, column : str or None
        The attribute.
    """

    title: str
    groups: tuple[str, ...] | None = None
    codes: str | None = None
    shades: tuple[Shade, ...] | None = None
    values: str | None = None
    low: float | None = None
    high: float | None = None
    is_log: bool = False
    is_known: str | None = None
    confidence: str | None = None
    context: str | None = None
    column: str | None = None


@dataclass(frozen=True)
class MapRegion(Answer):
    """The name of a part of the map.

    Attributes
    ----------
    name : str
        The name of what its labels share.
    x, y : float
        Where its labels are densest, or the middle of several crowds of them.
    reach : float
        Distance from there within which half of its labels lie.
    labels : int
        Number of its labels.
    of : str or None
        Title of the colouring whose group it is; None for a finer region.
    """

    name: str
    x: float
    y: float
    reach: float
    labels: int
    of: str | None = None


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
        Places, as `MapColouring` writes arrays.
    neighbours : str
        Positions of each label's nearest labels, the same number for each label.
    colourings : tuple of MapColouring
        Ways to colour the map.
    regions : tuple of MapRegion
        Names of parts of the map, the largest first.
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
    colourings: tuple[MapColouring, ...]
    regions: tuple[MapRegion, ...]
    method: str
    ready: bool
