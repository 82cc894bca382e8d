"""Files about new labels: read like all files, and matched with an embedding."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
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
            kept.append(_only_new(context, found, match, embedding))
        except ContextError as error:
            found.errors[found.files[context.name].path] = error
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
    if fitting:
        raise ContextError(
            f"{file.path}: may belong to {some(fitting)}; say to which: "
            f"--{file.kind} NAME={file.path}"
        )
    raise ContextError(
        f"{file.path}: nothing in the fit was learned from --{file.kind}; it had "
        f"{some(names)}."
    )


def _only_new(
    context: Context,
    found: CollectedFiles,
    match: LabelMatch,
    embedding: LabelEmbedding,
) -> Context | None:
    """The part of a context that is about new labels."""
    file = found.files[context.name]
    fitted = {each.given_name: each.hierarchy for each in embedding.contexts}
    if file.name not in fitted:
        return context  # which `fold_in` refuses by its name
    if file.kind not in ("hierarchy", *THESAURI):
        if isinstance(context, DescriptiveContext):
            new = _new_labels(context.labels, file, match, embedding)
            return context.rows_for(new)
        return _counts_of_new(cast(RelationalContext, context), file, embedding)
    own, tree = context.hierarchy, fitted[file.name]
    if tree is None:
        raise ContextError(
            f"{file.path}: the context {file.name!r} of the fit is no taxonomy."
        )
    if own is None:  # texts of a vocabulary
        new = [label for label in context.labels if label not in tree.index]
        is_used = bool(new) and context.name in fitted
        return cast(DescriptiveContext, context).rows_for(new) if is_used else None
    if file.kind in THESAURI:  # a newer edition of the whole
        for node in tree.nodes:
            found.node_names.pop(node, None)
        edges = [edge for edge in own.named_edges if edge[0] not in tree.index]
        if not edges:
            raise ContextError(f"{file.path}: names no node that is new.")
    else:
        edges = _branches(own.named_edges, tree, file, match, embedding)
    return RelationalContext.from_hierarchy(edges, name=file.name)


def _branches(
    edges: list[tuple[str, str]],
    tree: Hierarchy,
    file: ContextFile,
    match: LabelMatch,
    embedding: LabelEmbedding,
) -> list[tuple[str, str]]:
    """New nodes below known ones, which may be called by their names, or each other."""
    new = set(_new_labels(dict(edges), file, match, embedding))
    nodes = embedding.nodes(tree)
    return [
        (child, parent if parent in new else parent_called(nodes, parent))
        for child, parent in edges
        if child in new
    ]


def _new_labels(
    labels: Iterable[str],
    file: ContextFile,
    match: LabelMatch,
    embedding: LabelEmbedding,
) -> list[str]:
    """The labels that are new; a warning names the others, as the user has them."""
    given = {label: other for other, label in match.synonyms.items()}
    given |= {x.label: x.spelling for x in match.joined if x.source == file.path.name}
    labels = list(labels)
    new = [label for label in labels if label not in embedding]
    known = some(given.get(x, x) for x in labels if x in embedding)
    if not new:
        raise ContextError(
            f"{file.path}: all labels are in the embedding already: {known}; give new "
            "ones."
        )
    if known:
        warnings.warn(
            f"{file.path}: in the embedding already, so left out: {known}.",
            ContextWarning,
            stacklevel=4,
        )
    return new


def _counts_of_new(
    context: RelationalContext, file: ContextFile, embedding: LabelEmbedding
) -> RelationalContext:
    """The rows of the new labels; known labels of the file are only columns."""
    new = [label for label in context.labels if label not in embedding]
    if not new:
        raise ContextError(f"{file.path}: names no label that is new.")
    counts = context.rows_for(new)
    used = np.unique(counts.indices)
    columns = some_names(context.columns, used)
    return replace(context, labels=tuple(new), columns=columns, counts=counts[:, used])
