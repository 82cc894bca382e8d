"""The main job on data that comes with the package."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phcle.cli.errors_and_signals import say
from phcle.cli.fit import fit_summary, next_steps
from phcle.cli.output import (
    check_can_write,
    show_next,
    show_summary,
    show_table,
    show_written,
)
from phcle.errors import BackendError
from phcle.files.writing import make_folder

if TYPE_CHECKING:
    from phcle.answers import Attribute
    from phcle.embedding import LabelEmbedding

__all__ = ["demo"]

SHOWN_NEIGHBOURS = ("coffeepot", "weasel", "Egyptian cat", "violin", "school bus")
SHOWN_PARTS = ("coffeepot", "airliner", "teapot", "throne", "water bottle", "ballpoint")


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write.")] = Path(
        "phcle-demo"
    ),
) -> None:
    """Learn the 1000 labels of ImageNet from WordNet and look at the result.

    The contexts are WordNet's hypernyms, the parts of things (which only some labels
    have), and the words of the definitions. Then the demo draws shapes and recognises
    those of classes never seen. It takes seconds and needs no network.
    """
    from phcle import PHCLE
    from phcle.datasets import load_imagenet1k

    file = out / "labels.phcle"
    make_folder(out)
    check_can_write(file)
    data = load_imagenet1k()
    began = time.perf_counter()
    model = PHCLE(verbose=sys.stderr.isatty()).fit(data.contexts(), names=data.names)
    seconds = time.perf_counter() - began
    embedding = model.embedding_
    embedding.save(file)
    show_summary(fit_summary(embedding, file, seconds))
    _show_neighbours(embedding)
    _show_parts(embedding)
    show_written(file)
    _show_new_shapes(out)
    _write_report(embedding, out)
    show_next(next_steps(embedding, file, embedding.resolve("coffeepot")))


def _show_new_shapes(out: Path) -> None:
    """Zero-shot classification: pictures of classes that were never seen."""
    from phcle.datasets import load_shapes
    from phcle.unseen_shapes import draw_answers, recognise_new_shapes

    found = recognise_new_shapes(load_shapes())
    show_table(
        ("recognising drawn shapes never seen, from", "accuracy"),
        [
            *((name, f"{x:.0%}") for name, x in found.accuracies.items()),
            ("chance", f"{found.chance:.0%}"),
        ],
    )
    try:
        draw_answers(found, out / "shapes.png")
    except BackendError as error:
        say(str(error))
    else:
        show_written(out / "shapes.png")


def _write_report(embedding: LabelEmbedding, out: Path) -> None:
    """A page with a map of the labels, where the extra that makes it is installed."""
    from phcle.optional_imports import install_command
    from phcle.report import write_report
    from phcle.report.report_libraries import can_write_reports

    if not can_write_reports():
        say(f"for a page with a map of the labels: {install_command('report')}")
        return
    made = write_report(
        embedding, out, title="The 1000 labels of ImageNet", shown=SHOWN_NEIGHBOURS
    )
    show_written(f"{made.report}: open it in a browser")


def _show_neighbours(embedding: LabelEmbedding) -> None:
    from phcle.uses.named_answers import nearest_labels

    found = [nearest_labels(embedding, x, 5) for x in SHOWN_NEIGHBOURS]
    show_table(
        ("label", "nearest labels"),
        ((x.name, ", ".join(near.name for near in x.neighbours)) for x in found),
    )


def _show_parts(embedding: LabelEmbedding) -> None:
    """Parts stand beside words in a description: take the strongest of them."""
    rows = []
    for label in SHOWN_PARTS:
        answer = embedding.describe(label, k=60)
        parts = [
            [_part(x) for x in kind if x.context == "parts"][:2]
            for kind in (answer.observed, answer.predicted)
        ]
        rows.append((label, *(", ".join(names) or "–" for names in parts)))
    show_table(("label", "parts in WordNet", "parts predicted, how sure"), rows)


def _part(attribute: Attribute) -> str:
    sure = attribute.confidence
    return attribute.name + ("" if sure is None else f" {sure:.0%}")
