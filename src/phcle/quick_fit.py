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
from phcle.tables.file_kinds import ContextFile, named_file, with_lists
from phcle.tables.files import ReadContexts, collect_files
from phcle.tables.kinds import are_unusual
from phcle.tables.matching import warn_of_match
from phcle.tables.reader import frame_table, is_frame, say_remarks


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
    given: list[ContextFile] = []
    for n, (name, each) in enumerate(_flat(data, None), 1):
        if isinstance(each, Context):
            contexts.append(each)
        elif isinstance(each, ReadContexts):
            before.append(each)
            contexts.extend(each)
        elif isinstance(each, (str, Path)):
            given.append(replace(named_file("", each), given_name=name))
        elif is_frame(each):
            path = Path(name or f"data frame {n}")
            if any(path == file.path for file in given):
                raise ContextError(f"two data frames are called {name!r}; rename one.")
            table = frame_table(each, str(path))
            given.append(ContextFile("", path, name, table=table))
        else:
            raise ContextError(
                "phcle.fit takes paths, data frames, contexts, or mappings of them. "
                f"Got {type(each).__name__} instead."
            )
    guessed = guess_files(given) if given else GuessedFiles()
    if guessed.faults:
        raise ContextError("\n".join(guessed.faults.values()))
    _say(guessed)
    called_by_user = dict(names) if isinstance(names, Mapping) else {}
    is_path = labels is None or isinstance(labels, (str, Path))
    chosen = None if is_path else tuple(labels)
    for each in before:
        called_by_user = {**each.names, **called_by_user}
        chosen = chosen or each.labels
    found = collect_files(
        with_lists(_named(guessed.files), labels=labels, names=names),
        label_words=words,
        match=match,
        synonyms=synonyms,
        labels=chosen,
        names=called_by_user,
        beside=contexts,
    ).whole()
    for summary in found.summaries:
        if not summary.sha256:
            say_remarks(summary, stacklevel=3)
    summaries = [summary for each in (*before, found) for summary in each.summaries]
    return replace(found, summaries=tuple(summaries))


def _named(files: Iterable[ContextFile]) -> Iterator[ContextFile]:
    """Name the contexts of data frames without a name after their kind."""
    n_of_kind: Counter[str] = Counter()
    for file in files:
        name = file.given_name
        if file.table is not None and name is None:
            n_of_kind[file.kind] += 1
            n = n_of_kind[file.kind]
            name = file.kind if n == 1 else f"{file.kind} {n}"
        yield replace(file, given_name=name)


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


def _say(guessed: GuessedFiles) -> None:
    """Warn what was guessed, if the titles of any table leave a doubt."""
    taken = []
    for file in guessed.files:
        roles = ", ".join(f"{role} is {x!r}" for role, x in file.columns.items())
        taken.append(
            f"{file.path.name} as {file.kind}" + (f" ({roles})" if roles else "")
        )
    if any(are_unusual(file.columns) for file in guessed.files):
        warnings.warn(f"taken: {'; '.join(taken)}.", GuessWarning, stacklevel=4)
