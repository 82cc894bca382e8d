"""What an embedding is worth for recognising classes never seen in training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli import tables
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import show

if TYPE_CHECKING:
    from phcle.experiments.user_data import UserTask

__all__ = ["evaluate"]


def evaluate(
    file: EmbeddingFile,
    features: Annotated[
        Path,
        typer.Option(
            "--features",
            help="Folder or file of image features: features.npz, or X.npy and "
            "labels.csv; a split.json beside it gives the classes to test on.",
        ),
    ],
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--classifier",
            metavar="eszsl|conse|sje",
            help="Give it several times for several; by default all three.",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            "--splits",
            min=1,
            help="Random class splits; by default split.json, or 10 without it.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test an embedding by zero-shot classification of your own images.

    Options of the classifiers are chosen on validation classes among the seen ones.
    """
    from phcle.embedding import load
    from phcle.experiments.settings import known
    from phcle.experiments.user_data import user_task
    from phcle.uses.zero_shot import SEARCHES
    from phcle.uses.zero_shot import evaluate as score

    for name in classifiers or ():
        known("--classifier", name, SEARCHES)
    embedding = load(file)
    found = user_task(embedding, features, splits)
    frame = score({"": embedding}, classifiers or list(SEARCHES), found.tasks)
    rows = []
    for classifier, part in frame.groupby("classifier", sort=False):
        accuracies = part["accuracy"]
        spread = float(accuracies.std(ddof=1)) if len(part) > 1 else None
        rows.append(
            {
                "classifier": str(classifier),
                "accuracy": float(accuracies.mean()),
                "spread": spread,
            }
        )
    show(_answer(file, features, found, rows), _show, as_json=as_json)


def _answer(
    file: Path, features: Path, found: UserTask, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    task = found.tasks[0]
    return {
        "file": str(file),
        "features": str(features),
        "images": len(task.y),
        "seen": len(task.seen),
        "unseen": len(task.unseen),
        "splits": len(found.tasks),
        "source": found.source,
        "left_out": list(found.left_out),
        "chance": 1 / len(task.unseen),
        "classifiers": rows,
    }


def _show(answer: dict[str, Any]) -> None:
    typer.echo(
        f"{answer['images']:,} images, {answer['seen']} seen and {answer['unseen']} "
        f"unseen classes; {answer['source']}"
    )
    rows = [
        (
            row["classifier"],
            f"{row['accuracy']:.1%}",
            "–" if row["spread"] is None else f"{row['spread']:.1%}",
        )
        for row in answer["classifiers"]
    ]
    tables.show_table(("classifier", "mean per-class accuracy", "spread"), rows)
    typer.echo(f"chance: {answer['chance']:.1%}")
