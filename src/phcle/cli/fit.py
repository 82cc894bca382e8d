"""Learn an embedding from files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import everywhere, have, machine, tuning
from phcle.cli.errors_and_signals import say
from phcle.cli.flags import (
    Json,
    LabelWords,
    NamesFile,
    OutFile,
    SynonymsFile,
    context_files,
    context_flags,
    model_flags,
    model_options,
    reading_flags,
    reading_of,
    with_flags,
)
from phcle.cli.output import (
    check_can_write,
    say_what_was_read,
    show,
    show_match,
    show_next,
    show_summary,
    show_written,
)
from phcle.errors import FileFaults, OptionError
from phcle.options import check_options

if TYPE_CHECKING:
    from phcle import PHCLE
    from phcle.embedding import LabelEmbedding
    from phcle.tables.check import GuessedFiles
    from phcle.tables.reader import Reading


@with_flags(*context_flags(), *reading_flags(), *model_flags())
def fit(
    out: OutFile,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES|FOLDER",
            help="Files whose kind is guessed, as check does.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        have("FILE", "Embed only the labels in this file, one per line."),
    ] = None,
    names: NamesFile = None,
    label_words: LabelWords = False,
    synonyms: SynonymsFile = None,
    hierarchy_kind: Annotated[
        str,
        tuning("ancestors|path", "How a taxonomy relates its labels."),
    ] = "ancestors",
    role: Annotated[
        str,
        tuning(
            "counts|family|both|auto",
            "What a taxonomy becomes: counts to predict, families whose labels "
            "are pulled together, or both.",
        ),
    ] = "auto",
    reader: Annotated[
        list[str] | None,
        tuning(
            "MODULE:CLASS",
            "An estimator of scikit-learn's kind that predicts gaps beside the "
            "package's own, as far as it helps; may be repeated.",
        ),
    ] = None,
    warm_start: Annotated[
        Path | None,
        machine(
            "FILE", "Start from an earlier embedding of similar data: a faster refit."
        ),
    ] = None,
    choose_again: Annotated[
        bool,
        machine(
            None,
            "With --warm-start: choose settings anew.",
            "--choose-again",
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        machine("FILE", "Save the running fit to this file; see --resume."),
    ] = None,
    resume: Annotated[
        bool, machine(None, "Continue from the checkpoint.", "--resume")
    ] = False,
    checkpoint_every: Annotated[
        float, machine("SECONDS", "Time between two checkpoints.")
    ] = 300.0,
    quiet: Annotated[
        bool, everywhere(None, "Print only warnings and errors.", "--quiet")
    ] = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Learn one vector per label from any mix of files.

    Every file is one context. It is named after the file; NAME=FILE gives another name.
    Any file may lack any label. Every flag for files may be given several times. Tables
    may be .csv, .tsv, .xlsx (book.xlsx#Sheet), .json, .jsonl or .parquet. Columns with
    other titles are named behind the file: tree.csv:child=job,parent=sector.

    What files without a flag are, is guessed. Phcle check shows how, and the flags.
    """
    from phcle import PHCLE
    from phcle.backends.distributed import current_processes
    from phcle.progress import counted_progress
    from phcle.tables.files import collect_files

    processes = current_processes()  # this one alone, or all that torchrun started
    quiet = quiet or processes.rank > 0
    options = model_options(given, verbose=sys.stderr.isatty() and not quiet)
    check_options(options)
    readers = _own_readers(reader or ())
    reading = replace(
        reading_of(given),
        hierarchy_kind=hierarchy_kind,
        role=role,
        language=given["language"],
    )
    guessed = _guessed(data, reading)
    files = [*guessed.files, *context_files(given, needed=not guessed.files)]
    labels, names = labels or guessed.labels, names or guessed.names
    synonyms = synonyms or guessed.synonyms
    check_can_write(out, [labels, names, synonyms, *(file.path for file in files)])
    with counted_progress("reading files", enabled=options["verbose"]):
        contexts = collect_files(
            files,
            labels=labels,
            names=names,
            label_words=label_words,
            match=options["match"],
            synonyms=synonyms,
            reading=reading,
        ).whole()
    if not quiet:
        say_what_was_read(contexts.summaries)
    if contexts.match is not None and not (quiet or as_json):
        show_match(contexts.match)
    began = time.perf_counter()
    model = PHCLE(**options)
    try:
        model.fit(
            contexts,
            warm_start=warm_start,
            choose_again=choose_again,
            checkpoint=checkpoint,
            resume=resume,
            checkpoint_every=checkpoint_every,
            readers=readers,
        )
    except KeyboardInterrupt:
        if processes.rank == 0:
            _save_last_sweep(model, out, checkpoint)
        raise
    seconds = time.perf_counter() - began
    if processes.rank > 0:  # the first process writes and prints for all
        return
    embedding = model.embedding_
    embedding.save(out)
    if as_json or not quiet:
        from phcle.embedding.summary import summarise

        summary = summarise(embedding)
        answer = {"file": str(out), **summary.to_dict(), "seconds": seconds}
        answer["match"] = model.match_.to_dict()
        show(answer, lambda _: show_summary(summary, seconds), as_json=as_json)
    if not (as_json or quiet):
        show_written(out)
        show_next(next_steps(embedding, out, embedding.labels[0]))


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


def _guessed(data: Sequence[Path] | None, reading: Reading) -> GuessedFiles:
    """What the files without a flag are; files that leave it open are refused."""
    from phcle.tables.check import GuessedFiles, guess_files

    if not data:
        return GuessedFiles()
    found = guess_files(data, reading)
    if found.faults:
        raise FileFaults(list(found.faults.values()))
    return found


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


def _save_last_sweep(model: PHCLE, out: Path, checkpoint: Path | None) -> None:
    """After Ctrl-C: save the result of the last complete sweep."""
    if checkpoint is not None and checkpoint.is_file():
        say(f"{checkpoint} holds a whole sweep; --resume goes on from it.")
    if hasattr(model, "embedding_"):
        model.embedding_.save(out)
        n_sweeps = len(model.history_) - 1
        say(f"stopped; the state after sweep {n_sweeps} is written to {out}.")
    else:
        say("stopped before there was anything to keep; nothing is written.")


def _shortest_handle(embedding: LabelEmbedding, label: str) -> str:
    """The readable name if no other label has it, or else the id."""
    name = embedding.name_of(label)
    same = [x for x in embedding.labels if embedding.name_of(x).lower() == name.lower()]
    return name if same == [label] else label
