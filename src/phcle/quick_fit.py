"""`phcle.fit`: from files, folders, data frames or contexts to an embedding.

The kind of a file or frame is guessed, and the guess is said in one warning. Whoever
wants to say it makes contexts: `read_contexts`, `RelationalContext`,
`DescriptiveContext`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from phcle.contexts import Context
from phcle.embedding import LabelEmbedding
from phcle.errors import ContextError, GuessWarning
from phcle.estimator import PHCLE
from phcle.tables.check import GuessedFiles, guess_files
from phcle.tables.file_kinds import with_lists
from phcle.tables.files import ReadContexts, collect_files
from phcle.tables.frames import frame_table, is_frame, say_remarks
from phcle.tables.kinds import Guess
from phcle.tables.matching import warn_of_match
from phcle.tables.reader import Table
from phcle.tables.rows import read_cells, read_table


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
    model = PHCLE(**options)
    read = _read(
        data, labels, names, match=model.match, synonyms=synonyms, words=label_words
    )
    if read.match is not None:
        warn_of_match(read.match, stacklevel=2)
    model.fit(read, warm_start=warm_start, choose_again=choose_again)
    return model.embedding_


def _read(
    data: Any, labels: Any, names: Any, *, match: str, synonyms: Any, words: bool
) -> ReadContexts:
    """Contexts of all that was given, with labels that are spelled alike."""
    contexts: list[Context] = []
    before: list[ReadContexts] = []
    files: dict[Path, str | None] = {}  # name by path
    tables: dict[str, Table] = {}
    unnamed: set[str] = set()
    for n, (name, each) in enumerate(_flat(data, None), 1):
        if isinstance(each, Context):
            contexts.append(each)
        elif isinstance(each, ReadContexts):
            before.append(each)
            contexts.extend(each)
        elif isinstance(each, (str, Path)):
            files[Path(each)] = name
        elif is_frame(each):
            key = name or f"data frame {n}"
            unnamed |= set() if name else {key}
            table = frame_table(each, key)
            if table is not None:  # else it is empty
                tables[key] = table
        else:
            raise ContextError(
                "phcle.fit takes paths, data frames, contexts, or mappings of them. "
                f"Got {type(each).__name__} instead."
            )
    # Labels in the index of a frame leave nothing to guess.
    samples = {key: x.sample() for key, x in tables.items() if not x.given_columns}
    is_open = bool(files or samples)
    guessed = guess_files(files, beside=samples) if is_open else GuessedFiles()
    _refuse_open(guessed)
    _say(guessed)
    chosen = (
        None if labels is None or isinstance(labels, (str, Path)) else tuple(labels)
    )
    called = dict(names) if isinstance(names, Mapping) else {}
    n_of_kind: Counter[str] = Counter()
    for key, table in tables.items():
        guess = guessed.tables.get(key, Guess("attributes"))
        table.given_columns = table.given_columns or guess.columns
        kind = str(guess.kind)
        if kind == "names":
            called = {**read_cells(table, "names"), **called}
        elif kind == "labels":
            chosen = chosen or tuple(cells[0] for _, cells in table.texts())
        else:
            if key in unnamed:
                n_of_kind[kind] += 1
                n = n_of_kind[kind]
                key = kind if n == 1 else f"{kind} {n}"
            contexts.append(read_table(kind, table, key))
            if kind == "attributes":
                say_remarks(table, stacklevel=4)
    for each in before:
        called = {**each.names, **called}
        chosen = chosen or each.labels
    named = [replace(file, given_name=files.get(file.path)) for file in guessed.files]
    found = collect_files(
        with_lists(named, labels=labels, names=names),
        label_words=words,
        match=match,
        synonyms=synonyms,
        labels=chosen,
        names=called,
        beside=contexts,
    ).whole()
    summaries = [summary for each in (*before, found) for summary in each.summaries]
    return replace(found, summaries=tuple(summaries))


def _flat(data: Any, name: str | None) -> Iterator[tuple[str | None, Any]]:
    """Each thing that was given, with its name if it has one."""
    if isinstance(data, Mapping):
        for own, each in data.items():
            yield from _flat(each, str(own))
    elif isinstance(data, (list, tuple)):
        for each in data:
            yield from _flat(each, None)
    else:
        yield name, data


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
