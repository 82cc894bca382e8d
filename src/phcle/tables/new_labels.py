"""Files about new labels, matched with the contexts of an embedding."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
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
from phcle.tables.file_kinds import (
    THESAURI,
    ContextFile,
    Files,
    list_files,
)
from phcle.tables.files import (
    ReadContexts,
    Synonyms,
    read_and_summarise,
    read_readable_names,
    read_thesaurus,
)
from phcle.tables.match_keys import differences, match_key
from phcle.tables.matching import (
    JoinedLabel,
    LabelMatch,
    LabelSource,
    match_labels,
)
from phcle.tables.newick import is_newick, read_newick
from phcle.tables.ontologies import Thesaurus
from phcle.tables.reader import Reading, open_table
from phcle.tables.rows import read_hierarchy_edges, read_synonyms
from phcle.tables.sources import (
    CollectedFaults,
    FileSummary,
    SourceFile,
    errors_name,
    recorded,
)


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
    contexts: list[Context] = []
    readable: dict[str, str] = {}
    titles: dict[str, str] = {}
    spelled: dict[tuple[str, str], str] = {}
    sources: list[SourceFile] = []
    summaries: list[FileSummary] = []
    faults = CollectedFaults()
    if isinstance(synonyms, (str, Path)):
        with recorded(ContextFile("synonyms", Path(synonyms), "synonyms"), sources):
            synonyms, _ = read_synonyms(synonyms)
    if synonyms:
        embedding = replace(embedding, spellings={**embedding.spellings, **synonyms})
    for file in list_files(files) if isinstance(files, Mapping) else files:
        target = replace(file, given_name=_target(file, embedding))
        with faults.collected(file.path), recorded(target, sources):
            if file.kind in THESAURI:
                summaries.append(FileSummary(file.path, file.kind))
                thesaurus = read_thesaurus(target, language)
                new = _new_part(thesaurus, embedding, file)
                contexts += _contexts_of(new, embedding)
                readable.update(new.names)
            else:
                context, summary = _read(target, embedding, spelled, reading)
                contexts.append(context)
                summaries.append(summary)
            titles[target.name] = file.path.name
    if names is not None:
        own = ContextFile("names", Path(names), "names")
        with faults.collected(own.path), recorded(own, sources):
            found, summary = read_readable_names(own, reading)
            readable.update(found)
            summaries.append(summary)
        titles["names"] = Path(names).name
    faults.raise_all()
    matched = match_contexts(contexts, names=readable, titles=titles)
    return ReadContexts(
        matched.contexts,
        None,
        matched.names,
        tuple(sources),
        tuple(summaries),
        match=_whole_match(matched, spelled, titles, embedding),
    )


def _whole_match(
    matched: Matched,
    spelled: Mapping[tuple[str, str], str],
    titles: Mapping[str, str],
    embedding: LabelEmbedding,
) -> LabelMatch:
    """What was joined with the embedding and among the files, and what may be known."""
    joined, synonyms = [], {}
    for (source, other), label in spelled.items():
        if match_key(other) == match_key(label):
            how = differences(other, label)
            joined.append(JoinedLabel(source, other, label, "the embedding", how))
        else:
            synonyms[other] = label
    known = LabelSource("the embedding", embedding.labels)
    new = [
        LabelSource(titles.get(context.name, context.name), context.labels)
        for context in matched.contexts
    ]
    return LabelMatch(
        joined=(*joined, *matched.match.joined),
        synonyms=synonyms,
        suggestions=match_labels([known, *new]).suggestions,
    )


def _new_part(
    thesaurus: Thesaurus, embedding: LabelEmbedding, file: ContextFile
) -> Thesaurus:
    """The nodes of a newer edition that the embedding does not have."""
    trees = _taxonomies(embedding)
    if thesaurus.name not in trees:
        raise ContextError(
            f"{file.path}: the fit had no context {thesaurus.name!r}."
            f"{did_you_mean(thesaurus.name, trees)} It had {some(trees)}."
        )
    tree = trees[thesaurus.name]
    if tree is None:
        raise ContextError(
            f"{file.path}: the context {thesaurus.name!r} of the fit is no taxonomy."
        )
    new = thesaurus.beyond(tree.index)
    if not new.edges:
        raise ContextError(f"{file.path}: names no node that is new.")
    return new


def _contexts_of(new: Thesaurus, embedding: LabelEmbedding) -> list[Context]:
    """The new edges, and the texts if the fit had texts."""
    contexts: list[Context] = [new.hierarchy()]
    if new.texts:
        texts = new.descriptions(min_count=1)
        if any(context.name == texts.name for context in embedding.contexts):
            contexts.append(texts)
    return contexts


def _read(
    file: ContextFile,
    embedding: LabelEmbedding,
    spelled: dict[tuple[str, str], str],
    reading: Reading | None,
) -> tuple[Context, FileSummary]:
    tree = _taxonomies(embedding).get(file.name)
    if file.kind == "hierarchy" and tree is not None:
        edges, summary = _new_edges(file, reading)
        known = _known_spellings({child for child, _ in edges}, embedding)
        edges = [
            (known.get(child, child), known.get(parent, parent))
            for child, parent in edges
        ]
        new = _left_new(file, dict.fromkeys(x for x, _ in edges), known, embedding)
        spelled.update({(file.path.name, x): label for x, label in known.items()})
        edges = [(child, parent) for child, parent in edges if child in new]
        children = {child for child, _ in edges}
        nodes = embedding.nodes(tree)
        with errors_name(file.path):
            edges = [
                (child, parent if parent in children else parent_called(nodes, parent))
                for child, parent in edges
            ]
        context = RelationalContext.from_hierarchy(edges, name=file.name)
        return context, summary
    # Every word counts, even of a single text: the fit has chosen its words.
    read, summary = read_and_summarise(file, min_count=1, reading=reading)
    known = _known_spellings(read.labels, embedding)
    read = read.renamed(known)
    spelled.update({(file.path.name, x): label for x, label in known.items()})
    if isinstance(read, DescriptiveContext):
        left = _left_new(file, read.labels, known, embedding)
        return read.rows_for(left), summary
    if isinstance(read, RelationalContext) and read.hierarchy is None:
        return _of_new_labels(read, embedding, file), summary
    return read, summary


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


def _new_edges(
    file: ContextFile, reading: Reading | None
) -> tuple[list[tuple[str, str]], FileSummary]:
    """Pairs of child and parent. Lengths would change nothing: nodes stay in place."""
    if is_newick(file.path):
        edges = read_newick(file.path).named_edges
        return edges, FileSummary(file.path, file.kind)
    table = open_table(file.path, reading, columns=file.columns)
    return read_hierarchy_edges(table), FileSummary.of(table, file.kind)


def _known_spellings(
    labels: Collection[str], embedding: LabelEmbedding
) -> dict[str, str]:
    """Known labels by another spelling, unless the file has both, or two spellings."""
    found = {
        label: known
        for label in labels
        if label not in embedding
        and (known := embedding.called.spelled(label)) is not None
        and known not in labels
    }
    n_spellings = Counter(found.values())
    return {other: label for other, label in found.items() if n_spellings[label] == 1}


def _left_new(
    file: ContextFile,
    labels: Iterable[str],
    spelled: Mapping[str, str],
    embedding: LabelEmbedding,
) -> list[str]:
    """The labels that are new; a warning names the others, in the user's spelling."""
    given = {label: other for other, label in spelled.items()}
    new: list[str] = []
    known: list[str] = []
    for label in labels:
        (known if label in embedding else new).append(label)
    if known:
        listed = some(given.get(label, label) for label in known)
        if not new:
            raise ContextError(
                f"{file.path}: all labels are in the embedding already: {listed}; give "
                "new ones."
            )
        warnings.warn(
            f"{file.path}: in the embedding already, so left out: {listed}.",
            ContextWarning,
            stacklevel=5,
        )
    return new


def _target(file: ContextFile, embedding: LabelEmbedding) -> str:
    """The context of the fit that a file belongs to."""
    names = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    if file.given_name is not None or file.name in names or not names:
        return file.name
    fitting = list(
        dict.fromkeys(
            c.given_name for c in embedding.contexts if file.kind in c.file_kinds
        )
    )
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ContextError(
            f"{file.path}: may belong to {some(fitting)}; say to which: "
            f"--{file.kind} NAME={file.path}"
        )
    raise ContextError(
        f"{file.path}: nothing in the fit was learned from --{file.kind}; it had "
        f"{some(names)}."
    )


def _taxonomies(embedding: LabelEmbedding) -> dict[str, Hierarchy | None]:
    """The taxonomy of each context that has one, by the context's name."""
    return {context.given_name: context.hierarchy for context in embedding.contexts}


def _of_new_labels(
    context: RelationalContext, embedding: LabelEmbedding, file: ContextFile
) -> RelationalContext:
    """The rows of the new labels; known labels of the file only serve as columns."""
    new = [label for label in context.labels if label not in embedding]
    if not new:
        raise ContextError(f"{file.path}: names no label that is new.")
    counts = context.rows_for(new)
    used = np.unique(counts.indices)
    columns = some_names(context.columns, used)
    return replace(context, labels=tuple(new), columns=columns, counts=counts[:, used])
