"""Answers that only the explorer gives: pages, comparisons and search while typing.

What the command line answers too (nearest, describe, explain, info) comes from the
embedding itself. Pages and the HTTP API show the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phcle.answers import Named, Neighbour
from phcle.embedding.columns import Reading
from phcle.embedding.describe import (
    Wanted,
    describe,
    find_labels,
    how_sure,
    table_called,
)
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.summary import summarise
from phcle.errors import OptionError
from phcle.explorer import answers
from phcle.explorer.label_columns import ShownCell, shown
from phcle.explorer.opened_embedding import Opened
from phcle.explorer.workspace import Workspace

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
    (found,) = embedding.neighbours([label], k)
    label = embedding.resolve(label)
    described = describe(embedding, label, N_ATTRIBUTES, has_related=False)
    return answers.LabelPage(
        **vars(found),
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


def label_cells(embedding: LabelEmbedding, label: str) -> tuple[ShownCell, ...]:
    """Find the cells of a label in the tables of an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    label : str
        The label's id.

    Returns
    -------
    tuple of ShownCell
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
    name, found = embedding.name_of(label), []
    for table in embedding.tables.values():
        fields = [x for x in table.context.fields if x.kind in KINDS][:MOST_CELLS]
        if fields and table.context.can_be_completed:
            read = table.read(np.array([embedding.row_of[label]]))
            found += [read.column(x).cell(0, label, name) for x in fields]
    return tuple(shown(cell) for cell in found if cell.value is not None)


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
        (Named(found.label or "", found.name), Named(near.label, near.name))
        for found in embedding.neighbours(embedding.labels[step // 2 :: step], 1)
        for near in found.neighbours
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
    chosen = list(dict.fromkeys(map(embedding.resolve, labels)))
    if not 2 <= len(chosen) <= MOST_COMPARED:
        raise OptionError(
            f"from 2 to {MOST_COMPARED} different labels can be compared. "
            f"Got {len(chosen)}."
        )
    rows = [embedding.row_of[label] for label in chosen]
    units = np.asarray(embedding.unit_vectors[rows], np.float64)
    cosines = np.clip(units @ units.T, -1, 1)
    return answers.Comparison(
        labels=tuple(map(opened.named, chosen)),
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
    tables = {name: table_called(embedding, name) for name, _ in strengths}
    rows = np.array([embedding.row_of[label] for label in labels])
    readings = {name: table.read(rows) for name, table in tables.items()}
    found = []
    for (name, column), strength in strengths.items():
        read = readings[name]
        at = read.context.columns.index(column)
        cells = tuple(_compared_cell(read, i, at) for i in range(len(labels)))
        is_number = bool(read.context.is_number[at])
        found.append(
            answers.ComparedAttribute(name, column, strength, cells, is_number)
        )
    return tuple(sorted(found, key=lambda row: -row.strength))


def _compared_cell(read: Reading, row: int, column: int) -> answers.ComparedCell:
    """A known value, a predicted number, or the probability of another value."""
    known = float(read.known[row, column])
    if not np.isnan(known):
        return answers.ComparedCell(known, observed=True)
    number = float(read.values[row, column])
    if np.isnan(number):
        return answers.ComparedCell(None, observed=False)
    value = number if read.context.is_number[column] else None
    return answers.ComparedCell(value, False, *how_sure(read, row, column))


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
    rows = opened.embedding.called.suggest(typed, limit)
    found = tuple(opened.named(opened.embedding.labels[i]) for i in rows)
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
    nodes = [tree.nodes[i] for i in opened.nodes.suggest(typed, limit)]
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
        opened.attributes[i] for i in opened.attributes_called.suggest(typed, limit)
    ]
    return answers.AttributesFound(
        typed,
        tuple(answers.AttributeName(context, x, sorts[context]) for context, x in hits),
    )


def fitting_labels(
    opened: Opened, wanted: Sequence[Wanted], k: int
) -> answers.FittingLabels:
    """Find labels by their attributes.

    Parameters
    ----------
    opened : Opened
        The embedding.
    wanted : sequence of Wanted
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
                **vars(opened.named(opened.embedding.labels[match.row])),
                score=match.score,
                chances=tuple(answers.AttributeChance(*x) for x in match.chances),
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
    label = home.embedding.resolve(label)
    one, two = (
        side.embedding.neighbours([label], k)[0].neighbours
        if label in side.embedding
        else ()
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
