"""Why a value is predicted, in words such as "relatives lion, tiger; diet=meat".

At the end of a fit, λ3·w is the sum of what pulls the label: columns times their
vectors, or relatives times theirs. A predicted value is w·u, so it splits over the same
names. Those that speak most for the value are named: a known cell of a table by itself,
relatives, tags, words and counts as one group for each context, with its strongest
members. Only what a label has is named, not what it lacks. A count is named by its size
and the direction of its column, because its pull is only what the vectors still lack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.base.fitted_context import FittedContext
from phcle.contexts.reasons import Evidence
from phcle.contexts.terms import Penalties
from phcle.embedding.cell_texts import value_text

if TYPE_CHECKING:
    from phcle.contexts.base.predicting_context import PredictingContext
    from phcle.contexts.descriptive.fields import Field
    from phcle.embedding.label_embedding import LabelEmbedding


USUAL = "usual value"
"""The reason of a value that is common in its column, more than anything else."""

MOST_GROUPS, MOST_MEMBERS = 3, 3
"""Most groups in a sentence, and most names of a group: more do not help a reader. With
several groups, each has a name less."""

SMALL = 0.25
"""Leave out a group or a name whose part is less than this share of the largest one."""

NEAR = 0.1
"""A number that differs from the mean by less than this many standard deviations is a
usual value: what pulls it that little way is no reason."""

MOST_NAMES = 32
"""Names of a context that are compared for a label: those with the strongest pulls."""

BLOCK = 2_000_000
"""Most pulls that are in memory at once: 16 MB."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Something that speaks for a value: its text, or a title with members."""

    text: str
    vector: Floats
    names: Sequence[str] = ()
    members: Floats | None = None  # (names, dim)
    knows: Flags | None = None  # (names, fields)


class CellReasons:
    """Says why the values of a context's cells are predicted.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    context : PredictingContext
        The context whose cells are predicted.
    """

    def __init__(self, embedding: LabelEmbedding, context: PredictingContext) -> None:
        self.embedding, self.fields = embedding, context.fields
        self.lam = Penalties(**embedding.penalties)
        factor = np.asarray(context.factor, np.float64)
        self.targets = factor * np.asarray(context.scale)[:, None]  # (columns, dim)
        self.offset = np.asarray(context.offset)
        self.near = _near(context)
        self.contexts = [x for x in embedding.contexts if x.weight > 0]
        self.knows = _known_fields(context)  # (labels of the context, fields)
        self.label_rows = {} if context.data is None else context.data.index
        self.norms: dict[str, Floats] = {}
        self.rows: dict[str, Ints] = {}
        self.looked_up: dict[int, Floats | None] = {}

    def words(self, rows: Ints, chosen: Ints, wanted: Flags) -> list[list[str]]:
        """Say why values are predicted.

        Parameters
        ----------
        rows : array of int of shape (labels,)
            Positions of the labels in the embedding.
        chosen : array of int of shape (labels, fields)
            The predicted values: the position of a category's value, and 1 or 0 for
            truth values and tags. Numbers ignore it.
        wanted : array of bool of shape (labels, fields)
            Cells that need a reason.

        Returns
        -------
        list of list of str
            For each label the texts of its wanted cells, in the order of the fields.
        """
        widest = max((len(x.columns) for x in self.contexts), default=1)
        widest = max(widest, len(self.embedding) if self.contexts else 1)
        step = max(BLOCK // widest, 1)
        found: list[list[str]] = []
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            groups = self._groups(rows[part])
            for each in zip(
                rows[part], groups, chosen[part], wanted[part], strict=True
            ):
                found.append(self._label_words(*each))
        return found

    def _groups(self, rows: Ints) -> Iterator[list[_Group]]:
        """For each label what its vector is made of, in units of w."""
        labels = [self.embedding.labels[i] for i in rows.tolist()]
        vectors = np.asarray(self.embedding.vectors[rows], np.float64)
        all_evidence = [
            x.evidence(labels, vectors, self.lam, self._vectors_of)
            for x in self.contexts
        ]
        # w = (Σ pulls · vectors + own · w) / λ3, solved for w.
        own = sum((x.own for x in all_evidence), start=np.zeros(len(labels)))
        unit = 1 / np.maximum(self.lam.ridge - own, 1e-12)
        readers = [
            self._reader(context, evidence, labels)
            for context, evidence in zip(self.contexts, all_evidence, strict=True)
        ]
        for row in range(len(labels)):
            yield [group for reader in readers for group in reader(row, unit[row])]

    def _vectors_of(self, labels: Sequence[str]) -> Floats | None:
        """Vectors of labels; those of a family are looked up once."""
        if id(labels) not in self.looked_up:
            known = all(label in self.embedding for label in labels)
            self.looked_up[id(labels)] = (
                np.asarray(self.embedding.select(labels).vectors, np.float64)
                if known
                else None
            )
        return self.looked_up[id(labels)]

    def _reader(
        self, context: FittedContext, evidence: Evidence, labels: Sequence[str]
    ) -> Callable[[int, float], Iterator[_Group]]:
        """How the groups of a context are read, for a row of its evidence."""
        if not context.has_readable_columns:
            return partial(_whole, evidence, context.name)
        if context.name not in self.norms:
            self.norms[context.name] = np.linalg.norm(evidence.vectors, axis=1)
            rows = [self.label_rows.get(name, -1) for name in evidence.names]
            self.rows[context.name] = np.array(rows, dtype=np.int64)
        norms = self.norms[context.name]
        if context.predicts_columns:
            table: Any = context
            known = np.array([table.observed_row(label) for label in labels])
            if any(field.kind not in ("tag", "word") for field in table.fields):
                sizes = np.abs(evidence.pulls) * norms
                return partial(_cells, evidence, sizes, known, table.fields)
            pulls = np.where(np.nan_to_num(known) > 0, evidence.pulls, 0.0)
            total = pulls @ evidence.vectors
            evidence = replace(evidence, total=total, weights=pulls)
        name_of = self.embedding.name_of
        knows = partial(self._members_know, self.rows[context.name])
        return partial(_members, evidence, norms, name_of, knows, labels)

    def _members_know(self, rows: Ints, at: Ints) -> Flags | None:
        """Which members know which fields themselves; None if that is not recorded."""
        if self.knows is None:
            return None
        return self.knows[rows[at]] & (rows[at] >= 0)[:, None]

    def _label_words(
        self, row: int, groups: Sequence[_Group], chosen: Ints, wanted: Flags
    ) -> list[str]:
        """The texts of one label's cells."""
        asked = np.flatnonzero(wanted)
        if not len(asked):
            return []
        toward, usual = self._directions(row, asked, chosen[asked])
        vectors = np.array([group.vector for group in groups])
        shape = len(groups), toward.shape[1]  # there may be no group
        parts = np.vstack([vectors.reshape(shape) @ toward.T, usual])
        shown = _largest(parts, MOST_GROUPS)
        texts = [group.text for group in groups] + [USUAL]
        names = {
            i: _names(groups[i], toward, asked)
            for i in {i for own in shown for i in own}
            if i < len(groups) and groups[i].members is not None
        }
        return [
            "; ".join(
                _named(texts[i], names[i][cell], len(own)) if i in names else texts[i]
                for i in own
            )
            for cell, own in enumerate(shown)
        ]

    def _directions(self, row: int, at: Ints, chosen: Ints) -> tuple[Floats, Floats]:
        """Where vectors must point to speak for values, and how usual the values are.

        A category's value is compared with the mean of its other values, a truth value
        with one half, and a number with the mean of its column.
        """
        fields = self._layout
        is_category = fields.is_category[at]
        pick = fields.first[at] + np.where(is_category, chosen, 0)
        toward, usual = self.targets[pick], self.offset[pick] - 0.5
        n_others = fields.n_values[at] - 1
        compared = is_category & (n_others > 0)
        rest = (fields.sums[at] - toward) / np.maximum(n_others, 1)[:, None]
        rest_usual = (1 - self.offset[pick]) / np.maximum(n_others, 1)
        toward = np.where(compared[:, None], toward - rest, toward)
        usual = np.where(is_category, self.offset[pick] - rest_usual, usual)
        is_number = fields.is_number[at]
        sign = np.where(is_category | (chosen > 0), 1.0, -1.0)
        deviation = toward @ np.asarray(self.embedding.vectors[row], np.float64)
        sign = np.where(is_number, np.where(deviation >= 0, 1.0, -1.0), sign)
        by_far = np.where(np.abs(deviation) < self.near[pick], np.inf, 0.0)
        return sign[:, None] * toward, np.where(is_number, by_far, sign * usual)

    @cached_property
    def _layout(self) -> _Layout:
        """The fields as arrays."""
        first = np.array([x.at.start for x in self.fields], dtype=np.int64)
        n_values = np.array([x.at.stop for x in self.fields], dtype=np.int64) - first
        sums = [self.targets[x.at].sum(axis=0) for x in self.fields]
        kinds = np.array([x.kind for x in self.fields])
        return _Layout(
            first, n_values, np.array(sums), kinds == "category", kinds == "number"
        )


@dataclass(frozen=True, eq=False)
class _Layout:
    """First columns of the fields, sums of their vectors, and their kinds."""

    first: Ints
    n_values: Ints
    sums: Floats  # (fields, dim)
    is_category: Flags
    is_number: Flags


def _whole(evidence: Evidence, name: str, row: int, unit: float) -> Iterator[_Group]:
    """A context without readable columns is one group."""
    yield _Group(name, unit * evidence.total[row])


def _cells(
    evidence: Evidence,
    sizes: Floats,
    known: Floats,
    fields: Sequence[Field],
    row: int,
    unit: float,
) -> Iterator[_Group]:
    """Every known cell of a table is a group; those with the strongest pulls."""
    found = [
        (float(sizes[row, field.at].max()), n)
        for n, field in enumerate(fields)
        if not np.isnan(known[row][field.at.start])
    ]
    for _, n in sorted(found, reverse=True)[:MOST_NAMES]:
        at = fields[n].at
        value = _value(fields[n], known[row][at])
        pulls = evidence.pulls[row, at]
        yield _Group(
            f"{fields[n].title}={value_text(value)}",
            unit * (pulls @ evidence.vectors[at]),
        )


def _value(field: Field, known: Floats) -> float | bool | str:
    """The known value of a cell, from its columns."""
    if field.kind == "category":
        return field.values[int(known.argmax())]
    return float(known[0]) if field.kind == "number" else bool(known[0] > 0)


def _members(
    evidence: Evidence,
    norms: Floats,
    name_of: Callable[[str], str],
    knows: Callable[[Ints], Flags | None],
    labels: Sequence[str],
    row: int,
    unit: float,
) -> Iterator[_Group]:
    """What a label has in a context is one group with named members."""
    weights = evidence.weights[row]
    at = np.flatnonzero(weights > 0)
    at = at[np.argsort(-weights[at] * norms[at], kind="stable")[:MOST_NAMES]]
    at = np.array([i for i in at if evidence.names[i] != labels[row]], dtype=np.int64)
    if len(at):
        yield _Group(
            evidence.title,
            unit * evidence.total[row],
            [name_of(evidence.names[i]) for i in at],
            weights[at, None] * evidence.vectors[at],
            knows(at),
        )


def _names(group: _Group, toward: Floats, asked: Ints) -> list[list[str]]:
    """The members that speak most for each cell, of those that know the field.

    If none of them does, all members are compared: what they have in common speaks.
    """
    assert group.members is not None
    parts = group.members @ toward.T
    if group.knows is not None:
        known = np.where(group.knows[:, asked], parts, 0.0)
        parts = np.where((known > 0).any(axis=0), known, parts)
    return [[group.names[i] for i in own] for own in _largest(parts, MOST_MEMBERS)]


def _largest(parts: Floats, most: int) -> list[list[int]]:
    """For each column the rows with the largest parts above zero; no small ones."""
    order = np.argsort(-parts, axis=0, kind="stable")[:most]
    found = np.take_along_axis(parts, order, axis=0)
    n_found = ((found > 0) & (found >= SMALL * found[:1])).sum(axis=0)
    return [own[:n] for own, n in zip(order.T.tolist(), n_found.tolist(), strict=True)]


def _named(text: str, names: Sequence[str], n_groups: int) -> str:
    """The text of a group with its members."""
    if not names:
        return text.rstrip(":")
    return f"{text} {', '.join(names[: MOST_MEMBERS - (n_groups > 1)])}"


def _known_fields(context: PredictingContext) -> Flags | None:
    """Which label knows which field; None for tags, which are known all together."""
    if context.data is None or context.data.is_sparse:
        return None
    matrix = context.data.matrix
    known = np.empty((matrix.shape[0], len(context.fields)), dtype=bool)
    for i, field in enumerate(context.fields):
        known[:, i] = ~np.isnan(matrix.column(field.at.start))
    return known


def _near(context: PredictingContext) -> Floats:
    """How far a number may be from the mean of its column to be a usual one."""
    near = np.zeros(len(context.columns))
    for field in context.fields:
        if field.kind == "number" and context.data is not None:
            at = field.at.start
            values = context.data.matrix.column(at)
            values = values[~np.isnan(values)]
            values = np.log(values) if context.is_log[at] else values
            near[at] = NEAR * values.std() if len(values) else 0.0
    return near
