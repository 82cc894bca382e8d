"""Learn an embedding from files, and add labels to one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phcle.cli import options, output
from phcle.cli.options import Several, flag, option, rare
from phcle.errors import FileFaults, OptionError
from phcle.options import OPTIONS, check_options, option_value

if TYPE_CHECKING:
    from phcle import PHCLE
    from phcle.answers import Nearest
    from phcle.embedding import LabelEmbedding

KNOWN = {each.name: each for each in OPTIONS}
MODEL: dict[str, tuple[Any, Any]] = {
    "dim": (str, option("auto", "N", "Length of a label's vector.")),
    "completion": (str, option("full", "HOW", "Predict gaps: full, fast or none.")),
    "weights": (
        str,
        option("equal", "HOW", "equal, auto, nie, or such as tree=1,looks=0.5."),
    ),
    "choose": (bool, rare(True, None, KNOWN["choose"].help)),
    "match": (str, rare("safe", "safe|exact", KNOWN["match"].help)),
    "device": (str, rare("auto", "auto|cpu|cuda", KNOWN["device"].help)),
    "random_state": (int, rare(0, "N", KNOWN["random_state"].help, "--seed")),
}
"""Options of the model that have a flag; --set takes all of them."""

SHOWN_LABELS, SHOWN_NEIGHBOURS = 5, 5
"""Of the labels that `add` has added."""


@options.taking(MODEL | options.FILES)
def fit(
    out: options.OutFile,
    data: list[Path] | None = typer.Argument(
        None, metavar="FILES|FOLDER", help="Files whose kind is guessed, as check does."
    ),
    labels: Path | None = rare(None, "FILE", "Embed only the labels in this file."),
    label_words: bool = rare(
        False, None, "Use the words of the labels' names, too.", "--label-words"
    ),
    settings: Several = option(
        None, "NAME=VALUE", "A rare option of the model, as in ridge=2.", "--set"
    ),
    hierarchy_kind: str = rare(
        "ancestors", "ancestors|path", "How a taxonomy relates its labels."
    ),
    role: str = rare(
        "auto",
        "counts|family|both|auto",
        "What a taxonomy becomes: counts to predict, families whose labels are pulled "
        "together, or both.",
    ),
    reader: Several = rare(
        None,
        "MODULE:CLASS",
        "An estimator of scikit-learn's kind that predicts gaps beside the package's "
        "own, as far as it helps; may be repeated.",
    ),
    warm_start: Path | None = option(None, "FILE", "Start from an earlier embedding."),
    choose_again: bool = rare(
        False, None, "With --warm-start: choose settings anew.", "--choose-again"
    ),
    checkpoint: Path | None = option(
        None, "FILE", "Save the running fit to this file."
    ),
    resume: bool = flag("Continue from the checkpoint.", "--resume"),
    checkpoint_every: float = rare(300.0, "SECONDS", "Between two checkpoints."),
    quiet: bool = flag("Print only warnings and errors.", "--quiet"),
    as_json: options.Json = False,
    **given: Any,
) -> None:
    """Learn one vector per label from any mix of files; each is a context.

    NAME=FILE names one; columns stand behind a file: tree.csv:child=job,parent=sector.

    Example: phcle fit --hierarchy tree.csv --attributes looks.csv --out labels.phcle
    """
    from phcle import PHCLE
    from phcle.backends.distributed import current_processes
    from phcle.tables.check import GuessedFiles, guess_files
    from phcle.tables.file_kinds import with_lists
    from phcle.tables.files import collect_files

    processes = current_processes()  # this one alone, or all that torchrun started
    quiet = quiet or processes.rank > 0
    model_options = _model_options(given, settings or ())
    model_options["verbose"] = output.shows_progress(quiet=quiet)
    readers = _own_readers(reader or ())
    given |= {"hierarchy_kind": hierarchy_kind, "role": role}
    reading = options.reading_of(given)
    guessed = guess_files(data, reading) if data else GuessedFiles()
    if guessed.faults:
        raise FileFaults(list(guessed.faults.values()))
    files = [*guessed.files, *options.files_of(given, needed=not guessed.files)]
    lists = {"labels": labels, "names": given["names"], "synonyms": given["synonyms"]}
    files = with_lists(files, **lists)
    output.check_can_write(out, [file.path for file in files])
    with output.progress_bar("reading files", quiet=not model_options["verbose"]):
        match = model_options["match"]
        read = collect_files(files, reading, label_words=label_words, match=match)
        contexts = read.whole()
    if not quiet:
        output.say_what_was_read(contexts.summaries)
    if contexts.match is not None and not (quiet or as_json):
        output.show_match(contexts.match)
    run: dict[str, Any] = {"warm_start": warm_start, "choose_again": choose_again}
    run |= {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
    run |= {"resume": resume}
    began = time.perf_counter()
    model = PHCLE(**model_options)
    try:
        model.fit(contexts, readers=readers, **run)
    except KeyboardInterrupt:
        if processes.rank == 0:
            _save_last_sweep(model, out, checkpoint)
        raise
    if processes.rank > 0:  # the first process writes and prints for all
        return
    seconds = time.perf_counter() - began
    embedding = model.embedding_
    embedding.save(out)
    if as_json or not quiet:
        from phcle.embedding.summary import summarise

        summary = summarise(embedding)
        answer = {"file": str(out), **summary.to_dict(), "seconds": seconds}
        answer["match"] = model.match_.to_dict()
        output.show(
            answer, lambda _: output.show_summary(summary, seconds), as_json=as_json
        )
    if not (as_json or quiet):
        output.show_written(out)
        output.show_next(next_steps(embedding, out, embedding.labels[0]))


def _model_options(given: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The options of the model, from its flags and --set."""
    values = {name: given[name] for name in MODEL}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(
                f"--set must be NAME=VALUE, such as ridge=2. Got {text!r}; the names "
                f"are {', '.join(KNOWN)}."
            )
        values[name.strip().replace("-", "_")] = value.strip()
    read = {x: option_value(x, y) for x, y in values.items() if isinstance(y, str)}
    return check_options(values | read)


def _own_readers(given: Sequence[str]) -> dict[str, Any]:
    """Make the user's own readers, which `PHCLE.fit` checks, by names of classes."""
    found: dict[str, Any] = {}
    for text in given:
        module, _, name = text.partition(":")
        if not (module and name):
            raise OptionError(f"--reader must be MODULE:CLASS. Got {text!r}.")
        if name in found:
            raise OptionError(f"--reader: two classes are called {name!r}.")
        try:
            found[name] = getattr(import_module(module), name)()
        except Exception as error:  # a module of the user's may raise anything
            why = " ".join(str(error).split())
            raise OptionError(f"--reader {text}: cannot be made ({why}).") from error
    return found


def _save_last_sweep(model: PHCLE, out: Path, checkpoint: Path | None) -> None:
    """After Ctrl-C: save the result of the last complete sweep."""
    if checkpoint is not None and checkpoint.is_file():
        output.say(f"{checkpoint} holds a whole sweep; --resume goes on from it.")
    if hasattr(model, "embedding_"):
        model.embedding_.save(out)
        n_sweeps = len(model.history_) - 1
        output.say(f"stopped; the state after sweep {n_sweeps} is written to {out}.")
    else:
        output.say("stopped before there was anything to keep; nothing is written.")


def next_steps(embedding: LabelEmbedding, file: Path, label: str) -> list[list[str]]:
    """Suggest commands that work with an embedding.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding.
    file : Path
        Where it is saved.
    label : str
        The label that the commands ask about.

    Returns
    -------
    list of list of str
        The words of each command.
    """
    one = _shortest_handle(embedding, label)
    steps = [["nearest", str(file), one], ["describe", str(file), one]]
    near = embedding.nearest(label, k=1)
    if near:
        other = _shortest_handle(embedding, near[0][0])
        steps.append(["explain", str(file), one, other])
    return [["phcle", *step] for step in steps]


def _shortest_handle(embedding: LabelEmbedding, label: str) -> str:
    """The readable name if no other label has it, or else the id."""
    name = embedding.name_of(label)
    same = [x for x in embedding.labels if embedding.name_of(x).lower() == name.lower()]
    return name if same == [label] else label


@options.taking(options.FILES)
def add(
    file: options.EmbeddingFile,
    out: options.OutFile,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    **given: Any,
) -> None:
    """Add new labels to an embedding without learning it again.

    The files hold the new labels, and a taxonomy the new edges, whose parents may be
    ids or names. A vocabulary may be a newer edition of the whole. A file belongs to
    the context of its name, or to the only one of its kind; NAME=FILE says to which.

    Example: phcle add labels.phcle --hierarchy new_edges.csv --out more.phcle
    """
    from phcle import fold_in
    from phcle.embedding import load
    from phcle.tables.new_labels import read_new_contexts

    files = options.files_of(given)
    lists = {"names": given["names"], "synonyms": given["synonyms"]}
    output.check_can_write(out, [*lists.values(), *(new.path for new in files)])
    embedding = load(file)
    reading = options.reading_of(given)
    contexts = read_new_contexts(embedding, files, **lists, reading=reading)
    if not quiet:
        output.say_what_was_read(contexts.summaries)
    if contexts.match is not None and not as_json:
        output.show_match(contexts.match)
    with output.progress_bar("adding labels", quiet=quiet):
        new = fold_in(embedding, contexts, names=contexts.names)
    whole = embedding.joined(new)
    whole.save(out)
    added = whole.neighbours(new.labels, SHOWN_NEIGHBOURS)
    answer = {"file": str(out), "labels": len(whole), "added": added}
    output.show(answer, lambda _: _show_added(out, len(whole), added), as_json=as_json)


def _show_added(out: Path, n_labels: int, added: Sequence[Nearest]) -> None:
    output.show_nearest(added[:SHOWN_LABELS])
    output.show_written(f"{out}: {n_labels} labels, of which {len(added)} new")
    output.show_next([["phcle", "describe", str(out), str(added[0].label)]])
