"""What only the pages of the explorer show; see `phcle.answers`."""

from __future__ import annotations

from dataclasses import dataclass

from phcle.answers import (
    Answer,
    Attribute,
    EmbeddingSummary,
    Explanation,
    Named,
    Nearest,
    Neighbour,
    UnderstoodPicture,
    ValueSort,
)
from phcle.explorer.label_columns import ShownCell
from phcle.report.map_regions import MapRegion


@dataclass(frozen=True)
class AttributeSet(Answer):
    """A context whose columns are readable attributes.

    Attributes
    ----------
    context : str
        Name of the context.
    sort : {"tags", "text", "numbers"}
        How its values are given.
    columns : int
        Number of its attributes.
    """

    context: str
    sort: ValueSort
    columns: int


@dataclass(frozen=True)
class _Titled(Answer):
    """The title of an opened embedding; the first field of an answer."""

    title: str


@dataclass(frozen=True)
class ExplorerInfo(EmbeddingSummary, _Titled):
    """What the opened embedding holds and what can be asked about it.

    Attributes
    ----------
    hierarchy : str or None
        The context with the hierarchy that is shown.
    attributes : tuple of AttributeSet
        Contexts with readable attributes.
    compared_with : str or None
        Title of the second embedding.
    takes_features, takes_pictures : bool
        Whether features of pictures, and pictures themselves, can be described.
    """

    hierarchy: str | None
    attributes: tuple[AttributeSet, ...]
    compared_with: str | None
    takes_features: bool
    takes_pictures: bool


@dataclass(frozen=True)
class Progress(Answer):
    """How far the background work for an embedding is.

    Attributes
    ----------
    ready, failed : bool
        Whether it is done, and whether it failed.
    stage : str
        What is being done.
    done, total : int
        Number of labels done in this stage, and of all labels.
    """

    ready: bool
    failed: bool
    stage: str
    done: int
    total: int


@dataclass(frozen=True)
class Status(Answer):
    """How far the background work is.

    Attributes
    ----------
    labels : Progress
        For the opened embedding.
    other : Progress or None
        For the embedding that it is compared with.
    second_map : Progress or None
        For the second of two maps; None if nobody has asked for them.
    """

    labels: Progress
    other: Progress | None
    second_map: Progress | None


@dataclass(frozen=True)
class FailureText(Answer):
    """What went wrong, and what to do.

    Attributes
    ----------
    status : int
        The HTTP status.
    message : str
        The reason, in words.
    """

    status: int
    message: str


@dataclass(frozen=True)
class Failure(Answer):
    """The JSON of every error.

    Attributes
    ----------
    error : FailureText
        What went wrong.
    """

    error: FailureText


@dataclass(frozen=True)
class LabelsFound(Answer):
    """Labels that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    labels : tuple of Named
        Matching labels, best first.
    """

    typed: str
    labels: tuple[Named, ...]


@dataclass(frozen=True)
class Node(Answer):
    """A node of the hierarchy.

    Attributes
    ----------
    node, name : str
        The node's id and its readable name.
    is_label : bool
        Whether the node is a label of the embedding.
    """

    node: str
    name: str
    is_label: bool


@dataclass(frozen=True)
class NodeFound(Node):
    """A node that matches what was typed.

    Attributes
    ----------
    above : tuple of str
        Names of its parents, which tell apart nodes of the same name.
    """

    above: tuple[str, ...]


@dataclass(frozen=True)
class NodesFound(Answer):
    """Nodes that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    nodes : tuple of NodeFound
        Matching nodes, best first.
    """

    typed: str
    nodes: tuple[NodeFound, ...]


@dataclass(frozen=True)
class AttributeName(Answer):
    """An attribute that labels can have.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    sort : {"tags", "text", "numbers"}
        How its values are given.
    """

    context: str
    name: str
    sort: ValueSort


@dataclass(frozen=True)
class AttributesFound(Answer):
    """Attributes that match what was typed.

    Attributes
    ----------
    typed : str
        What was typed.
    attributes : tuple of AttributeName
        Matching attributes, best first.
    """

    typed: str
    attributes: tuple[AttributeName, ...]


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


@dataclass(frozen=True)
class FoundRows(Answer):
    """Labels that pass filters.

    Attributes
    ----------
    n, total : int
        Number of these labels, and of all.
    rows : str
        Their positions on the map, as unsigned 32-bit numbers, little endian, in
        base64. The map of a large embedding shows only some of them.
    """

    n: int
    total: int
    rows: str


@dataclass(frozen=True)
class Place(Named):
    """Where a label is on the map.

    Attributes
    ----------
    x, y : float
        The place.
    """

    x: float
    y: float


@dataclass(frozen=True)
class KnownContext(Answer):
    """Whether a context knows a label.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    known : bool
        Whether it knows the label.
    """

    context: str
    kind: str
    known: bool


@dataclass(frozen=True)
class TaxonomyPlace(Answer):
    """Where a label stands in the hierarchy.

    Attributes
    ----------
    context : str
        The context that holds the hierarchy.
    path : tuple of Node
        Nodes from a root down to the label.
    parents : tuple of Node
        Its parents.
    children : tuple of Node
        The first of its children.
    n_children : int
        Number of all its children.
    siblings : tuple of Node
        The first of its siblings.
    n_siblings : int
        Number of all its siblings.
    """

    context: str
    path: tuple[Node, ...]
    parents: tuple[Node, ...]
    children: tuple[Node, ...]
    n_children: int
    siblings: tuple[Node, ...]
    n_siblings: int


@dataclass(frozen=True)
class LabelPage(Nearest):
    """All that the page of a label shows.

    Attributes
    ----------
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    not_predictable : tuple of str
        Contexts that lack the label and know too little to predict its attributes.
    cells : tuple of ShownCell
        Its row in each table, observed and predicted.
    contexts : tuple of KnownContext
        Whether each context knows the label.
    taxonomy : TaxonomyPlace or None
        Its place in the hierarchy, if it has one.
    explains : bool
        Whether the embedding can explain similarities.
    """

    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    not_predictable: tuple[str, ...]
    cells: tuple[ShownCell, ...]
    contexts: tuple[KnownContext, ...]
    taxonomy: TaxonomyPlace | None
    explains: bool


@dataclass(frozen=True)
class LandedLabel(Nearest):
    """Where a new label would stand in an embedding.

    Attributes
    ----------
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    contexts : dict of str to bool
        Whether each context knows the label.
    why : tuple of Explanation
        Why it is similar to its nearest neighbours.
    place : tuple of float
        Its place on the map.
    notes : tuple of str
        Warnings about what was entered.
    """

    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]
    why: tuple[Explanation, ...]
    place: tuple[float, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ComparedCell(Answer):
    """An attribute of one of the compared labels.

    Attributes
    ----------
    value : float or None
        The observed value, or a predicted number; None if there is neither.
    observed : bool
        Whether the value is observed.
    confidence : float or None, default=None
        Probability that the label has the attribute, if it is not observed. None for a
        number.
    low, high : float or None, default=None
        Interval that holds a predicted number in 80 of 100 cases.
    """

    value: float | None
    observed: bool
    confidence: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ComparedAttribute(Answer):
    """An attribute of all compared labels.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    strength : float
        The largest strength that it has for one of the labels.
    cells : tuple of ComparedCell
        The attribute of each label, in the order of the labels.
    is_number : bool, default False
        Whether it is a number, so that 0 does not mean no.
    """

    context: str
    name: str
    strength: float
    cells: tuple[ComparedCell, ...]
    is_number: bool = False


@dataclass(frozen=True)
class ComparedContext(Answer):
    """Which of the compared labels a context knows.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    known : tuple of bool
        Whether it knows each label, in the order of the labels.
    """

    context: str
    kind: str
    known: tuple[bool, ...]


@dataclass(frozen=True)
class Comparison(Answer):
    """A few labels side by side.

    Attributes
    ----------
    labels : tuple of Named
        The labels.
    similarities : tuple of tuple of float
        Cosines of all pairs.
    percentiles : tuple of tuple of float
        For each of them, the share of all pairs of labels that are less similar, in
        percent.
    ancestors : tuple of Node
        Common ancestors, the one above the fewest labels first; without those above
        most labels.
    attributes : tuple of ComparedAttribute
        The strongest attributes of any of the labels, strongest first.
    contexts : tuple of ComparedContext
        Which labels each context knows.
    explains : bool
        Whether the embedding can explain similarities.
    """

    labels: tuple[Named, ...]
    similarities: tuple[tuple[float, ...], ...]
    percentiles: tuple[tuple[float, ...], ...]
    ancestors: tuple[Node, ...]
    attributes: tuple[ComparedAttribute, ...]
    contexts: tuple[ComparedContext, ...]
    explains: bool


@dataclass(frozen=True)
class WantedAttribute(Answer):
    """An attribute that labels shall have, or shall lack.

    Attributes
    ----------
    context, name : str
        The attribute and its context.
    present : bool
        True if labels shall have it.
    """

    context: str
    name: str
    present: bool


@dataclass(frozen=True)
class AttributeChance(Answer):
    """The probability that a label has an attribute.

    Attributes
    ----------
    chance : float
        The probability; 0 or 1 if it is observed.
    observed : bool
        Whether it is observed.
    """

    chance: float
    observed: bool


@dataclass(frozen=True)
class FittingLabel(Named):
    """A label, and how well it fits the wanted attributes.

    Attributes
    ----------
    score : float
        How well it fits, from 0 to 1.
    chances : tuple of AttributeChance
        One for each wanted attribute.
    """

    score: float
    chances: tuple[AttributeChance, ...]


@dataclass(frozen=True)
class FittingLabels(Answer):
    """Labels found by their attributes.

    Attributes
    ----------
    wanted : tuple of WantedAttribute
        What was asked for.
    labels : tuple of FittingLabel
        The labels that fit best, best first.
    """

    wanted: tuple[WantedAttribute, ...]
    labels: tuple[FittingLabel, ...]


@dataclass(frozen=True)
class DifferentLabel(Named):
    """A label whose neighbours differ between two embeddings.

    Attributes
    ----------
    shared : float
        Share of its neighbours that both embeddings name.
    """

    shared: float


@dataclass(frozen=True)
class Differences(Answer):
    """The labels whose neighbours differ most between two embeddings.

    Attributes
    ----------
    one, other : str
        Titles of the embeddings.
    ready : bool
        False while the neighbours are still being computed.
    k : int
        Number of neighbours compared.
    common : int
        Number of labels that both embeddings have.
    mean : float or None
        Mean share of common neighbours.
    histogram : tuple of int
        Number of labels with 0, 1, … k common neighbours.
    labels : tuple of DifferentLabel
        The labels that differ most.
    """

    one: str
    other: str
    ready: bool
    k: int = 0
    common: int = 0
    mean: float | None = None
    histogram: tuple[int, ...] = ()
    labels: tuple[DifferentLabel, ...] = ()


@dataclass(frozen=True)
class SharedNeighbour(Neighbour):
    """A neighbour in one embedding, and perhaps in another.

    Attributes
    ----------
    in_both : bool
        Whether the other embedding names it too.
    """

    in_both: bool


@dataclass(frozen=True)
class SideBySide(Named):
    """The neighbours of a label in two embeddings.

    Attributes
    ----------
    one, other : tuple of SharedNeighbour
        Its neighbours in each embedding, best first.
    shared : float
        Share of neighbours that both embeddings name.
    """

    one: tuple[SharedNeighbour, ...]
    other: tuple[SharedNeighbour, ...]
    shared: float


@dataclass(frozen=True)
class UnderstoodFile(Answer):
    """The pictures of an uploaded file.

    Attributes
    ----------
    pictures : tuple of UnderstoodPicture
        The first pictures of the file.
    rows : int
        Number of pictures in the file.
    """

    pictures: tuple[UnderstoodPicture, ...]
    rows: int
