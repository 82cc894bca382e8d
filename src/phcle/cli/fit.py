"""Learn an embedding from files."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli import terminal_tables
from phcle.cli.context_files import context_files, files_read, read_contexts
from phcle.cli.errors_and_signals import say
from phcle.cli.flags import (
    Json,
    NamesFile,
    OutFile,
    context_flags,
    model_flags,
    model_options,
    with_flags,
)
from phcle.cli.output import check_can_write, show
from phcle.options import check_options
from phcle.uses import named_answers as answers

if TYPE_CHECKING:
    from phcle import PHCLE
    from phcle.contexts.alignment import Context
    from phcle.embedding import LabelEmbedding

__all__ = ["fit", "next_steps"]


@with_flags(*context_flags(), *model_flags())
def fit(
    out: OutFile,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="Embed only these labels: one id per line."),
    ] = None,
    names: NamesFile = None,
    hierarchy_kind: Annotated[
        str,
        typer.Option(
            metavar="ancestors|path|shared|walks",
            help="How a taxonomy relates its labels.",
        ),
    ] = "ancestors",
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Write the fit to this file as it goes on; see --resume."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint.")
    ] = False,
    checkpoint_every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time between two checkpoints.")
    ] = 300.0,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only warnings and errors.")
    ] = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Learn one vector per label from any mix of contexts.

    A context is called like its file without the ending; NAME=FILE names it otherwise.
    Every file may miss labels, and every flag for files may be given several times.
    """
    from phcle import PHCLE
    from phcle.backends.distributed import current_team

    team = current_team()  # one process, or those that torchrun started
    quiet = quiet or team.rank > 0
    options = model_options(given, verbose=sys.stderr.isatty() and not quiet)
    check_options(options)
    files = context_files(given)
    check_can_write(out, [labels, names, *(file.path for file in files)])
    contexts, wanted, readable = read_contexts(
        files,
        labels=labels,
        names=names,
        hierarchy_kind=hierarchy_kind,
        language=given["language"],
    )
    began = time.perf_counter()
    model = PHCLE(**options)
    keeping = {
        "checkpoint": checkpoint,
        "resume": resume,
        "checkpoint_every": checkpoint_every,
    }
    _fit_or_save_what_there_is(model, contexts, wanted, readable, out, keeping)
    seconds = time.perf_counter() - began
    embedding = replace(
        model.embedding_,
        origin={
            **model.embedding_.origin,
            "files": files_read(files, labels=labels, names=names),
        },
    )
    if team.rank > 0:  # the first process speaks and writes for all
        return
    embedding.save(out)
    if as_json or not quiet:
        answer = {"file": str(out), **answers.summary(embedding), "seconds": seconds}
        show(answer, terminal_tables.show_summary, as_json=as_json)
    if not (as_json or quiet):
        terminal_tables.show_written(out)
        terminal_tables.show_next(next_steps(embedding, out, embedding.labels[0]))


def next_steps(embedding: LabelEmbedding, file: Path, label: str) -> list[list[str]]:
    """Commands that work with the file."""
    one = _shortest_handle(embedding, label)
    steps = [["nearest", str(file), one], ["describe", str(file), one]]
    near = embedding.nearest(label, k=1)
    if near:
        other = _shortest_handle(embedding, near[0][0])
        steps.append(["explain", str(file), one, other])
    return [["phcle", *step] for step in steps]


def _fit_or_save_what_there_is(
    model: PHCLE,
    contexts: list[Context],
    labels: tuple[str, ...] | None,
    names: dict[str, str],
    out: Path,
    keeping: dict[str, Any],
) -> None:
    """Fit; on Ctrl-C keep the state after the last whole sweep."""
    from phcle.backends.distributed import current_team

    try:
        model.fit(contexts, labels=labels, names=names, **keeping)
    except KeyboardInterrupt:
        if current_team().rank > 0:
            raise
        checkpoint = keeping["checkpoint"]
        if checkpoint is not None and checkpoint.is_file():
            say(f"{checkpoint} holds a whole sweep; --resume goes on from it.")
        if hasattr(model, "embedding_"):
            model.embedding_.save(out)
            n_sweeps = len(model.history_) - 1
            say(f"stopped; the state after sweep {n_sweeps} is written to {out}.")
        else:
            say("stopped before there was anything to keep; nothing is written.")
        raise


def _shortest_handle(embedding: LabelEmbedding, label: str) -> str:
    """The readable name if it means this label alone, or else the id."""
    name = embedding.name_of(label)
    same = [x for x in embedding.labels if embedding.name_of(x).lower() == name.lower()]
    return name if same == [label] else label
