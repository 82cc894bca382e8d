"""Everything that phcle can answer, as frozen dataclasses with readable names.

The methods of `LabelEmbedding` fill these classes. The tables of the command line,
`--json`, the HTTP API and the pages of the explorer only show them: `Answer.to_dict`
gives the JSON, and FastAPI derives the API's schemas from the same fields. A new field
is therefore one edit here, one where it is filled, and one where a table or page shows
it. This module imports nothing but the standard library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

Value = float | bool | str
"""The value of a cell: a number, yes or no, or one of several values."""


class Answer:
    """Base of all answers."""

    def to_dict(self) -> dict[str, Any]:
        """Convert the answer to plain values, for JSON.

        Returns
        -------
        dict
            The fields by name; answers inside it are dictionaries too.
        """
        found: dict[str, Any] = as_json(self)
        return found


def as_json(value: object) -> Any:
    """Convert an answer, or values that hold answers, to what JSON can hold.

    Parameters
    ----------
    value : object
        An answer, a mapping, a list, a tuple or a plain value.

    Returns
    -------
    object
        The same with dictionaries and lists.

    Examples
    --------
    >>> as_json((Named("n1", "coffeepot"),))
    [{'label': 'n1', 'name': 'coffeepot'}]
    """
    if isinstance(value, Answer):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    return value


@dataclass(frozen=True)
class Named(Answer):
    """A label and its readable name.

    Attributes
    ----------
    label : str
        The label's id.
    name : str
        Its readable name; the id if it has none.
    """

    label: str
    name: str


@dataclass(frozen=True)
class Neighbour(Named):
    """A label that is similar to another.

    Attributes
    ----------
    similarity : float
        Cosine of the two vectors.
    percentile : float
        Share of all pairs of labels that are less similar, in percent.
    """

    similarity: float
    percentile: float


@dataclass(frozen=True)
class Nearest(Answer):
    """A label, or a vector, and the labels most similar to it.

    Attributes
    ----------
    label : str or None
        The label's id; None for a vector.
    name : str
        Its readable name, or where the vector comes from.
    neighbours : tuple of Neighbour
        The most similar labels, best first.
    """

    label: str | None
    name: str
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Related(Neighbour):
    """A related label. It can be unpacked as a pair of label and share.

    Attributes
    ----------
    share : float
        Its share of the similarity of all related labels.
    """

    share: float

    def __iter__(self) -> Iterator[Any]:
        return iter((self.label, self.share))

    def __getitem__(self, position: int) -> Any:
        return (self.label, self.share)[position]


@dataclass(frozen=True)
class Attribute(Answer):
    """One attribute of a label, in the user's units.

    Attributes
    ----------
    context : str
        The context that the attribute belongs to.
    name : str
        Name of the attribute.
    value : float
        Its observed or predicted value. Predicted tags, truth values and values of a
        category have their probability, if the fit predicted gaps.
    strength : float
        Distance from the mean of the attribute, in units of the context's scale.
    confidence : float or None, default=None
        Probability that the label has the attribute. None for a number, if the value is
        observed, or if the fit predicted no gaps.
    low, high : float or None, default=None
        Interval that holds a predicted number in 80 of 100 cases.
    """

    context: str
    name: str
    value: float
    strength: float
    confidence: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Description(Answer):
    """Related labels and the strongest attributes of a label or a vector.

    Attributes
    ----------
    label, name : str or None
        The label's id and its readable name; None for a vector.
    related : tuple of Related
        Related labels, most similar first; their shares sum to one.
    observed, predicted : tuple of Attribute
        The strongest attributes, strongest first.
    contexts : dict of str to bool
        Whether each context knows the label; empty for a vector.
    not_predictable : tuple of str
        Contexts that lack the label and know too little to predict its attributes.
    """

    label: str | None
    name: str | None
    related: tuple[Related, ...]
    observed: tuple[Attribute, ...]
    predicted: tuple[Attribute, ...]
    contexts: dict[str, bool]
    not_predictable: tuple[str, ...]


@dataclass(frozen=True)
class ExplainedColumn(Answer):
    """The part of a similarity that one column contributes.

    Attributes
    ----------
    column, name : str
        The column's id and its readable name.
    part : float
        What it contributes to the cosine.
    """

    column: str
    name: str
    part: float


@dataclass(frozen=True)
class SharedNode(Answer):
    """A common ancestor of two labels.

    Attributes
    ----------
    node, name : str
        The node's id and its readable name.
    """

    node: str
    name: str


@dataclass(frozen=True)
class ExplainedGroup(Answer):
    """Columns of a context that say the same about two labels, such as what both have.

    Attributes
    ----------
    group : str
        "both", "neither" or "one" (has it); "together" if labels occur with each other;
        "both_high", "both_low" or "different" for numbers above or below their mean;
        "known_of_one". For a family "each_other", "relatives_of_both",
        "relatives_of_one" or "own_data".
    words : str
        The same in words.
    part : float
        What the group contributes to the cosine.
    size : int
        Number of its columns or relatives.
    columns : tuple of ExplainedColumn
        Some of them, the most telling first.
    n_others : int
        Number of the others.
    others : float
        What the others contribute together.
    """

    group: str
    words: str
    part: float
    size: int
    columns: tuple[ExplainedColumn, ...]
    n_others: int
    others: float


@dataclass(frozen=True)
class ExplainedContext(Answer):
    """The part of a similarity that one context contributes.

    Attributes
    ----------
    context, kind : str
        Name and kind of the context.
    part : float
        What it contributes to the cosine.
    groups : tuple of ExplainedGroup
        Groups of its columns, which add up to the part. What makes the labels alike
        comes first. Empty if names of columns mean nothing to a person.
    shared : tuple of SharedNode
        Common ancestors in a hierarchy, the one above the fewest labels first; without
        those above most labels.
    """

    context: str
    kind: str
    part: float
    groups: tuple[ExplainedGroup, ...]
    shared: tuple[SharedNode, ...]


@dataclass(frozen=True)
class ExplanationLine(Answer):
    """One line of an explanation, as people read it.

    Attributes
    ----------
    part, context : str
        The context and its part; empty except in the first line of a context.
    group_part, words : str
        A group of columns of the context, and its part.
    columns : tuple of str
        Named columns with their parts; the last one is the sum of the others.
    """

    part: str
    context: str
    group_part: str = ""
    words: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation(Answer):
    """The cosine of two labels, and the parts that add up to it.

    Attributes
    ----------
    a, b : Named
        The two labels.
    similarity : float
        Cosine of their vectors.
    percentile : float
        Share of all pairs of labels that are less similar, in percent.
    parts : tuple of ExplainedContext
        The contribution of each context.
    rest : float
        Rounding error: the similarity minus the sum of the parts.
    lines : tuple of ExplanationLine
        The same to read.
    """

    a: Named
    b: Named
    similarity: float
    percentile: float
    parts: tuple[ExplainedContext, ...]
    rest: float
    lines: tuple[ExplanationLine, ...]


@dataclass(frozen=True)
class Cell(Named):
    """A cell of a table: known, or as predicted.

    Attributes
    ----------
    context, column : str
        Name of the context, and the column of the user's table or the tag.
    kind : {"number", "truth", "category", "tag"}
        What the column holds.
    value : float, bool, str or None
        The value; None if it is neither known nor predicted.
    observed : bool
        Whether the value is known.
    confidence : float or None
        Probability of a predicted value; None for a number, and if the fit predicted
        none.
    low, high : float or None
        Interval that holds a predicted number in 80 of 100 cases.
    family : float, bool, str or None
        Mean or most common value of the nearest group of a hierarchy.
    why : str
        What speaks most for the value.
    probabilities : mapping from str to float, or None
        Probability of each value of a category, if asked for.
    draw : int or None
        Number of the draw, if cells were drawn.
    expected : float, bool, str or None
        Of a known cell that is unlikely: the value that is predicted without it.
    chance : float or None
        Probability of the known value; of a number, of one as far from the prediction.
    """

    context: str
    column: str
    kind: str
    value: Value | None
    observed: bool = False
    confidence: float | None = None
    low: float | None = None
    high: float | None = None
    family: Value | None = None
    why: str = ""
    probabilities: Mapping[str, float] | None = None
    draw: int | None = None
    expected: Value | None = None
    chance: float | None = None


@dataclass(frozen=True)
class Completion(Answer):
    """Unknown cells of tables, as predicted.

    Attributes
    ----------
    cells : tuple of Cell
        The cells, label by label.
    """

    cells: tuple[Cell, ...]

    def __len__(self) -> int:
        return len(self.cells)

    def to_frame(self) -> Any:
        """Convert the cells to a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per cell, and a column for each attribute of a `Cell`.
        """
        import pandas as pd

        titles = [x.name for x in fields(Cell)]
        return pd.DataFrame(list(map(vars, self.cells)), columns=titles)


@dataclass(frozen=True)
class ColumnSkill(Answer):
    """How well hidden cells of a column are predicted, beside simple rules.

    Attributes
    ----------
    context, column : str
        The table and its column.
    kind : {"number", "truth", "category", "tag"}
        What the column holds.
    cells : int
        Number of hidden cells.
    measure : str
        What the scores are: "R²", or "share right".
    score : float
        Score of the embedding.
    usual : float
        Score of the mean or most common value.
    family : float or None
        Score of the family; None without a hierarchy.
    best_rule : str
        The best of these rules.
    error : float
        Standard error of the lead over it.
    verdict : {"better", "as good", "worse"}
        How the embedding compares with it.
    """

    context: str
    column: str
    kind: str
    cells: int
    measure: str
    score: float
    usual: float
    family: float | None
    best_rule: str
    error: float
    verdict: str

    @property
    def words(self) -> str:
        """How the embedding compares with the best rule, in words."""
        than = "as" if self.verdict == "as good" else "than"
        return f"{self.verdict} {than} the {self.best_rule}"


@dataclass(frozen=True)
class CompletionSkill(Answer):
    """How well the tables of an embedding are completed.

    Attributes
    ----------
    file : str or None
        The embedding's file, if it was asked from the shell.
    cells : int
        Number of hidden cells.
    columns : tuple of ColumnSkill
        The scores of every column with enough hidden cells.
    """

    file: str | None
    cells: int
    columns: tuple[ColumnSkill, ...]

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        if not self.columns:
            return "Too few cells could be hidden to say how good a completion is."
        n, of = Counter(x.verdict for x in self.columns), len(self.columns)
        return (
            f"Completion of {of} column{'s' * (of > 1)} on hidden cells: better than "
            f"the best simple rule in {n['better']}, as good in {n['as good']}, worse "
            f"in {n['worse']}."
        )


@dataclass(frozen=True)
class EmbeddingSummary(Answer):
    """What an embedding holds and how it was learned.

    Attributes
    ----------
    labels, dim : int
        Number of labels and of dimensions.
    contexts : tuple of mapping
        The contexts of the fit: `name`, `kind`, number of `labels` that it knows and
        their share (`coverage`), number of `columns`, `weight`, and how a `hierarchy`
        was counted (`kind` and `decay`; None for any other context).
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
    chosen : mapping or None
        The `setting` that the fit chose, the `trials` (`change`, `setting`, `skill`,
        `skills` by table and `kept`), and in `words` what was chosen and why, which
        columns are fitted on a log scale, and with weights="auto" why each context has
        its weight. None if the file does not say.
    completion : CompletionSkill or None
        How well cells were predicted that the fit hid; None if the file does not say.
    format_version : int
        Version of the file format.
    """

    labels: int
    dim: int
    contexts: tuple[Mapping[str, Any], ...]
    sweeps: int
    objective: float | None
    seed: int | None
    options: dict[str, Any]
    versions: dict[str, str]
    run: dict[str, Any]
    files: tuple[dict[str, Any], ...]
    chosen: Mapping[str, Any] | None
    completion: CompletionSkill | None
    format_version: int


@dataclass(frozen=True)
class Groups(Answer):
    """Groups of similar labels.

    Attributes
    ----------
    clusters : tuple of tuple of Named
        The labels of each group; similar ones stand together.
    names : tuple of str
        A name for each group: what its labels have in common.
    """

    clusters: tuple[tuple[Named, ...], ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class LeftOutContext(Answer):
    """What the hidden cells of other tables lose without a context.

    Attributes
    ----------
    context : str
        Name of the context.
    skill : float or None
        Mean skill for the other tables with all contexts: 1 is perfect, 0 is as good as
        the means of the columns. None if no other table can be predicted.
    without : float or None
        Mean skill without the context.
    error : float
        Standard error of the difference.
    tables : mapping of str to float
        Skill for each of the other tables without the context.
    verdict : str
        "helps", "no effect", "no clear effect", "harms" or "unknown".
    words : str
        The same in words.
    """

    context: str
    skill: float | None
    without: float | None
    error: float
    tables: Mapping[str, float]
    verdict: str
    words: str


@dataclass(frozen=True)
class ContextHelp(Answer):
    """Which contexts of an embedding help to predict hidden cells.

    Attributes
    ----------
    file : str or None
        The embedding; None if it was given in Python.
    cells : int
        Number of hidden cells.
    skills : mapping of str to float
        Skill for the hidden cells of each table with all contexts.
    contexts : tuple of LeftOutContext
        The same without each of the contexts; empty if nothing can be measured.
    reason : str
        What was measured, or why nothing was.
    """

    file: str | None
    cells: int
    skills: Mapping[str, float]
    contexts: tuple[LeftOutContext, ...]
    reason: str

    def __str__(self) -> str:
        """The answer in words, a line for each context."""
        return "\n".join([self.reason, *(each.words for each in self.contexts)])


@dataclass(frozen=True)
class UnderstoodPicture(Answer):
    """A picture, or a vector of features, described by labels and attributes.

    Attributes
    ----------
    picture : str
        Where the picture comes from.
    related : tuple of Related
        Related labels, most similar first.
    attributes : tuple of Attribute
        The strongest attributes of each context, strongest first.
    """

    picture: str
    related: tuple[Related, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True)
class FilledTable(Answer):
    """What `phcle complete --wide` reports.

    Attributes
    ----------
    table : str
        The user's table.
    file : str
        The filled table.
    rows : int
        Rows of the table.
    filled : int
        Cells that were empty and now have a value.
    changed : int
        Known cells that somebody decided to change.
    left_empty : int
        Cells of the same columns that are still empty.
    markers : int
        Cells of the same columns that say that they are unknown, and stay so.
    unknown_rows : int
        Rows whose label is not in the embedding.
    unknown_labels : tuple of str
        The first of these labels.
    """

    table: str
    file: str
    rows: int
    filled: int
    changed: int
    left_empty: int
    markers: int
    unknown_rows: int
    unknown_labels: tuple[str, ...]


@dataclass(frozen=True)
class WrittenReport(Answer):
    """The file of a report.

    Attributes
    ----------
    report : str
        The page.
    labels : int
        Number of labels.
    map : str
        How the labels were placed on the map.
    left_out : str
        What the page has no room for, with the remedy; or nothing.
    """

    report: str
    labels: int
    map: str
    left_out: str
