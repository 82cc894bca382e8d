"""What the JSON of the explorer looks like, for its OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Added",
    "AttributesFound",
    "Colouring",
    "Comparison",
    "Described",
    "Differences",
    "Explanation",
    "Failure",
    "FittingLabels",
    "Info",
    "LabelPage",
    "LabelsFound",
    "MapData",
    "Nearest",
    "NewLabelForm",
    "NodesFound",
    "SideBySide",
    "Status",
    "Understood",
]

Text = Annotated[str, Field(min_length=1, max_length=200)]


class Named(BaseModel):
    """A label and its readable name."""

    label: str
    name: str


class Neighbour(Named):
    """A label that is near another."""

    similarity: float


class Nearest(Named):
    """The nearest labels of a label, best first."""

    neighbours: list[Neighbour]


class LabelsFound(BaseModel):
    """Labels that somebody may mean, best first."""

    typed: str
    labels: list[Named]


class Node(BaseModel):
    """A node of the hierarchy; perhaps a label too."""

    node: str
    name: str
    is_label: bool


class NodeFound(Node):
    """A node, and the names of those above it, which tell it from its namesakes."""

    above: list[str]


class NodesFound(BaseModel):
    """Nodes that somebody may mean, best first."""

    typed: str
    nodes: list[NodeFound]


class AttributeName(BaseModel):
    """An attribute, and how its values are given."""

    context: str
    name: str
    sort: Literal["tags", "text", "numbers"]


class AttributesFound(BaseModel):
    """Attributes that somebody may mean, best first."""

    typed: str
    attributes: list[AttributeName]


class Attribute(BaseModel):
    """An attribute of a label, observed or predicted."""

    context: str
    name: str
    value: float
    strength: float
    confidence: float | None


class KnownContext(BaseModel):
    """Whether a context knows a label."""

    context: str
    kind: str
    known: bool


class Taxonomy(BaseModel):
    """A label's place in the hierarchy."""

    context: str
    path: list[Node]
    parents: list[Node]
    children: list[Node]
    n_children: int
    siblings: list[Node]
    n_siblings: int


class LabelPage(Nearest):
    """All there is to say about a label."""

    observed: list[Attribute]
    predicted: list[Attribute]
    untold: list[str]
    contexts: list[KnownContext]
    taxonomy: Taxonomy | None
    explains: bool


class RelatedLabel(Named):
    """A label, and the share of the similarity that it carries."""

    share: float


class Described(Named):
    """Related labels, and attributes known and predicted."""

    related: list[RelatedLabel]
    observed: list[Attribute]
    predicted: list[Attribute]
    contexts: dict[str, bool]
    untold: list[str]


class ExplainedColumn(BaseModel):
    """What one column adds to a similarity."""

    column: str
    name: str
    part: float


class SharedNode(BaseModel):
    """A node above both labels."""

    node: str
    name: str


class ExplainedContext(BaseModel):
    """What one context adds to a similarity."""

    context: str
    kind: str
    part: float
    columns: list[ExplainedColumn]
    shared: list[SharedNode]


class Explanation(BaseModel):
    """Why two labels are close; parts and rest add up to the similarity."""

    a: Named
    b: Named
    similarity: float
    parts: list[ExplainedContext]
    rest: float


class ComparedCell(BaseModel):
    """An attribute of one of the compared labels."""

    value: float | None
    observed: bool
    confidence: float | None


class ComparedAttribute(BaseModel):
    """An attribute of all compared labels."""

    context: str
    name: str
    strength: float
    cells: list[ComparedCell]


class ComparedContext(BaseModel):
    """Which of the compared labels a context knows."""

    context: str
    kind: str
    known: list[bool]


class Comparison(BaseModel):
    """A few labels side by side."""

    labels: list[Named]
    similarities: list[list[float]]
    ancestors: list[Node]
    attributes: list[ComparedAttribute]
    contexts: list[ComparedContext]
    explains: bool


class WantedAttribute(BaseModel):
    """An attribute asked for, or asked not to be there."""

    context: str
    name: str
    present: bool


class Chance(BaseModel):
    """The chance that a label has an attribute; 0 or 1 where that is observed."""

    chance: float
    observed: bool


class FittingLabel(Named):
    """A label that fits a description."""

    score: float
    chances: list[Chance]


class FittingLabels(BaseModel):
    """Labels that fit a description, best first."""

    wanted: list[WantedAttribute]
    labels: list[FittingLabel]


class NewValue(BaseModel):
    """An attribute of a new label; 1 and 0 for a tag that it has and has not."""

    model_config = ConfigDict(extra="forbid")

    context: Text
    column: Text
    value: Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)] = 1.0


class NewLabelForm(BaseModel):
    """A label to add, and what is known about it."""

    model_config = ConfigDict(extra="forbid")

    label: Text
    name: Annotated[str, Field(max_length=200)] | None = None
    parents: Annotated[list[Text], Field(max_length=20)] = []
    values: Annotated[list[NewValue], Field(max_length=200)] = []
    texts: dict[str, Annotated[str, Field(max_length=10_000)]] = {}


class Added(Nearest):
    """Where a new label lands."""

    observed: list[Attribute]
    predicted: list[Attribute]
    contexts: dict[str, bool]
    why: list[Explanation]
    place: list[float]
    notes: list[str]


class UnderstoodAttribute(BaseModel):
    """A predicted attribute of a picture."""

    context: str
    name: str
    value: float


class UnderstoodPicture(BaseModel):
    """A picture, or a vector of features, in labels and attributes."""

    picture: str
    related: list[RelatedLabel]
    attributes: list[UnderstoodAttribute]


class Understood(BaseModel):
    """What was read of a file."""

    pictures: list[UnderstoodPicture]
    rows: int


class DifferentLabel(Named):
    """A label, and the share of neighbours that both embeddings give it."""

    shared: float


class Differences(BaseModel):
    """Where the neighbourhoods of two embeddings differ most."""

    one: str
    other: str
    ready: bool
    k: int
    common: int
    mean: float | None
    histogram: list[int]
    labels: list[DifferentLabel]


class SharedNeighbour(Neighbour):
    """A neighbour in one embedding, perhaps in the other as well."""

    in_both: bool


class SideBySide(Named):
    """The neighbours of a label in two embeddings."""

    one: list[SharedNeighbour]
    other: list[SharedNeighbour]
    shared: float


class MapGroups(BaseModel):
    """A way to colour the map: a group for each label, as bytes in base64."""

    title: str
    groups: list[str]
    codes: str


class Shade(BaseModel):
    """The colour of a group: one of seven or grey; faint if it is predicted."""

    colour: int | None
    is_faint: bool


class Colouring(MapGroups):
    """A way to colour the map by an attribute."""

    shades: list[Shade]


class MapData(BaseModel):
    """The map: names, and numbers in base64 (float32 places, uint32 neighbours)."""

    names: list[str]
    labels: list[str] | None
    x: str
    y: str
    neighbours: str
    colourings: list[MapGroups]
    method: str
    ready: bool


class FittedContext(BaseModel):
    """A context that the embedding was learned from."""

    name: str
    kind: str
    labels: int
    coverage: float
    columns: int
    weight: float


class AttributeSet(BaseModel):
    """A context whose columns people can read."""

    context: str
    sort: Literal["tags", "text", "numbers"]
    columns: int


class Info(BaseModel):
    """What the file holds and what can be asked of it."""

    title: str
    labels: int
    dim: int
    contexts: list[FittedContext]
    sweeps: int
    objective: float | None
    seed: int | None
    options: dict[str, object]
    versions: dict[str, str]
    run: dict[str, object]
    files: list[dict[str, object]]
    format_version: int
    hierarchy: str | None
    attributes: list[AttributeSet]
    compared_with: str | None
    takes_features: bool
    takes_pictures: bool


class Stage(BaseModel):
    """How far a preparation is."""

    ready: bool
    failed: bool
    stage: str
    done: int
    total: int


class Status(BaseModel):
    """How far the preparations of the embeddings are."""

    labels: Stage
    other: Stage | None


class FailureText(BaseModel):
    """What went wrong, and what to do."""

    status: int
    message: str


class Failure(BaseModel):
    """The one shape of errors."""

    error: FailureText
