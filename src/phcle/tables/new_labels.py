"""Files about new labels: read like all files, and matched with an embedding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np

from phcle.contexts import DescriptiveContext, Hierarchy, RelationalContext
from phcle.contexts.labels import some_names
from phcle.contexts.protocol import Context
from phcle.embedding import LabelEmbedding
from phcle.embedding.labels import Labels
from phcle.errors import ContextError, ContextWarning, UnknownLabelError, some
from phcle.tables.file_kinds import (
    THESAURI,
    ContextFile,
    Files,
    list_files,
    with_lists,
)
from phcle.tables.files import CollectedFiles, ReadContexts, Synonyms, collect_files
from phcle.tables.matching import LabelMatch, LabelSource
from phcle.tables.reader import Reading


def read_new_contexts(
    embedding: LabelEmbedding,
    files: Mapping[str, Files] | Iterable[ContextFile],
    *,
    names: str | Path | None = None,
    synonyms: Synonyms | None = None,
    reading: Reading | None = None,
) -> ReadContexts:
    """Read files about new labels into contexts for `fold_in`, as `phcle add` does.

    A file belongs to the context of the same name, or else to the only context of its
    kind. A label that the embedding spells differently is the known label, so it is not
    added; rows of known labels are left out with a warning.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that the labels are new to.
    files : mapping or iterable of ContextFile
        Files by their kind, such as `{"tags": "new.csv"}`. They hold the new labels
        only. A taxonomy holds the new edges only; its parents may be ids or readable
        names. A vocabulary or ontology may be a newer edition of the whole.
    names : path, optional
        Readable names of the new labels: columns `label` and `name`.
    synonyms : path or mapping, optional
        Known labels that the files spell differently: a table with the columns `label`
        and `synonym`, or labels by synonym.
    reading : Reading, optional
        How the user wants files to be read; by default all is found out.

    Returns
    -------
    ReadContexts
        Contexts with the names they have in the embedding, readable names, which labels
        were joined, and how the files were read.
    """
    given = list_files(files) if isinstance(files, Mapping) else files
    named = [replace(file, given_name=_context_of(file, embedding)) for file in given]
    known = synonyms if isinstance(synonyms, Mapping) else {}
    trees = [x.hierarchy.nodes for x in embedding.contexts if x.hierarchy is not None]
    nodes = tuple(dict.fromkeys(chain(embedding.labels, *trees)))
    found = collect_files(
        with_lists(named, names=names, synonyms=synonyms),
        # Every word counts, even of a single text: the fit has chosen its words.
        replace(reading or Reading(), min_count=1),
        synonyms={**embedding.spellings, **known},
        known=LabelSource("the embedding", embedding.labels, nodes),
    )
    match = found.match or LabelMatch()
    kept = []
    for context in found.contexts:
        try:
            kept.append(_only_new(context, found, embedding))
        except ContextError as error:
            found.errors.append(error)
    return replace(
        found.whole(),
        contexts=tuple(context for context in kept if context is not None),
        match=LabelMatch(
            joined=match.joined, synonyms=match.synonyms, suggestions=match.suggestions
        ),
    )


def parent_called(nodes: Labels, text: str) -> str:
    """Find the parent of a new label by its id or readable name."""
    try:
        return nodes.resolve(text)
    except UnknownLabelError as error:
        raise ContextError(
            f"the parent {error} Name a known node, or give it a parent too."
        ) from error


def _context_of(file: ContextFile, embedding: LabelEmbedding) -> str:
    """The context of the fit that a file belongs to."""
    names = dict.fromkeys(context.given_name for context in embedding.contexts)
    if file.given_name is not None or file.name in names or not names:
        return file.name
    fitting = dict.fromkeys(
        context.given_name
        for context in embedding.contexts
        if file.kind in context.file_kinds
    )
    if len(fitting) == 1:
        return next(iter(fitting))
    problem = (
        f"may belong to {some(fitting)}; say to which: --{file.kind} NAME={file.path}"
        if fitting
        else f"nothing in the fit was learned from --{file.kind}; it had {some(names)}."
    )
    raise ContextError(f"{file.path}: {problem}")


def _only_new(
    context: Context, found: CollectedFiles, embedding: LabelEmbedding
) -> Context | None:
    """The part of a context that is about new labels."""
    file, own = found.files[context.name], context.hierarchy
    trees = {each.given_name: each.hierarchy for each in embedding.contexts}
    if file.name not in trees:
        return context  # which `fold_in` refuses by its name
    is_edition = file.kind in THESAURI  # of the whole, which may be newer
    tree = trees[file.name]
    if tree is None and (own is not None or is_edition):
        raise ContextError(
            f"{file.path}: the context {file.name!r} of the fit is no taxonomy."
        )
    known = tree.index if tree is not None and is_edition else embedding
    labels = context.labels if own is None else tuple(dict(own.named_edges))
    new = [label for label in labels if label not in known]
    match = found.match or LabelMatch()
    given = {label: other for other, label in match.synonyms.items()}
    given |= {x.label: x.spelling for x in match.joined if x.source == file.path.name}
    old = some(given.get(label, label) for label in labels if label in known)
    if not new and not (is_edition and own is None):
        raise ContextError(
            f"{file.path}: all labels are in the embedding already: {old}; give new "
            "ones."
        )
    if isinstance(context, DescriptiveContext):
        rest: Context | None = context.rows_for(new) if new else None
    elif own is None or tree is None:
        return _counts_of(cast(RelationalContext, context), new)
    else:
        rest = _branches(own, tree, new, file, found, embedding)
    if old and not is_edition:
        warnings.warn(
            f"{file.path}: in the embedding already, so left out: {old}.",
            ContextWarning,
            stacklevel=3,
        )
    return rest


def _branches(
    own: Hierarchy,
    tree: Hierarchy,
    new: Sequence[str],
    file: ContextFile,
    found: CollectedFiles,
    embedding: LabelEmbedding,
) -> Context:
    """New nodes below known ones, which may be called by their names, or each other."""
    added = set(new)
    edges = [edge for edge in own.named_edges if edge[0] in added]
    if file.kind in THESAURI:
        for node in tree.nodes:
            found.node_names.pop(node, None)
    else:
        nodes = embedding.nodes(tree)
        edges = [(x, y if y in added else parent_called(nodes, y)) for x, y in edges]
    return RelationalContext.from_hierarchy(edges, name=file.name)


def _counts_of(context: RelationalContext, new: Sequence[str]) -> Context:
    """The rows of the new labels; known labels of the file are only columns."""
    counts = context.rows_for(new)
    used = np.unique(counts.indices)
    columns, counts = some_names(context.columns, used), counts[:, used]
    return replace(context, labels=tuple(new), columns=columns, counts=counts)
