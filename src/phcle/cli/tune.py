"""`phcle tune`: search for options that do well on held-out data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.errors_and_signals import say
from phcle.cli.flags import (
    Json,
    LabelWords,
    NamesFile,
    SynonymsFile,
    context_files,
    context_flags,
    reading_flags,
    reading_of,
    with_flags,
)
from phcle.cli.output import (
    check_can_write,
    progress_bar,
    show,
    show_next,
    show_table,
    show_written,
)
from phcle.cli.tune_scores import make_score
from phcle.contexts.readers.context_files import THESAURI, ContextFile
from phcle.contexts.readers.files_to_contexts import read_files
from phcle.errors import OptionError
from phcle.uses.zero_shot import CLASSIFIERS

if TYPE_CHECKING:
    from phcle.answers import TuningResult
    from phcle.tuning import Tuning

__all__ = ["tune"]


@with_flags(*context_flags(), *reading_flags())
def tune(
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.toml", help="Where to write the best options, for --config."
        ),
    ],
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER|FILE",
            help="Score by zero-shot accuracy on these images, as for evaluate.",
        ),
    ] = None,
    classifier: Annotated[
        str,
        typer.Option(metavar="|".join(CLASSIFIERS), help="Classifier for --features."),
    ] = "eszsl",
    complete: Annotated[
        str | None,
        typer.Option(
            metavar="CONTEXT",
            help="Score by how well hidden values of this context are predicted.",
        ),
    ] = None,
    metric: Annotated[
        str, typer.Option(metavar="auc|r2", help="Measure for --complete.")
    ] = "auc",
    hide: Annotated[
        str,
        typer.Option(
            metavar="auto|cells|labels",
            help="What --complete hides: single cells, which is the default for a "
            "table with gaps, or whole labels.",
        ),
    ] = "auto",
    score: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="Score by your own function of the embedding; or FILE.py:FUNCTION.",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Random splits; by default 5 for --features, 3 for --complete.",
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(metavar="N", help="Total number of trials, over all processes."),
    ] = 50,
    search: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION=LOW:HIGH|A|B|VALUE",
            help="Another range, other words, or a fixed value.",
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|ADDRESS",
            help="Where to keep trials: study.db (SQLite), study.log (journal) or a "
            "database; by default a .db file beside --out.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Embed only the labels in this file, one per line."
        ),
    ] = None,
    names: NamesFile = None,
    synonyms: SynonymsFile = None,
    label_words: LabelWords = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same trials.")
    ] = 0,
    prune: Annotated[
        bool, typer.Option(help="Stop trials early whose score is below the median.")
    ] = True,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Picture of the scores and of the options that mattered.",
        ),
    ] = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Search for options of fit that do best on held-out classes or labels.

    Several processes with the same --storage, on one machine or many, work on one
    study. After Ctrl-C, the same command continues.
    """
    from phcle.tuning import Tuning

    files = context_files(given)
    for path in (out, plot):
        if path is not None:
            check_can_write(
                path, [labels, names, synonyms, *(file.path for file in files)]
            )
    contexts = read_files(
        files,
        labels=labels,
        names=names,
        language=given["language"],
        reading=reading_of(given),
        label_words=label_words,
        synonyms=synonyms,
    )
    judge = make_score(
        contexts,
        features=features,
        classifier=classifier,
        complete=complete,
        metric=metric,
        hide=hide,
        score=score,
        splits=splits,
        seed=seed,
    )
    kept = storage or str(out.with_suffix(".study.db"))
    tuning = Tuning(
        contexts,
        judge,
        search=_searched(search or []),
        storage=kept,
        seed=seed,
        prune=prune,
        labels=contexts.labels,
        names=contexts.names,
    )
    lists = {"labels": labels, "names": names, "synonyms": synonyms}
    inputs = _inputs(files, lists, given["language"])
    if label_words:
        inputs["label-words"] = True
    try:
        _run(tuning, trials)
        with progress_bar("testing the best options"):
            tested = tuning.test()
    except KeyboardInterrupt:
        _keep_what_there_is(tuning, out, inputs, kept)
        raise
    found = tuning.outcome()
    found.write_config(out, inputs)
    if plot is not None:
        found.plot(plot)
    answer = found.answer(test=tested, storage=kept, file=str(out))
    show(answer, _show, as_json=as_json)


def _run(tuning: Tuning, trials: int) -> None:
    """Run the trials, with a progress bar on a terminal."""
    with progress_bar("tuning", "trials") as progress:
        progress(tuning.n_finished, trials)
        tuning.run(trials, lambda done, best: progress(done, trials))


def _keep_what_there_is(
    tuning: Tuning, out: Path, inputs: Mapping[str, Any], storage: str
) -> None:
    """After Ctrl-C: write the best options so far, and say how to continue."""
    if tuning.best_score is not None:
        tuning.outcome().write_config(out, inputs)
        say(f"stopped; the best of {tuning.n_finished} trials is written to {out}.")
    say(f"{storage} holds all finished trials; the same command continues.")


def _searched(given: list[str]) -> dict[str, str]:
    """The values of `--search` by option."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise OptionError(
                f"--search must look like ridge=0.1:100 or dim=50. Got {text!r}."
            )
        found[name.strip().replace("-", "_")] = value.strip()
    return found


def _inputs(
    files: list[ContextFile], lists: Mapping[str, Path | None], language: str
) -> dict[str, Any]:
    """The entries of a configuration that name the files."""
    found: dict[str, Any] = {}
    for file in files:
        name = "" if file.given_name is None else f"{file.given_name}="
        found.setdefault(file.kind, []).append(f"{name}{file.path}")
    for key, path in lists.items():
        if path is not None:
            found[key] = str(path)
    if found.keys() & set(THESAURI):
        found["language"] = language
    return found


def _show(answer: TuningResult) -> None:
    typer.echo(answer.measured)
    rows = [("validation", answer.default_score, answer.score)]
    tested = answer.test
    if tested is not None:
        rows.append(("test, never searched on", tested["default"], tested["tuned"]))
    show_table(
        ("", "default options", "best of the search"),
        [
            (title, *("–" if x is None else f"{x:.4f}" for x in pair))
            for title, *pair in rows
        ],
    )
    shares = answer.importances
    show_table(
        ("option", "value", "mattered"),
        [
            (name, _shown(value), f"{shares[name]:.0%}" if name in shares else "")
            for name, value in answer.options.items()
        ],
    )
    typer.echo(f"{answer.trials} trials, {answer.pruned} of them stopped early")
    show_written(answer.file)
    show_next([["phcle", "fit", "--config", answer.file, "--out", "labels.phcle"]])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {x:.3g}" for name, x in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
