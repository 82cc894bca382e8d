"""`phcle evaluate`: zero-shot classification, what contexts add, and completion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.cli import options, output
from phcle.cli.options import Several, flag, have, option
from phcle.errors import OptionError, check_choice

if TYPE_CHECKING:
    import pandas as pd

    from phcle.answers import CompletionSkill, ContextHelp


SCORES = {
    "accuracy": "mean per-class accuracy",
    "spread": "spread",
    "seen": "seen, among all",
    "unseen": "unseen, among all",
    "harmonic": "harmonic mean",
}
"""Titles of scores."""


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
    answer: Any
    told: Sequence[Any]
    text: Callable[[Any], None]
    if contexts:
        from phcle.model.trials import context_help

        with output.progress_bar("leaving out contexts", quiet=quiet) as progress:
            helped = context_help(embedding, progress=progress)
        answer = replace(helped, file=str(file))
        told, text = answer.contexts, _show_help
    elif features is None:
        from phcle.embedding.skill import completion_skill

        answer = replace(completion_skill(embedding), file=str(file))
        told, text = answer.columns, _show_skill
    else:
        from phcle.images import SEARCHES, user_task
        from phcle.images import evaluate as score

        for name in classifiers or ():
            check_choice("--classifier", name, SEARCHES)
        tasks, source, left_out = user_task(embedding, features, splits)
        names = classifiers or list(SEARCHES)
        how: dict[str, Any] = {"generalised": generalised}
        with output.progress_bar("evaluating", "fits", quiet=quiet) as how["progress"]:
            frame = score({"": embedding}, names, tasks, **how)
        task, told, text = tasks[0], list(_means(frame)), _show
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
            "classifiers": told,
        }
    output.show(answer, text, as_json=as_json, out=out, rows=_rows(told))


def _rows(answers: Sequence[Any]) -> Iterator[Sequence[object]]:
    """Answers as a table; what is no single value is left out."""
    from phcle.answers import as_json

    rows = [as_json(each) for each in answers]
    titles = [x for x, y in rows[0].items() if not isinstance(y, dict)] if rows else []
    yield titles
    yield from ([row[title] for title in titles] for row in rows)


def _means(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Means over the splits, by classifier."""
    for classifier, part in frame.groupby("classifier", sort=False):
        means = {name: float(part[name].mean()) for name in SCORES if name in part}
        spread = float(part["accuracy"].std(ddof=1)) if len(part) > 1 else None
        own = {"accuracy": means.pop("accuracy"), "spread": spread}
        yield {"classifier": str(classifier), **own, **means}


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _show_help(answer: ContextHelp) -> None:
    output.show_line(answer.reason)
    if answer.contexts:
        output.show_table(
            ("left out", "others without it", "with it", "±", "verdict"),
            (
                (
                    *(x.context, _number(x.without, ".3f"), _number(x.skill, ".3f")),
                    *(f"{x.error:.3f}", x.verdict),
                )
                for x in answer.contexts
            ),
        )
    for row in answer.contexts:
        output.show_line(row.words)


def _show_skill(answer: CompletionSkill) -> None:
    output.show_line(answer.summary)
    if not answer.columns:
        return
    output.show_table(
        ("column", "cells", "score", "PHCLE", "usual", "family", "PHCLE is"),
        (
            (
                *(x.column, f"{x.cells:,}", x.measure.removeprefix("share ")),
                *(_number(y, ".2f") for y in (x.score, x.usual, x.family)),
                x.verdict,
            )
            for x in answer.columns
        ),
    )
    output.show_line("right: share that is right; usual: mean or most common value.")
    for row in answer.columns:
        if row.verdict != "better":
            how = "better" if row.verdict == "worse" else "as good"
            output.show_line(f"{row.column}: a simple rule is {how}: {row.best_rule}")


def _show(answer: dict[str, Any]) -> None:
    output.show_line(
        f"{answer['images']:,} images, {answer['seen']} seen and {answer['unseen']} "
        f"unseen classes; {answer['source']}"
    )
    names = [name for name in SCORES if name in answer["classifiers"][0]]
    output.show_table(
        ("classifier", *(SCORES[name] for name in names)),
        (
            (x["classifier"], *(_number(x[name], ".1%") for name in names))
            for x in answer["classifiers"]
        ),
    )
    output.show_line(f"chance: {answer['chance']:.1%}")
