"""From the files on the command line to contexts."""

from __future__ import annotations

import hashlib
import importlib.util
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from phcle.cli.flags import CONTEXT_FILES, THESAURI
from phcle.errors import ContextError
from phcle.files.writing import is_file

if TYPE_CHECKING:
    from phcle.contexts.alignment import Context
    from phcle.contexts.readers.thesaurus import Thesaurus

__all__ = [
    "ContextFile",
    "ReadContexts",
    "context_files",
    "files_read",
    "read_context",
    "read_contexts",
    "read_thesaurus",
]

FEW_TEXTS = 50
"""Below so many texts of a vocabulary a word that occurs once counts too."""

LARGE_FILE = 200_000_000
"""Bytes of an annotation table from which on an engine counts it, if there is one."""


@dataclass(frozen=True)
class ContextFile:
    """A file, the flag it came with, and the name it was given as NAME=path."""

    sort: str
    path: Path
    given_name: str | None = None

    @property
    def name(self) -> str:
        """What the context is called: as given, or else like the file."""
        return self.given_name or self.path.stem


def context_files(given: Mapping[str, Any]) -> list[ContextFile]:
    """The files among the values of the flags; at least one, and no name twice."""
    sorts = [sort for sort in (*CONTEXT_FILES, *THESAURI) if sort in given]
    files = [_parse(sort, value) for sort in sorts for value in given[sort] or ()]
    if not files:
        flags = ", ".join(f"--{sort}" for sort in sorts)
        raise ContextError(f"nothing to learn from; give at least one of {flags}.")
    return files


def _parse(sort: str, value: str) -> ContextFile:
    name, equals, path = value.partition("=")
    if equals and name and not is_file(value):
        return ContextFile(sort, Path(path), name)
    return ContextFile(sort, Path(value))


class ReadContexts(NamedTuple):
    """What the files of a fit hold."""

    contexts: list[Context]
    labels: tuple[str, ...] | None  # those to embed, if not all
    names: dict[str, str]


def read_contexts(
    files: Iterable[ContextFile],
    *,
    labels: Path | None,
    names: Path | None,
    hierarchy_kind: str = "ancestors",
    language: str = "en",
) -> ReadContexts:
    """Contexts of a fit, each called like its file unless it was given a name.

    A vocabulary or ontology gives two: its taxonomy, and the texts in it.
    """
    from phcle.contexts.alignment import align
    from phcle.contexts.readers.label_files import (
        read_labels,
        read_names,
        read_vectors,
    )

    asked = None if labels is None else read_labels(labels)
    readable = {} if names is None else read_names(names)
    files = list(files)
    _refuse_same_names(files)
    contexts: list[Context] = []
    for file in files:
        if file.sort in THESAURI:
            thesaurus = read_thesaurus(file, language)
            contexts.append(thesaurus.hierarchy(kind=hierarchy_kind))
            if thesaurus.texts:
                # Few texts share few words: then every word counts.
                least = 1 if len(thesaurus.texts) < FEW_TEXTS else 2
                contexts.append(thesaurus.descriptions(min_count=least))
            readable = {**thesaurus.names, **readable}
        elif file.sort != "vectors":
            contexts.append(read_context(file, hierarchy_kind=hierarchy_kind))
    # A file of word vectors is a whole dictionary: only labels known otherwise count.
    known = asked
    if known is None and contexts:
        known = align(contexts, must_inform=False).labels
    wanted = None if known is None else {x: readable.get(x, x) for x in known}
    contexts += [
        read_vectors(file.path, file.name, wanted=wanted)
        for file in files
        if file.sort == "vectors"
    ]
    return ReadContexts(contexts, asked, dict(readable))


def read_thesaurus(file: ContextFile, language: str) -> Thesaurus:
    """A vocabulary or ontology, with names and texts of one language."""
    from phcle.contexts.readers.ontologies import from_owl, from_skos

    read = from_skos if file.sort == "skos" else from_owl
    return read(file.path, language=language, name=file.name)


def read_context(
    file: ContextFile, *, hierarchy_kind: str = "ancestors", min_count: int = 2
) -> Context:
    """One file as a context; whatever is wrong with it, the message names the file."""
    try:
        return _read(file, hierarchy_kind, min_count)
    except ContextError as error:
        if str(file.path) in str(error):
            raise
        raise ContextError(f"{file.path}: {error}") from error


def _read(file: ContextFile, hierarchy_kind: str, min_count: int) -> Context:
    from phcle.contexts import DescriptiveContext, RelationalContext
    from phcle.contexts.readers import label_files as readers

    path, name = file.path, file.name
    if file.sort == "hierarchy":
        return RelationalContext.from_hierarchy(
            readers.read_hierarchy_edges(path), name=name, kind=hierarchy_kind
        )
    if file.sort == "edges":
        return RelationalContext.from_edges(readers.read_edges(path), name=name)
    if file.sort == "annotations" and _needs_engine(path):
        return RelationalContext.from_annotation_table(path, name=name)
    if file.sort == "annotations":
        return RelationalContext.from_annotations(
            readers.read_annotations(path), name=name
        )
    if file.sort == "attributes":
        return readers.read_attributes(path, name)
    if file.sort == "tags":
        return DescriptiveContext.from_tags(readers.read_tags(path), name=name)
    if file.sort == "texts":
        return DescriptiveContext.from_texts(
            readers.read_texts(path), name=name, min_count=min_count
        )
    if file.sort == "sentences":
        return DescriptiveContext.from_texts(
            readers.read_texts(path), name=name, encoder="sentences"
        )
    return readers.read_vectors(path, name)


def _needs_engine(path: Path) -> bool:
    """Whether an annotation table is counted by an engine: Parquet, or a large file."""
    if ".parquet" in path.suffixes:
        return True
    is_large = is_file(path) and path.stat().st_size > LARGE_FILE
    return is_large and importlib.util.find_spec("duckdb") is not None


def files_read(
    files: Iterable[ContextFile], **others: Path | None
) -> list[dict[str, str]]:
    """Which files a fit was made of: flag, name, file name and SHA-256 of each.

    Their folders are left out: they may tell more of a machine than its owner wants.
    """
    given = [(file.sort, file.name, file.path) for file in files]
    given += [(flag, flag, path) for flag, path in others.items() if path is not None]
    found = []
    for flag, name, path in given:
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        found.append({"flag": flag, "name": name, "file": path.name, "sha256": digest})
    return found


def _refuse_same_names(files: Iterable[ContextFile]) -> None:
    for name, count in Counter(file.name for file in files).items():
        if count > 1:
            paths = [str(file.path) for file in files if file.name == name]
            raise ContextError(
                f"{' and '.join(paths)} would both be the context {name!r}; name one "
                f"of them: NAME={paths[-1]}."
            )
