"""Files about new labels: read like all files, and matched with an embedding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from phcle.contexts import DescriptiveContext, Hierarchy, RelationalContext
from phcle.contexts.alignment import Matched, match_contexts
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
from phcle.tables.files import (
    CollectedFiles,
    ReadContexts,
    Synonyms,
    lists_first,
    titles_of,
)
from phcle.tables.match_keys import differences, match_key
from phcle.tables.matching import JoinedLabel, LabelMatch, LabelSource, match_labels
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
    named = with_lists(named, names=names, synonyms=synonyms)
    # Every word counts, even of a single text: the fit has chosen its words.
    reading = replace(reading or Reading(), min_count=1)
    found = CollectedFiles(reading, titles_of(named), known)
    new = _NewLabels(embedding, found)
    found.change = new.change
    for file in lists_first(named):
        found.take(file)
    whole = found.whole()
    matched = match_contexts(whole, names=whole.names, titles=found.titles)
    match = new.whole_match(matched)
    return replace(whole, contexts=matched.contexts, names=matched.names, match=match)


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


@dataclass
class _NewLabels:
    """What is new in files for an embedding, and how they spell known labels."""

    embedding: LabelEmbedding
    found: CollectedFiles
    spelled: dict[tuple[str, str], str] = field(default_factory=dict)  # with the file

    def change(self, file: ContextFile, context: Context) -> Context | None:
        """Keep what is new, with known labels as the embedding spells them."""
        fitted = {each.given_name: each.hierarchy for each in self.embedding.contexts}
        if file.name not in fitted:
            return context  # which `fold_in` refuses by its name
        own, tree = context.hierarchy, fitted[file.name]
        if file.kind in ("hierarchy", *THESAURI):
            if tree is None:
                raise ContextError(
                    f"{file.path}: the context {file.name!r} of the fit is no taxonomy."
                )
            if own is not None:
                return self._branches(file, own.named_edges, tree)
            new = [label for label in context.labels if label not in tree.index]
            is_used = bool(new) and context.name in fitted
            return cast(DescriptiveContext, context).rows_for(new) if is_used else None
        spelled = self._spelled(file, context.labels)
        context = context.renamed(spelled)
        if isinstance(context, DescriptiveContext):
            return context.rows_for(self._left_new(file, context.labels, spelled))
        return self._of_new_labels(file, cast(RelationalContext, context))

    def _branches(
        self, file: ContextFile, edges: list[tuple[str, str]], tree: Hierarchy
    ) -> Context:
        """A taxonomy whose nodes hang below known ones, or below each other."""
        if file.kind in THESAURI:  # a newer edition of the whole
            edges = [edge for edge in edges if edge[0] not in tree.index]
            if not edges:
                raise ContextError(f"{file.path}: names no node that is new.")
            for node in tree.nodes:
                self.found.node_names.pop(node, None)
        else:
            spelled = self._spelled(file, dict(edges))
            edges = [(spelled.get(a, a), spelled.get(b, b)) for a, b in edges]
            new = set(self._left_new(file, dict(edges), spelled))
            nodes = self.embedding.nodes(tree)
            edges = [
                (child, parent if parent in new else parent_called(nodes, parent))
                for child, parent in edges
                if child in new
            ]
        return RelationalContext.from_hierarchy(edges, name=file.name)

    def _spelled(self, file: ContextFile, labels: Collection[str]) -> dict[str, str]:
        """Known labels by other spellings, unless a file has both, or several."""
        called = replace(
            self.embedding,
            spellings={**self.embedding.spellings, **self.found.synonyms},
        ).called
        found = {
            label: known
            for label in labels
            if label not in self.embedding
            and (known := called.spelled(label)) is not None
            and known not in labels
        }
        n_spellings = Counter(found.values())
        found = {other: x for other, x in found.items() if n_spellings[x] == 1}
        self.spelled.update({(file.path.name, x): y for x, y in found.items()})
        return found

    def _left_new(
        self, file: ContextFile, labels: Iterable[str], spelled: Mapping[str, str]
    ) -> list[str]:
        """The labels that are new; a warning names the others, as the user has them."""
        given = {label: other for other, label in spelled.items()}
        new = [label for label in labels if label not in self.embedding]
        known = some(given.get(x, x) for x in labels if x in self.embedding)
        if not new:
            raise ContextError(
                f"{file.path}: all labels are in the embedding already: {known}; give "
                "new ones."
            )
        if known:
            warnings.warn(
                f"{file.path}: in the embedding already, so left out: {known}.",
                ContextWarning,
                stacklevel=6,
            )
        return new

    def _of_new_labels(
        self, file: ContextFile, context: RelationalContext
    ) -> RelationalContext:
        """The rows of the new labels; known labels of the file are only columns."""
        new = [label for label in context.labels if label not in self.embedding]
        if not new:
            raise ContextError(f"{file.path}: names no label that is new.")
        counts = context.rows_for(new)
        used = np.unique(counts.indices)
        columns = some_names(context.columns, used)
        return replace(
            context, labels=tuple(new), columns=columns, counts=counts[:, used]
        )

    def whole_match(self, matched: Matched) -> LabelMatch:
        """What was joined with the embedding and among files, and what may be known."""
        joined, synonyms = [], {}
        for (source, other), label in self.spelled.items():
            if match_key(other) == match_key(label):
                how = differences(other, label)
                joined.append(JoinedLabel(source, other, label, "the embedding", how))
            else:
                synonyms[other] = label
        known = LabelSource("the embedding", self.embedding.labels)
        titles = self.found.titles
        new = [
            LabelSource(titles.get(context.name, context.name), context.labels)
            for context in matched.contexts
        ]
        return LabelMatch(
            joined=(*joined, *matched.match.joined),
            synonyms=synonyms,
            suggestions=match_labels([known, *new]).suggestions,
        )
