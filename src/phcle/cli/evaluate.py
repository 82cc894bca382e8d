"""`phcle evaluate`: zero-shot classification, what contexts add, and completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import have, tuning, want
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import progress_bar, show, show_line, show_table
from phcle.files.atomic import make_folder

if TYPE_CHECKING:
    import pandas as pd

    from phcle.answers import CompletionSkill, ContextHelp, Evaluation


RULES = ("usual", "family", "rows")
SKILL = ("column", "cells", "score", "PHCLE", *RULES, "PHCLE is")
"""Titles of the table of `--complete`."""

COLUMNS = {
    "accuracy": "mean per-class accuracy",
    "spread": "spread",
    "seen": "seen, among all",
    "unseen": "unseen, among all",
    "harmonic": "harmonic mean",
}
BALANCED = {
    "balanced_seen": "seen, balanced",
    "balanced_unseen": "unseen, balanced",
    "balanced_harmonic": "harmonic mean, balanced",
}
"""The same columns with a constant subtracted from the scores of seen classes."""


def evaluate(
    file: EmbeddingFile,
    features: Annotated[
        Path | None,
        have(
            "FOLDER|FILE",
            "Image features: features.npz, or X.npy and labels.csv; a "
            "split.json beside it gives the classes to test on.",
        ),
    ] = None,
    contexts: Annotated[
        bool,
        want(
            None,
            "Instead of images: how well hidden cells of the tables are "
            "predicted without each context.",
            "--contexts",
        ),
    ] = False,
    complete: Annotated[
        bool,
        want(
            None,
            "Instead of images: how well the fit predicted known cells of every "
            "column without seeing them, beside simple rules.",
            "--complete",
        ),
    ] = False,
    classifiers: Annotated[
        list[str] | None,
        tuning(
            "eszsl|conse|sje",
            "Give it several times for several; by default all.",
            "--classifier",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        tuning(
            "N", "Random class splits; by default split.json, or 10 without it.", min=1
        ),
    ] = None,
    generalised: Annotated[
        bool, want(None, "Answers among seen classes too.", "--generalised")
    ] = False,
    out: Annotated[
        Path | None,
        want("FOLDER", "Where to write evaluation.md, .csv and .json."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test an embedding by zero-shot classification of your own images.

    The options of the classifiers are chosen on validation classes among the seen ones.
    With --contexts it is tested whether each context helps to predict hidden cells of
    tables. With --complete it says how well the cells of every column are predicted.
    """
    from phcle.errors import OptionError

    if [contexts, complete, features is not None].count(True) != 1:
        raise OptionError("give one of --features FOLDER, --contexts and --complete.")
    if contexts:
        show(_context_help(file), _show_help, as_json=as_json)
    elif features is None:
        show(_completion_skill(file), _show_skill, as_json=as_json)
    else:
        answer = _evaluation(
            file, features, classifiers, splits, generalised=generalised
        )
        if out is not None:
            _write(answer, out)
        show(answer, _show, as_json=as_json)


def _context_help(file: Path) -> ContextHelp:
    from phcle.embedding import load
    from phcle.model.help import context_help

    embedding = load(file)
    with progress_bar("leaving out contexts") as progress:
        return replace(context_help(embedding, progress=progress), file=str(file))


def _completion_skill(file: Path) -> CompletionSkill:
    from phcle.embedding import load
    from phcle.embedding.skill import completion_skill

    return replace(completion_skill(load(file)), file=str(file))


def _show_skill(answer: CompletionSkill) -> None:
    show_line(answer.summary)
    if answer.columns:
        show_table(
            SKILL,
            [
                (
                    row.column,
                    f"{row.cells:,}",
                    row.measure.removeprefix("share "),
                    *(_number(x, ".2f") for x in (row.score, row.usual, row.family)),
                    _number(row.whole_rows, ".0%"),
                    row.verdict,
                )
                for row in answer.columns
            ],
        )
        show_line("right: share that is right; usual: mean or most common value.")
        show_line(
            "rows: gaps in labels without any value in the table; whole hidden rows "
            "have this weight in all scores (50% if there are no gaps)."
        )
    for row in answer.columns:
        if row.verdict != "better":
            how = "better" if row.verdict == "worse" else "as good"
            show_line(f"{row.column}: a simple rule is {how}: {row.best_rule}")


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _show_help(answer: ContextHelp) -> None:
    show_line(answer.reason)
    if answer.contexts:
        show_table(
            ("left out", "others without it", "with it", "±", "verdict"),
            [
                (
                    row.context,
                    _number(row.without, ".3f"),
                    _number(row.skill, ".3f"),
                    _number(None if row.skill is None else row.error, ".3f"),
                    row.verdict,
                )
                for row in answer.contexts
            ],
        )
    for row in answer.contexts:
        show_line(row.words)


def _evaluation(
    file: Path,
    features: Path,
    classifiers: list[str] | None,
    splits: int | None,
    *,
    generalised: bool,
) -> Evaluation:
    from phcle.answers import Evaluation
    from phcle.embedding import load
    from phcle.errors import check_choice
    from phcle.images import SEARCHES, user_task
    from phcle.images import evaluate as score

    for name in classifiers or ():
        check_choice("--classifier", name, SEARCHES)
    embedding = load(file)
    found = user_task(embedding, features, splits)
    with progress_bar("evaluating", "fits of classifiers") as progress:
        frame = score(
            {"": embedding},
            classifiers or list(SEARCHES),
            found.tasks,
            generalised=generalised,
            progress=progress,
        )
    task = found.tasks[0]
    return Evaluation(
        file=str(file),
        features=str(features),
        images=len(task.y),
        seen=len(task.seen),
        unseen=len(task.unseen),
        splits=len(found.tasks),
        source=found.source,
        left_out=tuple(found.left_out),
        chance=1 / len(task.unseen),
        classifiers=tuple(_rows(frame)),
    )


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Means over the splits, by classifier."""
    rows = []
    for classifier, part in frame.groupby("classifier", sort=False):
        accuracies = part["accuracy"]
        row = {
            "classifier": str(classifier),
            "accuracy": float(accuracies.mean()),
            "spread": float(accuracies.std(ddof=1)) if len(part) > 1 else None,
        }
        for key in COLUMNS | BALANCED:
            if key in part and key not in row:
                row[key] = float(part[key].mean())
        rows.append(row)
    return rows


def _write(answer: Evaluation, out: Path) -> None:
    """Write the answer as Markdown, CSV and JSON."""
    from phcle import __version__
    from phcle.report import write_table

    make_folder(out)
    rows = answer.classifiers
    shown = _present(rows, COLUMNS | BALANCED)
    table = {
        "table": "evaluation",
        "version": __version__,
        "title": f"Zero-shot accuracy of {answer.file}",
        "lead": [_lead(answer), "", f"Chance is {answer.chance:.1%}."],
        "columns": {
            "classifier": ("classifier",),
            **{key: (title, ".1%") for key, title in shown.items()},
        },
        "rows": rows,
        "caveats": ["options are chosen on validation classes among the seen ones"],
    }
    write_table(table, out / "evaluation")


def _lead(answer: Evaluation) -> str:
    return (
        f"{answer.images:,} images, {answer.seen} seen and {answer.unseen} "
        f"unseen classes; {answer.source}"
    )


def _show(answer: Evaluation) -> None:
    typer.echo(_lead(answer))
    rows = answer.classifiers
    _show_columns(rows, COLUMNS)
    if BALANCED.keys() <= rows[0].keys():
        typer.echo("with a constant subtracted from the scores of seen classes:")
        _show_columns(rows, BALANCED)
    typer.echo(f"chance: {answer.chance:.1%}")


def _present(
    rows: Sequence[Mapping[str, Any]], columns: dict[str, str]
) -> dict[str, str]:
    """The columns that the rows have."""
    return {key: title for key, title in columns.items() if key in rows[0]}


def _show_columns(rows: Sequence[Mapping[str, Any]], columns: dict[str, str]) -> None:
    shown = _present(rows, columns)
    show_table(
        ("classifier", *shown.values()),
        [
            (row["classifier"], *(_number(row[key], ".1%") for key in shown))
            for row in rows
        ],
    )
