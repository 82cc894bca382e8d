"""The page of a node of the taxonomy: its labels, what they share, and what is odd.

Shared is what is common among the node's labels and rare among the others. Odd is a
label far from the middle of the node, and a cell that differs from nearly all others.
Only observed cells count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from phcle.answers import Answer, Named
from phcle.arrays import Flags, Floats, Ints
from phcle.contexts.encoders import Field
from phcle.contexts.values import DescriptiveContext
from phcle.embedding.cell_texts import number_text
from phcle.embedding.columns import Table
from phcle.errors import UnknownLabelError
from phcle.explorer.answers import Node
from phcle.explorer.opened_embedding import Opened

Counts = npt.NDArray[np.integer]

MOST_LABELS = 60
MOST_CHILDREN = 60
MOST_SHARED = 12
MOST_ODD = 8

FEWEST = 3
"""Known labels of a node below which nothing is said to be shared or odd."""

SURE = 2.5
"""Shared is a difference of this many standard errors at least."""

COMMON = 0.5
"""Shared is what at least this share of the node's labels has."""

NEARLY_ALL = 0.8
"""A cell is odd if at least this share of the node's labels has one other value."""

FAR = 3.0
"""A number is odd if it is further from the node's median than this many of its usual
distances; a label is, if it is that much further from the middle than others."""


@dataclass(frozen=True)
class SharedAttribute(Answer):
    """An attribute that is common in a node and rare elsewhere.

    Attributes
    ----------
    context, column : str
        The field.
    value : str
        Its value, in words.
    inside, outside : float
        Shares of the known labels that have it; for numbers, the means.
    n_known : int
        Labels of the node whose value is known.
    is_number : bool
        Whether `inside` and `outside` are means.
    """

    context: str
    column: str
    value: str
    inside: float
    outside: float
    n_known: int
    is_number: bool


@dataclass(frozen=True)
class OddCell(Named):
    """A cell that differs from those of nearly all other labels of the node.

    Attributes
    ----------
    context, column : str
        The field.
    value : str
        The label's value.
    usual : str
        The value of the others.
    """

    context: str
    column: str
    value: str
    usual: str


@dataclass(frozen=True)
class OddLabel(Named):
    """A label far from the middle of its node.

    Attributes
    ----------
    similarity : float
        Cosine with the mean of the node's vectors.
    usual : float
        The median of these cosines.
    """

    similarity: float
    usual: float


@dataclass(frozen=True)
class ChildNode(Node):
    """A child of a node.

    Attributes
    ----------
    n_labels : int
        Number of labels below it.
    """

    n_labels: int

    @property
    def is_single(self) -> bool:
        """Whether it is a label without others below it."""
        return self.is_label and self.n_labels == 1


@dataclass(frozen=True)
class NodePage(Node):
    """All that the page of a node shows.

    Attributes
    ----------
    context : str
        Name of the hierarchy.
    path : tuple of Node
        The way from a root to the node.
    parents : tuple of Node
        Its parents.
    children : tuple of ChildNode
        Its children, those with most labels first.
    n_children : int
        Number of all children.
    labels : tuple of Named
        Labels below it, the most typical first.
    n_labels : int
        Number of all labels below it.
    shared : tuple of SharedAttribute
        What they share.
    odd_labels : tuple of OddLabel
        Labels that are far from the others.
    odd_cells : tuple of OddCell
        Cells that differ.
    """

    context: str
    path: tuple[Node, ...]
    parents: tuple[Node, ...]
    children: tuple[ChildNode, ...]
    n_children: int
    labels: tuple[Named, ...]
    n_labels: int
    shared: tuple[SharedAttribute, ...]
    odd_labels: tuple[OddLabel, ...]
    odd_cells: tuple[OddCell, ...]


def node_page(opened: Opened, text: str) -> NodePage:
    """Collect all that the page of a node shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    text : str
        The node's id or its readable name.

    Returns
    -------
    NodePage
        Its place, labels, what they share and what is odd.
    """
    node = _resolved(opened, text)
    assert opened.taxonomy is not None
    context, tree = opened.taxonomy
    rows = opened.rows_below(node)
    children = [(x, len(opened.rows_below(x))) for x in tree.children_of(node)]
    children.sort(key=lambda x: -x[1])
    labels = opened.embedding.labels
    nearness, order = _typical(opened, rows)
    findings = _Findings(opened, rows)
    return NodePage(
        **vars(_node(opened, node)),
        context=context,
        path=tuple(_node(opened, x) for x in tree.path_to(node)),
        parents=tuple(_node(opened, x) for x in tree.parents_of(node)),
        children=tuple(
            ChildNode(**vars(_node(opened, x)), n_labels=n)
            for x, n in children[:MOST_CHILDREN]
        ),
        n_children=len(children),
        labels=tuple(opened.named(labels[rows[i]]) for i in order[:MOST_LABELS]),
        n_labels=len(rows),
        shared=findings.shared,
        odd_labels=_odd_labels(opened, rows, nearness),
        odd_cells=findings.odd,
    )


def _resolved(opened: Opened, text: str) -> str:
    """The node with an id or a name."""
    if opened.taxonomy is None:
        raise UnknownLabelError("this embedding has no hierarchy, so it has no nodes.")
    return opened.nodes.resolve(text)


def _node(opened: Opened, node: str) -> Node:
    embedding = opened.embedding
    return Node(node, embedding.name_of(node), node in embedding)


def _typical(opened: Opened, rows: Ints) -> tuple[Floats, list[int]]:
    """Cosines of labels with their mean, and their order, nearest first."""
    if not len(rows):
        return np.zeros(0), []
    units = np.asarray(opened.embedding.unit_vectors[rows], np.float32)
    middle = units.mean(axis=0)
    middle /= float(np.linalg.norm(middle)) or 1.0
    nearness = (units @ middle).astype(np.float64)
    return nearness, np.argsort(-nearness, kind="stable").tolist()


def _odd_labels(opened: Opened, rows: Ints, nearness: Floats) -> tuple[OddLabel, ...]:
    """Labels that are much further from the middle than most."""
    if len(rows) <= FEWEST:
        return ()
    usual = float(np.median(nearness))
    spread = float(np.median(np.abs(nearness - usual)))
    far = np.flatnonzero(nearness < usual - FAR * max(spread, 1e-3))
    far = far[np.argsort(nearness[far], kind="stable")][:MOST_ODD]
    labels = opened.embedding.labels
    return tuple(
        OddLabel(
            **vars(opened.named(labels[rows[i]])),
            similarity=float(nearness[i]),
            usual=usual,
        )
        for i in far
    )


class _Findings:
    """What the labels of a node share, and the cells that differ."""

    def __init__(self, opened: Opened, rows: Ints) -> None:
        self._embedding = opened.embedding
        self._columns = opened.columns
        self._shared: list[tuple[float, SharedAttribute]] = []
        self._odd: list[tuple[float, OddCell]] = []
        is_inside = np.zeros(len(opened.embedding), dtype=bool)
        is_inside[rows] = True
        for own in opened.columns.tables.values():
            table, at = own.context, own.positions
            if not table.labels:
                continue
            inside = (at >= 0) & is_inside[at]
            if inside.sum() < FEWEST:
                continue
            if table.fields and table.fields[0].kind == "tag":
                self._see_tags(own, inside)
                continue
            for field in table.fields:
                columns = [
                    table.matrix.column(i) for i in range(field.at.start, field.at.stop)
                ]
                if field.kind == "number":
                    self._see_numbers(table, field, columns[0], inside)
                else:
                    self._see_values(table, field, columns, inside)

    @property
    def shared(self) -> tuple[SharedAttribute, ...]:
        """What is shared, the clearest first."""
        ranked = sorted(self._shared, key=lambda x: -x[0])
        return tuple(x for _, x in ranked[:MOST_SHARED])

    @property
    def odd(self) -> tuple[OddCell, ...]:
        """Cells that differ, the clearest first."""
        ranked = sorted(self._odd, key=lambda x: -x[0])
        return tuple(x for _, x in ranked[:MOST_ODD])

    def _add_odd(
        self,
        clarity: float,
        table: DescriptiveContext,
        field: Field,
        row: int,
        value: str,
        usual: str,
    ) -> None:
        """Add the cell of a row of the table."""
        label = table.labels[row]
        name = self._embedding.name_of(label)
        cell = OddCell(label, name, table.name, field.title, value, usual)
        self._odd.append((clarity, cell))

    def _add_shared(
        self,
        table: DescriptiveContext,
        titles: Sequence[tuple[str, str]],
        counts: tuple[Counts, Counts],
        known: tuple[float, float],
    ) -> Floats:
        """Add values that are common inside and rare outside; return their shares.

        Parameters are column and value of each, how many labels inside and outside have
        it, and how many labels are known.
        """
        (n_in, n_out), (known_in, known_out) = counts, known
        inside, outside = n_in / known_in, n_out / max(known_out, 1)
        both = (n_in + n_out) / (known_in + known_out)
        error = np.sqrt(both * (1 - both) * (1 / known_in + 1 / max(known_out, 1)))
        # The difference of the shares in standard errors.
        surprise = np.divide(
            inside - outside, error, out=np.zeros_like(error), where=error > 0
        )
        for i in np.flatnonzero((surprise > SURE) & (inside >= COMMON)).tolist():
            found = SharedAttribute(
                table.name,
                *titles[i],
                float(inside[i]),
                float(outside[i]),
                int(known_in),
                is_number=False,
            )
            self._shared.append((float(surprise[i]), found))
        return inside

    def _see_tags(self, own: Table, inside: Flags) -> None:
        """Tags that are common inside and rare outside."""
        rows, columns = self._columns.tags(own)
        table = own.context
        described = np.asarray(table.has_values)
        known = float((inside & described).sum()), float((~inside & described).sum())
        if known[0] >= FEWEST:
            n_in, n_out = (
                np.bincount(columns[x[rows]], minlength=len(table.columns))
                for x in (inside, ~inside)
            )
            titles = [(title, "yes") for title in table.columns]
            self._add_shared(table, titles, (n_in, n_out), known)

    def _see_values(
        self,
        table: DescriptiveContext,
        field: Field,
        columns: Sequence[Floats],
        inside: Flags,
    ) -> None:
        """Values of a category or truth value, and the labels without them."""
        is_known = ~np.isnan(columns[0])
        known_in = float((is_known & inside).sum())
        if known_in < FEWEST:
            return
        if field.values:
            names, has = field.values, np.array([x > 0 for x in columns])
        else:
            names, has = ("yes", "no"), np.array([columns[0] > 0, columns[0] <= 0])
        has &= is_known
        share = self._add_shared(
            table,
            [(field.title, name) for name in names],
            (has[:, inside].sum(axis=1), has[:, ~inside].sum(axis=1)),
            (known_in, float((is_known & ~inside).sum())),
        )
        if known_in <= FEWEST:
            return
        for i in np.flatnonzero(share >= NEARLY_ALL).tolist():
            for row in np.flatnonzero(inside & is_known & ~has[i]).tolist():
                value = names[int(has[:, row].argmax())]
                self._add_odd(float(share[i]), table, field, row, value, names[i])

    def _see_numbers(
        self, table: DescriptiveContext, field: Field, values: Floats, inside: Flags
    ) -> None:
        """Whether a number differs inside, and which labels differ from the others."""
        shift = table.log_shift[field.at.start]
        is_log = not np.isnan(shift)
        is_known = ~np.isnan(values)
        own, others = values[is_known & inside], values[is_known & ~inside]
        if len(own) < FEWEST:
            return
        if is_log:
            own, others = np.log(own + shift), np.log(others + shift)

        def unit(number: float) -> float:
            return float(np.exp(number) - shift if is_log else number)

        def shown(number: float) -> str:
            return number_text(unit(number))

        if len(others) >= FEWEST:
            spread = np.sqrt(own.var() / len(own) + others.var() / len(others))
            steps = (own.mean() - others.mean()) / (float(spread) or 1.0)
            # Much more than chance, and also much: half the spread of all labels.
            is_much = abs(own.mean() - others.mean()) > 0.5 * float(others.std())
            if abs(steps) > SURE and is_much:
                found = SharedAttribute(
                    table.name,
                    field.title,
                    f"{'about' if is_log else 'mean'} {shown(own.mean())}",
                    unit(own.mean()),
                    unit(others.mean()),
                    len(own),
                    is_number=True,
                )
                self._shared.append((abs(float(steps)), found))
        middle = float(np.median(own))
        usual = 1.4826 * float(np.median(np.abs(own - middle)))
        if len(own) > 2 * FEWEST and usual > 0:
            rows = np.flatnonzero(is_known & inside)
            far = np.abs(own - middle) / usual
            for i in np.flatnonzero(far > FAR).tolist():
                clarity = min(float(far[i]) / (2 * FAR), 1.0)
                texts = shown(own[i]), f"about {shown(middle)}"
                self._add_odd(clarity, table, field, rows[i], *texts)
