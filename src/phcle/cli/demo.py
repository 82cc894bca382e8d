"""The main job on data that comes with the package."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from phcle.cli import options, output
from phcle.cli.fit import next_steps
from phcle.cli.options import option
from phcle.files.atomic import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phcle.datasets import ImageNet1K
    from phcle.embedding import LabelEmbedding

RELATED = ("coffeepot", "Siberian husky", "accordion", "laptop", "lemon")
"""Labels whose neighbours are printed."""
GAPS = ("snow leopard", "bald eagle", "goldfish", "ladybug")
"""Labels for which nobody answered the questions."""
NEW, NEW_PARENT = "kayak", "boat"
NEW_TEXT = "a small narrow boat that is moved with a paddle"
"""A label that ImageNet lacks, and all that is said about it."""
N_NEAREST = 4
"""Neighbours of each label; as many fit on a line of a terminal."""
QUESTIONS = "properties"
NAMES_WIDE = 14
"""Letters for the longest name in the first column."""


def demo(
    out: Path = option(Path("phcle-demo"), "FOLDER", "Where to write."),
    browser: bool = option(True, None, "Open the page.", "--browser/--no-browser"),
    quiet: options.Quiet = False,
) -> None:
    """Learn the 1000 labels of ImageNet and show them on a page with a map.

    The contexts are WordNet's hierarchy, the words of the definitions, and nine
    yes-or-no questions that only every fourth label answers. The demo fills in the
    other answers and adds a label. It takes seconds and needs no network.

    Example: phcle demo
    """
    from phcle import PHCLE
    from phcle.atlas import write_report
    from phcle.datasets import load_imagenet1k

    file, page = out / "labels.phcle", out / "index.html"
    make_folder(out)
    output.check_can_write(file)
    data = load_imagenet1k()
    hierarchy, _, glosses = data.contexts()
    began = time.perf_counter()
    # The defaults are good here; choosing settings would take longer than the rest.
    model = PHCLE(choose=False, verbose=output.shows_progress(quiet=quiet))
    model.fit([hierarchy, glosses, data.properties()], names=data.names)
    seconds = time.perf_counter() - began
    embedding = model.embedding_
    embedding.save(file)
    with output.progress_bar("asking the embedding", quiet=quiet):
        whole = embedding.joined(_new_label(embedding, data))
    output.show_line(
        f"1,000 labels learned in {seconds:.1f} s from WordNet's hierarchy, the words"
    )
    output.show_line(
        "of definitions, and nine questions that were answered for 250 labels."
    )
    _show_answers(whole, _right(embedding))
    with output.progress_bar("writing the page", quiet=quiet):
        write_report(whole, page, title="The 1000 labels of ImageNet")
    output.show_next(next_steps(embedding, file, embedding.resolve("Siberian husky")))
    output.show_line(f"The map of all labels: {page}")
    # Somebody sits at this machine, and looks.
    is_near = sys.stdout.isatty() and "SSH_CONNECTION" not in os.environ
    if browser and is_near:
        output.open_browser(page.resolve().as_uri())


def _new_label(embedding: LabelEmbedding, data: ImageNet1K) -> LabelEmbedding:
    """The new label alone, placed by its parent and its text."""
    from phcle import DescriptiveContext, RelationalContext, fold_in

    node = next(x for x, name in data.names.items() if name == NEW_PARENT)
    words = {NEW: NEW_TEXT}
    contexts = [
        RelationalContext.from_hierarchy([(NEW, node)], name="hierarchy"),
        DescriptiveContext.from_texts(words, name="gloss words", min_count=1),
    ]
    return fold_in(embedding, contexts)


def _right(embedding: LabelEmbedding) -> float:
    """Share of the hidden answers that were predicted right."""
    from phcle.embedding.summary import summarise

    completion = summarise(embedding).completion
    columns = () if completion is None else completion.columns
    own = [x for x in columns if x.context == QUESTIONS]
    return sum(x.score * x.cells for x in own) / sum(x.cells for x in own)


def _show_answers(embedding: LabelEmbedding, right: float) -> None:
    """Print a few answers."""
    output.show_line("Related labels")
    for name in RELATED:
        _show_row(name, _near(embedding, name))
    output.show_line(
        f"Answers filled in (of known ones that were hidden, {right:.0%} right)"
    )
    for name in GAPS:
        _show_row(name, _yes(embedding, name))
    output.show_line(f"A label added without a new fit: {NEW}")
    _show_row("near", _near(embedding, NEW))
    _show_row("predicted", _yes(embedding, NEW))


def _near(embedding: LabelEmbedding, label: str) -> list[str]:
    """The names of the nearest labels."""
    return [embedding.name_of(x) for x, _ in embedding.nearest(label, N_NEAREST)]


def _show_row(name: str, words: Iterable[str]) -> None:
    """Print a name and what is said about it."""
    output.show_line(f"  {name:{NAMES_WIDE}} {', '.join(words)}")


def _yes(embedding: LabelEmbedding, label: str) -> list[str]:
    """The questions whose predicted answer is yes, and how sure that is."""
    return [
        x.column
        if x.confidence is None
        else f"{x.column} {min(x.confidence, 0.99):.0%}"
        for x in embedding.complete([label], contexts=[QUESTIONS]).cells
        if x.value
    ]
