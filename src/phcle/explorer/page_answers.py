"""Answers that only the explorer gives: pages, comparisons and search while typing.

What the command line answers too (nearest, describe, explain, info) comes from
`phcle.uses.named_answers`. Pages and the HTTP API show the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from phcle.answers import ExplainedPair, Named, Nearest, Neighbour
from phcle.contexts.base.predicting_context import PredictingContext
from phcle.contexts.descriptive.fields import Field
from phcle.embedding.cell_texts import interval_text, number_text
from phcle.embedding.describe import describe
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.read import Reading, read_predictions
from phcle.errors import OptionError
from phcle.explorer import answers
from phcle.explorer.opened_embedding import Opened
from phcle.explorer.workspace import Workspace
from phcle.uses.attribute_search import Criterion, descriptive_context, find_labels
from phcle.uses.named_answers import (
    explain_pair,
    named,
    nearest_labels,
    summarise,
)

MOST_COMPARED = 8
"""Labels that can be compared at once; more do not fit on a page."""

N_EXAMPLES = 4
"""Pairs of labels that the page of comparisons offers."""

N_ATTRIBUTES = 12
"""Observed attributes, and predicted ones, that a page lists."""

MOST_RELATIVES = 40
"""Children and siblings that a page lists."""


KINDS = ("number", "truth", "category")
"""Kinds of fields that each label has; of tags and words, only some matter."""

MOST_CELLS = 60
"""Cells of a table on the page of a label; the table has all of them."""


def info(workspace: Workspace) -> answers.ExplorerInfo:
    """Say what the file holds and what can be asked about it.

    Parameters
    ----------
    workspace : Workspace
        The opened embedding and what it is compared with.

    Returns
    -------
    ExplorerInfo
        The summary of the embedding, and what the explorer can do with it.
    """
    opened = workspace.opened
    return answers.ExplorerInfo(
        title=opened.title,
        **vars(summarise(opened.embedding)),
        hierarchy=None if opened.taxonomy is None else opened.taxonomy[0],
        attributes=tuple(
            answers.AttributeSet(c.name, c.value_kind, len(c.columns))
            for c in opened.embedding.predicting
        ),
        compared_with=None if workspace.other is None else workspace.other.title,
        takes_features=workspace.image_map is not None,
        takes_pictures=workspace.takes_pictures,
    )


def nearest(opened: Opened, label: str, k: int) -> Nearest:
    """Find the labels most similar to a label.

    Parameters
    ----------
    opened : Opened
        The embedding.
    label : str
        A label's id or its readable name.
    k : int
        Number of neighbours.

    Returns
    -------
    Nearest
        The neighbours, best first.
    """
    return nearest_labels(
        opened.embedding, opened.resolve(label), k, search=opened.neighbours
    )


def explanation(opened: Opened, a: str, b: str, k: int) -> ExplainedPair:
    """Explain the similarity of two labels.

    Parameters
    ----------
    opened : Opened
        The embedding.
    a, b : str
        Ids or readable names of the labels.
    k : int
        Number of columns that are named in each group.

    Returns
    -------
    ExplainedPair
        The parts of the similarity.
    """
    return explain_pair(opened.embedding, opened.resolve(a), opened.resolve(b), k)


def label_page(opened: Opened, label: str, k: int) -> answers.LabelPage:
    """Collect all that the page of a label shows.

    Parameters
    ----------
    opened : Opened
        The embedding.
    label : str
        A label's id or its readable name.
    k : int
        Number of neighbours.

    Returns
    -------
    LabelPage
        Neighbours, attributes, contexts and the place in the hierarchy.
    """
    embedding = opened.embedding
    label = opened.resolve(label)
    described = describe(embedding, label, N_ATTRIBUTES, has_related=False)
    return answers.LabelPage(
        **vars(nearest(opened, label, k)),
        observed=described.observed,
        predicted=described.predicted,
        not_predictable=described.not_predictable,
        cells=label_cells(embedding, label),
        contexts=tuple(
            answers.KnownContext(c.name, c.kind, described.contexts[c.name])
            for c in embedding.contexts
        ),
        taxonomy=_place_in_taxonomy(opened, label),
        explains=bool(embedding.contexts),
    )


def label_cells(embedding: LabelEmbedding, label: str) -> tuple[answers.LabelCell, ...]:
    """Find the cells of a label in the tables of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    label : str
        The label's id.

    Returns
    -------
    tuple of LabelCell
        The cells in the order of the tables; those that are neither known nor
        predicted are left out.

    Examples
    --------
    >>> from phcle import PHCLE, DescriptiveContext
    >>> labels = ("cat", "dog", "eel", "carp")
    >>> cells = {"legs": [4, 4, 0, 0], "skin": ["fur", "fur", "wet", "wet"]}
    >>> table = DescriptiveContext.from_cells(labels, cells, "looks")
    >>> found = label_cells(PHCLE(dim=2).fit(table).embedding_, "eel")
    >>> [(cell.column, cell.text, cell.observed) for cell in found]
    [('legs', '0', True), ('skin', 'wet', True)]
    """
    return tuple(
        cell
        for context in embedding.contexts
        if context.can_be_completed
        for cell in _cells(embedding, cast(PredictingContext, context), label)
    )


def _cells(
    embedding: LabelEmbedding, context: PredictingContext, label: str
) -> Iterator[answers.LabelCell]:
    """The cells of one table."""
    fields = [field for field in context.fields if field.kind in KINDS][:MOST_CELLS]
    if not fields:
        return
    known = context.observed_row(label)
    read = None
    if context.weight > 0:
        rows = np.array([embedding.row_of[label]])
        read = read_predictions(embedding, context, rows)
    for field in fields:
        if not np.isnan(known[field.at.start]):
            yield answers.LabelCell(
                context.name, field.title, _text(field, known, 6), True
            )
        elif read is not None:
            yield _predicted(context, field, read)


def _predicted(
    context: PredictingContext, field: Field, read: Reading
) -> answers.LabelCell:
    """A cell that is not known."""
    interval, confidence = "", None
    if field.kind == "number":
        if read.low is not None and read.high is not None:
            low, high = (float(x[0, field.at.start]) for x in (read.low, read.high))
            interval = "" if np.isnan(low) else interval_text(low, high)
    elif read.chance is not None:
        chance = read.chance[0, field.at]
        # Of yes or no, the one that is written.
        sure = chance.max() if field.values else max(chance[0], 1 - chance[0])
        confidence = float(sure)
    text = _text(field, read.values[0], 3)
    return answers.LabelCell(
        context.name, field.title, text, False, confidence, interval
    )


def _text(field: Field, values: npt.NDArray[np.floating], digits: int) -> str:
    """Write the value of a field; predicted numbers have fewer digits."""
    own = values[field.at]
    if field.kind == "number":
        return number_text(float(own[0]), digits)
    if field.values:
        return field.values[int(own.argmax())]
    return "yes" if own[0] > 0.5 else "no"


def _place_in_taxonomy(opened: Opened, label: str) -> answers.TaxonomyPlace | None:
    """Find the path from a root down to the label, and its relatives."""
    if opened.taxonomy is None or label not in opened.taxonomy[1].index:
        return None
    context, tree = opened.taxonomy
    parents = tree.parents_of(label)
    siblings = dict.fromkeys(x for p in parents for x in tree.children_of(p))
    children = tree.children_of(label)
    others = [x for x in siblings if x != label]
    return answers.TaxonomyPlace(
        context=context,
        path=_nodes(opened, tree.path_to(label)),
        parents=_nodes(opened, parents),
        children=_nodes(opened, children[:MOST_RELATIVES]),
        n_children=len(children),
        siblings=_nodes(opened, others[:MOST_RELATIVES]),
        n_siblings=len(others),
    )


def _nodes(opened: Opened, nodes: Sequence[str]) -> tuple[answers.Node, ...]:
    """Add readable names to nodes."""
    embedding = opened.embedding
    return tuple(answers.Node(x, embedding.name_of(x), x in embedding) for x in nodes)


def example_pairs(opened: Opened) -> tuple[tuple[Named, ...], ...]:
    """Choose pairs of labels to try a comparison with.

    Parameters
    ----------
    opened : Opened
        The embedding.

    Returns
    -------
    tuple of pairs of Named
        Labels from all parts of the list, each with its nearest one.
    """
    embedding = opened.embedding
    step = -(-len(embedding) // N_EXAMPLES)
    return tuple(
        (named(embedding, label), named(embedding, near.label))
        for label in embedding.labels[step // 2 :: step]
        for near in nearest(opened, label, 1).neighbours
    )


def comparison(opened: Opened, labels: Sequence[str]) -> answers.Comparison:
    """Compare a few labels.

    Parameters
    ----------
    opened : Opened
        The embedding.
    labels : sequence of str
        Ids or readable names; from two to eight different labels.

    Returns
    -------
    Comparison
        Similarities, common ancestors and attributes side by side.
    """
    embedding = opened.embedding
    chosen = list(dict.fromkeys(map(opened.resolve, labels)))
    if not 2 <= len(chosen) <= MOST_COMPARED:
        raise OptionError(
            f"from 2 to {MOST_COMPARED} different labels can be compared. "
            f"Got {len(chosen)}."
        )
    rows = [embedding.row_of[label] for label in chosen]
    units = np.asarray(embedding.unit_vectors[rows], np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    return answers.Comparison(
        labels=tuple(named(embedding, label) for label in chosen),
        similarities=tuple(tuple(float(x) for x in row) for row in cosines),
        percentiles=tuple(tuple(map(embedding.percentile_of, row)) for row in cosines),
        ancestors=_shared_ancestors(opened, chosen),
        attributes=_compared_attributes(opened, chosen),
        contexts=tuple(
            answers.ComparedContext(
                context.name, context.kind, tuple(context.knows(x) for x in chosen)
            )
            for context in embedding.contexts
        ),
        explains=bool(embedding.contexts),
    )


def _shared_ancestors(
    opened: Opened, labels: Sequence[str]
) -> tuple[answers.Node, ...]:
    """Nodes above all labels but not above most others, the most specific first."""
    if opened.taxonomy is None:
        return ()
    tree = opened.taxonomy[1]
    if any(label not in tree.index for label in labels):
        return ()
    _, nodes, steps = tree.ancestor_distances(labels)
    found, counts = np.unique(nodes, return_counts=True)
    shared = found[counts == len(labels)]
    far = {int(node): int(steps[nodes == node].sum()) for node in shared}
    order = sorted(far, key=lambda node: (far[node], node))
    assert opened.specific_nodes is not None
    specific = opened.specific_nodes.first(tree.nodes[node] for node in order)
    return _nodes(opened, specific)


def _compared_attributes(
    opened: Opened, labels: Sequence[str]
) -> tuple[answers.ComparedAttribute, ...]:
    """The strongest attributes of any of the labels, with the values of each."""
    embedding = opened.embedding
    strengths: dict[tuple[str, str], float] = {}
    for label in labels:
        described = describe(embedding, label, N_ATTRIBUTES, has_related=False)
        for x in (*described.observed, *described.predicted):
            key = (x.context, x.name)
            strengths[key] = max(strengths.get(key, 0.0), x.strength)
    at_rows = np.array([embedding.row_of[label] for label in labels])
    contexts = {name: descriptive_context(embedding, name) for name, _ in strengths}
    readings = {
        name: read_predictions(embedding, context, at_rows)
        for name, context in contexts.items()
    }
    observed = {
        name: [context.observed_row(label) for label in labels]
        for name, context in contexts.items()
    }
    rows = []
    for (name, column), strength in strengths.items():
        context = contexts[name]
        at = context.columns.index(column)
        cells = []
        for i in range(len(labels)):
            known = float(observed[name][i][at])
            if np.isnan(known):
                cells.append(_predicted_cell(context, readings[name], i, at))
            else:
                cells.append(answers.ComparedCell(known, observed=True))
        is_number = bool(context.is_number[at])
        rows.append(
            answers.ComparedAttribute(name, column, strength, tuple(cells), is_number)
        )
    return tuple(sorted(rows, key=lambda row: -row.strength))


def _predicted_cell(
    context: PredictingContext, read: Reading, row: int, column: int
) -> answers.ComparedCell:
    """A predicted number with its interval, or the probability of another value."""
    if context.weight <= 0:
        return answers.ComparedCell(None, observed=False)
    if not context.is_number[column]:
        chance = None if read.chance is None else float(read.chance[row, column])
        return answers.ComparedCell(None, observed=False, confidence=chance)
    number = float(read.values[row, column])
    if read.low is None or read.high is None or np.isnan(read.low[row, column]):
        return answers.ComparedCell(number, observed=False)
    low, high = float(read.low[row, column]), float(read.high[row, column])
    return answers.ComparedCell(number, observed=False, low=low, high=high)


def found_labels(opened: Opened, typed: str, limit: int) -> answers.LabelsFound:
    """Suggest labels for what was typed.

    Parameters
    ----------
    opened : Opened
        The embedding.
    typed : str
        What was typed so far.
    limit : int
        Number of suggestions, at most.

    Returns
    -------
    LabelsFound
        Matching labels, best first.
    """
    embedding = opened.embedding
    rows = opened.label_suggestions.find(typed, limit)
    found = tuple(named(embedding, embedding.labels[i]) for i in rows)
    return answers.LabelsFound(typed, found)


def found_nodes(opened: Opened, typed: str, limit: int) -> answers.NodesFound:
    """Suggest nodes of the hierarchy for what was typed.

    Parameters
    ----------
    opened : Opened
        The embedding.
    typed : str
        What was typed so far.
    limit : int
        Number of suggestions, at most.

    Returns
    -------
    NodesFound
        Matching nodes, best first; none without a hierarchy.
    """
    if opened.taxonomy is None:
        return answers.NodesFound(typed, ())
    tree = opened.taxonomy[1]
    nodes = [tree.nodes[i] for i in opened.node_suggestions.find(typed, limit)]
    name_of = opened.embedding.name_of
    return answers.NodesFound(
        typed,
        tuple(
            answers.NodeFound(
                **vars(node), above=tuple(map(name_of, tree.parents_of(node.node)))
            )
            for node in _nodes(opened, nodes)
        ),
    )


def found_attributes(opened: Opened, typed: str, limit: int) -> answers.AttributesFound:
    """Suggest attributes for what was typed.

    Parameters
    ----------
    opened : Opened
        The embedding.
    typed : str
        What was typed so far.
    limit : int
        Number of suggestions, at most.

    Returns
    -------
    AttributesFound
        Matching attributes, best first.
    """
    sorts = {c.name: c.value_kind for c in opened.embedding.predicting}
    hits = [
        opened.attributes[i] for i in opened.attribute_suggestions.find(typed, limit)
    ]
    return answers.AttributesFound(
        typed,
        tuple(answers.AttributeName(context, x, sorts[context]) for context, x in hits),
    )


def fitting_labels(
    opened: Opened, wanted: Sequence[Criterion], k: int
) -> answers.FittingLabels:
    """Find labels by their attributes.

    Parameters
    ----------
    opened : Opened
        The embedding.
    wanted : sequence of Criterion
        Attributes that labels shall have or lack.
    k : int
        Number of labels.

    Returns
    -------
    FittingLabels
        The labels that fit best, best first.
    """
    found = find_labels(opened.embedding, wanted, k)
    return answers.FittingLabels(
        tuple(answers.WantedAttribute(x.context, x.column, x.present) for x in wanted),
        tuple(
            answers.FittingLabel(
                match.label,
                opened.embedding.name_of(match.label),
                match.score,
                tuple(answers.AttributeChance(*chance) for chance in match.chances),
            )
            for match in found
        ),
    )


def differences(workspace: Workspace, n: int, start: int) -> answers.Differences:
    """List the labels whose neighbours differ most between the two embeddings.

    Parameters
    ----------
    workspace : Workspace
        The two embeddings.
    n : int
        Number of labels.
    start : int
        Number of labels to skip.

    Returns
    -------
    Differences
        The labels; not ready while neighbours are still being computed.
    """
    found = workspace.differences()
    opened, other = workspace.opened, workspace.other
    one, two = opened.title, "" if other is None else other.title
    if found is None:
        return answers.Differences(one, two, ready=False)
    return answers.Differences(
        one,
        two,
        ready=True,
        k=found.k,
        common=len(found.labels),
        mean=found.mean,
        histogram=tuple(found.histogram()),
        labels=tuple(
            answers.DifferentLabel(label, opened.embedding.name_of(label), share)
            for label, share in found.largest(n, start)
        ),
    )


def side_by_side(workspace: Workspace, label: str, k: int) -> answers.SideBySide:
    """Find the neighbours of one label in both embeddings.

    Parameters
    ----------
    workspace : Workspace
        The two embeddings.
    label : str
        A label's id or its readable name.
    k : int
        Number of neighbours.

    Returns
    -------
    SideBySide
        Two lists of neighbours, and the share that is in both. The list of an
        embedding that lacks the label is empty.
    """
    sides = workspace.opened, workspace.compared
    home = sides[label not in sides[0].embedding and label in sides[1].embedding]
    label = home.resolve(label)
    one, two = (
        nearest(side, label, k).neighbours if label in side.embedding else ()
        for side in sides
    )
    both = {near.label for near in one} & {near.label for near in two}

    def marked(
        side: Sequence[Neighbour],
    ) -> tuple[answers.SharedNeighbour, ...]:
        return tuple(
            answers.SharedNeighbour(**vars(x), in_both=x.label in both) for x in side
        )

    return answers.SideBySide(
        label,
        home.embedding.name_of(label),
        marked(one),
        marked(two),
        len(both) / max(len(one), 1),
    )
