"""`phcle.fit`: from files, folders, data frames or contexts to an embedding.

The kind of a file or frame is guessed, and the guess is said in one warning. Whoever
wants to say it makes contexts: `read_contexts`, `RelationalContext`,
`DescriptiveContext`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phcle.contexts import Context
from phcle.contexts.alignment import match_contexts
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, GuessWarning
from phcle.estimator import PHCLE
from phcle.tables.check import GuessedFiles, guess_files
from phcle.tables.files import (
    ReadContexts,
    collect_files,
    label_words_of,
    read_table,
)
from phcle.tables.frames import frame_table, is_frame, say_remarks
from phcle.tables.kinds import Guess
from phcle.tables.matching import warn_of_match
from phcle.tables.reader import Table, open_table
from phcle.tables.rows import read_cells, read_synonyms


def fit(
    *data: Any,
    labels: Iterable[Any] | str | Path | None = None,
    names: Mapping[str, str] | str | Path | None = None,
    synonyms: Mapping[str, str] | None = None,
    label_words: bool = False,
    warm_start: LabelEmbedding | str | Path | None = None,
    choose_again: bool = False,
    **options: Any,
) -> LabelEmbedding:
    r"""Learn an embedding from whatever holds the data.

    Parameters
    ----------
    *data : path, data frame, Context, or mapping from context names to these
        Paths of files or folders, frames of pandas, Polars or PyArrow, contexts, what
        `phcle.read_contexts` returned, or mappings or lists of these. What a file or
        frame is, such as a taxonomy or a table of attributes, is guessed from its
        columns, with a warning; where that is not certain, it is refused.
    labels : iterable of str, or path, optional
        The labels to embed, or a file with one per line. By default every label is
        embedded.
    names : mapping from str to str, or path, optional
        Readable names of labels, or a file with the columns `label` and `name`.
    synonyms : mapping from str to str, optional
        Labels by other spellings of them. Spellings that differ only in case, spaces or
        Unicode form are joined without it, unless `match="exact"` is an option.
    label_words : bool, default False
        Add the words of the labels' own names as a context; see
        `DescriptiveContext.from_label_names`.
    warm_start : LabelEmbedding, str or Path, optional
        An earlier embedding of similar data, or its file, to start from.
    choose_again : bool, default False
        With `warm_start`: choose settings and learn confidences anew.
    **options : dict
        Options of `PHCLE`, such as `dim` or `random_state`.

    Returns
    -------
    LabelEmbedding
        One vector per label.

    Examples
    --------
    >>> import pandas as pd, phcle
    >>> tree = pd.DataFrame({
    ...     "child": ["cat", "lion", "dog", "wolf"],
    ...     "parent": ["felid", "felid", "canid", "canid"],
    ... })
    >>> sizes = pd.DataFrame({"label": ["cat", "wolf"], "kg": [4, 40]})
    >>> phcle.fit({"tree": tree, "sizes": sizes}, dim=2).labels
    ('cat', 'lion', 'dog', 'wolf')
    """
    given = _Given()
    given.add(data, None)
    if isinstance(names, Mapping):
        given.names.update(names)
    elif names is not None:
        given.names_file = Path(names)
    if isinstance(labels, (str, Path)):
        given.labels_file = Path(labels)
    elif labels is not None:
        given.labels = tuple(labels)
    model = PHCLE(**options)
    found = given.read()
    matched = match_contexts(
        found,
        labels=found.labels,
        names=found.names,
        mode=model.match,
        synonyms={**given.synonyms, **(synonyms or {})},
    )
    warn_of_match(matched.match, stacklevel=2)
    contexts = list(matched.contexts)
    if label_words:
        contexts.append(label_words_of(contexts, matched.labels, matched.names))
    read = replace(
        found,
        contexts=tuple(contexts),
        labels=matched.labels,
        names={**found.names, **matched.names},
        match=matched.match,
    )
    model.fit(read, warm_start=warm_start, choose_again=choose_again)
    return model.embedding_


@dataclass
class _Given:
    """What the user gave, sorted by what it is."""

    contexts: list[Context] = field(default_factory=list)
    frames: dict[str, Any] = field(default_factory=dict)
    files: dict[Path, str | None] = field(default_factory=dict)  # name by path
    unnamed: set[str] = field(default_factory=set)  # keys of frames
    n_of_kind: Counter[str] = field(default_factory=Counter)
    read_before: list[ReadContexts] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    labels: tuple[Any, ...] | None = None
    names_file: Path | None = None
    labels_file: Path | None = None
    synonyms: dict[str, str] = field(default_factory=dict)

    def add(self, data: Any, name: str | None) -> None:
        """Sort one thing, or many of them."""
        if isinstance(data, Context):
            self.contexts.append(data)
        elif isinstance(data, ReadContexts):
            self.read_before.append(data)
        elif isinstance(data, (str, Path)):
            self.files[Path(data)] = name
        elif is_frame(data):
            key = name or f"data frame {len(self.frames) + 1}"
            if name is None:
                self.unnamed.add(key)
            self.frames[key] = data
        elif isinstance(data, Mapping):
            for own, each in data.items():
                self.add(each, str(own))
        elif isinstance(data, (list, tuple)):
            for each in data:
                self.add(each, None)
        else:
            raise ContextError(
                "phcle.fit takes paths, data frames, contexts, or mappings of them. "
                f"Got {type(data).__name__} instead."
            )

    def read(self) -> ReadContexts:
        """Guess what files and frames are, say it, and read them."""
        tables = {key: frame_table(frame, key) for key, frame in self.frames.items()}
        samples = {
            key: table.sample()
            for key, table in tables.items()
            if table is not None and not table.given_columns  # labels in the index
        }
        guessed = GuessedFiles()
        if self.files or samples:
            guessed = guess_files(self.files, beside=samples)
        _refuse_open(guessed)
        _say(guessed)
        if guessed.synonyms is not None:
            self.synonyms = read_synonyms(open_table(guessed.synonyms))
        read = ReadContexts(())
        if guessed.files:
            read = collect_files(
                [replace(x, given_name=self.files.get(x.path)) for x in guessed.files],
                labels=self.labels_file or guessed.labels,
                names=self.names_file or guessed.names,
                match="exact",  # all labels are matched together later
            ).whole()
        made = [
            self._from_frame(table, guessed.tables.get(key, Guess("attributes")))
            for key, table in tables.items()
            if table is not None
        ]
        before = [context for each in self.read_before for context in each]
        for each in self.read_before:
            self.names = {**each.names, **self.names}
            self.labels = self.labels or each.labels
        return replace(
            read,
            contexts=(
                *self.contexts,
                *before,
                *read,
                *(x for x in made if x is not None),
            ),
            labels=self.labels or read.labels,
            names={**read.names, **self.names},
            sources=(
                *(x for each in self.read_before for x in each.sources),
                *read.sources,
            ),
        )

    def _from_frame(self, table: Table, guess: Guess) -> Context | None:
        """The context of a frame; None if it holds names or labels only."""
        table.given_columns = table.given_columns or guess.columns
        if guess.kind == "names":
            self.names = {**read_cells(table, "names"), **self.names}
            return None
        if guess.kind == "labels":
            self.labels = self.labels or tuple(cells[0] for _, cells in table.texts())
            return None
        kind = str(guess.kind)
        context = read_table(kind, table, self._name(str(table.path), kind))
        if kind == "attributes":
            say_remarks(table, stacklevel=5)
        return context

    def _name(self, key: str, kind: str = "attributes") -> str:
        """The given name of a frame, or its kind, with a number if that is taken."""
        if key not in self.unnamed:
            return key
        self.n_of_kind[kind] += 1
        n = self.n_of_kind[kind]
        return kind if n == 1 else f"{kind} {n}"


def _refuse_open(guessed: GuessedFiles) -> None:
    """Refuse files and frames that may be of several kinds, all at once."""
    faults = [*guessed.faults.values()]
    for name, guess in guessed.tables.items():
        if guess.kind is None:
            reason = guess.why.partition("; say what it is")[0]
            ways = " or ".join(f"from_{x}" for x in guess.between)
            faults.append(f"{name}: {reason}; make the context yourself with {ways}.")
    if faults:
        raise ContextError("\n".join(faults))


def _say(guessed: GuessedFiles) -> None:
    """Warn what was guessed, if the titles of any table leave a doubt."""
    guesses = {x.name: guess for x, guess in guessed.guesses.items()}
    guesses.update(guessed.tables)
    taken = []
    for name, guess in guesses.items():
        roles = ", ".join(f"{role} is {x!r}" for role, x in guess.columns.items())
        taken.append(f"{name} as {guess.kind}" + (f" ({roles})" if roles else ""))
    if any(guess.is_guess for guess in guesses.values()):
        warnings.warn(f"taken: {'; '.join(taken)}.", GuessWarning, stacklevel=4)
