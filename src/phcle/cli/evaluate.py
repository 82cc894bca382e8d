"""`phcle evaluate`: zero-shot classification, what contexts add, and completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.cli import options, output
from phcle.cli.options import Several, flag, have, option
from phcle.errors import OptionError, check_choice

if TYPE_CHECKING:
    import pandas as pd

    from phcle.answers import CompletionSkill, ContextHelp


HELP = {
    "left out": "context",
    "others without it": "without:.3f",
    "with it": "skill:.3f",
    "±": "error:.3f",
    "verdict": "verdict",
}
SKILL = {
    "column": "column",
    "cells": "cells:,",
    "score": "measure",
    "PHCLE": "score:.2f",
    "usual": "usual:.2f",
    "family": "family:.2f",
    "PHCLE is": "verdict",
}
SCORES = {
    "classifier": "classifier",
    "mean per-class accuracy": "accuracy:.1%",
    "spread": "spread:.1%",
    "seen, among all": "seen:.1%",
    "unseen, among all": "unseen:.1%",
    "harmonic mean": "harmonic:.1%",
}
"""Titles of the tables, and what stands below them."""


def evaluate(
    file: options.EmbeddingFile,
    features: Path | None = have(
        None,
        "FOLDER|FILE",
        "Image features with labels: features.npz; a split.json beside it gives the "
        "classes to test on.",
    ),
    contexts: bool = flag("Which context helps to predict others.", "--contexts"),
    complete: bool = flag("How well hidden cells are predicted.", "--complete"),
    classifiers: Several = option(
        None, "eszsl|conse|sje", "Default: all; may be repeated.", "--classifier"
    ),
    splits: int | None = option(
        None, "N", "Random class splits; default: split.json, or else 10.", min=1
    ),
    generalised: bool = flag("Answers among seen classes too.", "--generalised"),
    out: options.AnswersFile = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Test an embedding on your own images, or on the cells of its tables.

    Images are classified without having seen their classes; the options of the
    classifiers are chosen on other classes. --contexts and --complete say how well
    cells are predicted that the fit hid, with and without each context.

    Example: phcle evaluate labels.phcle --complete
    """
    from phcle.embedding import load

    if [contexts, complete, features is not None].count(True) != 1:
        raise OptionError("give one of --features FOLDER, --contexts and --complete.")
    output.check_answers_file(out, [file, features])
    embedding = load(file)
    if contexts:
        from phcle.model.help import context_help

        with output.progress_bar("leaving out contexts", quiet=quiet) as progress:
            helped = context_help(embedding, progress=progress)
        helped, rows = replace(helped, file=str(file)), _rows(helped.contexts)
        output.show(helped, _show_help, as_json=as_json, out=out, rows=rows)
    elif features is None:
        from phcle.embedding.skill import completion_skill

        skill = replace(completion_skill(embedding), file=str(file))
        rows = _rows(skill.columns)
        output.show(skill, _show_skill, as_json=as_json, out=out, rows=rows)
    else:
        from phcle.images import SEARCHES, user_task
        from phcle.images import evaluate as score

        for name in classifiers or ():
            check_choice("--classifier", name, SEARCHES)
        tasks, source, left_out = user_task(embedding, features, splits)
        with output.progress_bar(
            "evaluating", "fits of classifiers", quiet=quiet
        ) as progress:
            frame = score(
                {"": embedding},
                classifiers or list(SEARCHES),
                tasks,
                generalised=generalised,
                progress=progress,
            )
        task = tasks[0]
        means = list(_means(frame))
        answer = {
            "file": str(file),
            "features": str(features),
            "images": len(task.y),
            "seen": len(task.seen),
            "unseen": len(task.unseen),
            "splits": len(tasks),
            "source": source,
            "left_out": left_out,
            "chance": 1 / len(task.unseen),
            "classifiers": means,
        }
        rows = _rows(means)
        output.show(answer, _show, as_json=as_json, out=out, rows=rows)


def _rows(answers: Sequence[Any]) -> Iterator[Sequence[object]]:
    """Answers as a table; what is no single value is left out."""
    from phcle.answers import as_json

    rows = [as_json(each) for each in answers]
    titles = [x for x, y in rows[0].items() if not isinstance(y, dict)] if rows else []
    yield titles
    yield from ([row[title] for title in titles] for row in rows)


def _means(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Means over the splits, by classifier."""
    names = [spec.partition(":")[0] for spec in SCORES.values()]
    for classifier, part in frame.groupby("classifier", sort=False):
        means = {x: float(part[x].mean()) for x in names[1:] if x in part}
        spread = float(part["accuracy"].std(ddof=1)) if len(part) > 1 else None
        own = {"accuracy": means.pop("accuracy"), "spread": spread}
        yield {"classifier": str(classifier), **own, **means}


def _show_help(answer: ContextHelp) -> None:
    output.show_line(answer.reason)
    output.show_fields(answer.contexts, HELP)
    for row in answer.contexts:
        output.show_line(row.words)


def _show_skill(answer: CompletionSkill) -> None:
    output.show_line(answer.summary)
    rows = [
        replace(x, measure=x.measure.removeprefix("share ")) for x in answer.columns
    ]
    output.show_fields(rows, SKILL)
    if rows:
        output.show_line(
            "right: share that is right; usual: mean or most common value."
        )
    for row in rows:
        if row.verdict != "better":
            how = "better" if row.verdict == "worse" else "as good"
            output.show_line(f"{row.column}: a simple rule is {how}: {row.best_rule}")


def _show(answer: dict[str, Any]) -> None:
    output.show_line(
        f"{answer['images']:,} images, {answer['seen']} seen and {answer['unseen']} "
        f"unseen classes; {answer['source']}"
    )
    output.show_fields(answer["classifiers"], SCORES)
    output.show_line(f"chance: {answer['chance']:.1%}")
