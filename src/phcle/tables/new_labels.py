"""Files about new labels, matched with the contexts of an embedding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from phcle.contexts import DescriptiveContext, Hierarchy, RelationalContext
from phcle.contexts.alignment import Matched, match_contexts
from phcle.contexts.labels import some_names
from phcle.contexts.protocol import Context
from phcle.embedding import LabelEmbedding
from phcle.embedding.labels import Labels
from phcle.errors import (
    ContextError,
    ContextWarning,
    UnknownLabelError,
    did_you_mean,
    some,
)
from phcle.tables import trees
from phcle.tables.file_kinds import THESAURI, ContextFile, Files, is_newick, list_files
from phcle.tables.files import (
    CollectedFiles,
    FileSummary,
    ReadContexts,
    Synonyms,
    read_file,
)
from phcle.tables.match_keys import differences, match_key
from phcle.tables.matching import JoinedLabel, LabelMatch, LabelSource, match_labels
from phcle.tables.reader import Reading, errors_name, open_table
from phcle.tables.rows import read_hierarchy_edges


def read_new_contexts(
    embedding: LabelEmbedding,
    files: Mapping[str, Files] | Iterable[ContextFile],
    *,
    names: str | Path | None = None,
    language: str = "en",
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
    language : str, default "en"
        Language of names and texts in `skos` and `owl` files.
    synonyms : path or mapping, optional
        Known labels that the files spell differently: a table with the columns `label`
        and `synonym`, or labels by synonym.
    reading : Reading, optional
        How the user wants tables to be read; by default all is found out.

    Returns
    -------
    ReadContexts
        Contexts with the names they have in the embedding, readable names, which labels
        were joined, and how the files were read.
    """
    # Every word counts, even of a single text: the fit has chosen its words.
    reading = replace(reading or Reading(), language=language, min_count=1)
    taken = CollectedFiles(reading)
    taken.take_synonyms(synonyms)
    spellings = {**embedding.spellings, **taken.synonyms}
    new = _NewLabels(replace(embedding, spellings=spellings), taken)
    for file in list_files(files) if isinstance(files, Mapping) else files:
        target = replace(file, given_name=new.target(file))
        taken.titles[target.name] = file.path.name
        taken.take(target, new.read)
    taken.titles["names"] = "" if names is None else Path(names).name
    taken.take_names(names)
    found = taken.whole()
    matched = match_contexts(found, names=found.names, titles=taken.titles)
    return replace(
        found,
        contexts=matched.contexts,
        names=matched.names,
        match=new.whole_match(matched),
    )


def parent_called(nodes: Labels, text: str) -> str:
    """Find the parent of a new label.

    Parameters
    ----------
    nodes : Labels
        Nodes of the taxonomy.
    text : str
        A node's id or readable name.

    Returns
    -------
    str
        The node's id; an unknown one is refused.
    """
    try:
        return nodes.resolve(text)
    except UnknownLabelError as error:
        raise ContextError(
            f"the parent {error} Name a known node, or give it a parent too."
        ) from error


@dataclass
class _NewLabels:
    """Files about new labels of an embedding, and how they spell known ones."""

    embedding: LabelEmbedding
    taken: CollectedFiles
    spelled: dict[tuple[str, str], str] = field(default_factory=dict)  # with the file

    def __post_init__(self) -> None:
        contexts = self.embedding.contexts
        self.taxonomies = {each.given_name: each.hierarchy for each in contexts}

    def target(self, file: ContextFile) -> str:
        """The context of the fit that a file belongs to."""
        names = list(self.taxonomies)
        if file.given_name is not None or file.name in names or not names:
            return file.name
        fitting = dict.fromkeys(
            context.given_name
            for context in self.embedding.contexts
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

    def read(self, file: ContextFile) -> FileSummary:
        """Read the contexts of a file, and how it spells known labels."""
        if file.kind in THESAURI:
            return self._read_thesaurus(file)
        tree = self.taxonomies.get(file.name)
        context: Context
        if file.kind == "hierarchy" and tree is not None:
            edges, summary = _new_edges(file, self.taken.reading)
            known = self._known_spellings({child for child, _ in edges})
            edges = [(known.get(a, a), known.get(b, b)) for a, b in edges]
            new = self._left_new(file, dict.fromkeys(x for x, _ in edges), known)
            context = self._branches(file, tree, [x for x in edges if x[0] in new])
        else:
            context, summary = read_file(file, self.taken.reading)
            known = self._known_spellings(context.labels)
            context = context.renamed(known)
            if isinstance(context, DescriptiveContext):
                context = context.rows_for(self._left_new(file, context.labels, known))
            elif isinstance(context, RelationalContext) and context.hierarchy is None:
                context = self._of_new_labels(file, context)
        self.spelled.update({(file.path.name, x): y for x, y in known.items()})
        self.taken.contexts.append(context)
        return summary

    def _read_thesaurus(self, file: ContextFile) -> FileSummary:
        """Read the nodes of a newer edition that the embedding does not have."""
        thesaurus = trees.read_thesaurus(file, self.taken.reading.language)
        name, known = thesaurus.name, self.taxonomies
        if name not in known:
            raise ContextError(
                f"{file.path}: the fit had no context {name!r}."
                f"{did_you_mean(name, known)} It had {some(known)}."
            )
        tree = known[name]
        if tree is None:
            raise ContextError(
                f"{file.path}: the context {name!r} of the fit is no taxonomy."
            )
        new = thesaurus.beyond(tree.index)
        if not new.edges:
            raise ContextError(f"{file.path}: names no node that is new.")
        self.taken.contexts.append(new.hierarchy())
        if new.texts and trees.name_of_texts(name) in known:
            self.taken.contexts.append(new.descriptions(min_count=1))
        self.taken.names.update(new.names)
        return FileSummary(file.path, file.kind)

    def _branches(
        self, file: ContextFile, tree: Hierarchy, edges: list[tuple[str, str]]
    ) -> Context:
        """A taxonomy whose nodes hang below known ones, or below each other."""
        children = {child for child, _ in edges}
        nodes = self.embedding.nodes(tree)
        with errors_name(file.path):
            edges = [
                (child, parent if parent in children else parent_called(nodes, parent))
                for child, parent in edges
            ]
        return RelationalContext.from_hierarchy(edges, name=file.name)

    def _known_spellings(self, labels: Collection[str]) -> dict[str, str]:
        """Known labels by other spellings, unless a file has both, or several."""
        found = {
            label: known
            for label in labels
            if label not in self.embedding
            and (known := self.embedding.called.spelled(label)) is not None
            and known not in labels
        }
        n_spellings = Counter(found.values())
        return {other: x for other, x in found.items() if n_spellings[x] == 1}

    def _left_new(
        self, file: ContextFile, labels: Iterable[str], spelled: Mapping[str, str]
    ) -> list[str]:
        """The labels that are new; a warning names the others, as the user has them."""
        given = {label: other for other, label in spelled.items()}
        labels = list(labels)
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
        titles = self.taken.titles
        new = [
            LabelSource(titles.get(context.name, context.name), context.labels)
            for context in matched.contexts
        ]
        return LabelMatch(
            joined=(*joined, *matched.match.joined),
            synonyms=synonyms,
            suggestions=match_labels([known, *new]).suggestions,
        )


def _new_edges(
    file: ContextFile, reading: Reading
) -> tuple[list[tuple[str, str]], FileSummary]:
    """Pairs of child and parent. Lengths would change nothing: nodes stay in place."""
    if is_newick(file.path):
        edges = trees.read_newick(file.path).named_edges
        return edges, FileSummary(file.path, file.kind)
    table = open_table(file.path, reading, columns=file.columns)
    return read_hierarchy_edges(table), FileSummary.of(table, file.kind)
