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

    from phcle.answers import Cell
    from phcle.report.demo_page import DemoAnswers


N_GAPS = 4
"""Labels whose gaps are printed; the page has more, and the screen has 24 lines."""
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
    from phcle.datasets import load_imagenet1k
    from phcle.report.demo_page import answer_demo, write_demo_page

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
        found = answer_demo(embedding, data)
    output.show_line(
        f"1,000 labels learned in {seconds:.1f} s from WordNet's hierarchy, the words"
    )
    output.show_line(
        "of definitions, and nine questions that were answered for 250 labels."
    )
    _show_answers(found)
    with output.progress_bar("drawing the page", quiet=quiet):
        write_demo_page(page, found, seconds=seconds)
    output.show_next(next_steps(embedding, file, embedding.resolve("Siberian husky")))
    output.show_line(f"The map of all labels: {page}")
    # Somebody sits at this machine, and looks.
    is_near = sys.stdout.isatty() and "SSH_CONNECTION" not in os.environ
    if browser and is_near:
        output.open_browser(page.resolve().as_uri())


def _show_answers(found: DemoAnswers) -> None:
    """Print what the page shows, shorter."""
    output.show_line("Related labels")
    for x in found.related:
        _show_row(x.name, x.neighbours)
    output.show_line(
        f"Answers filled in (of known ones that were hidden, {found.right:.0%} right)"
    )
    for name in list(found.gaps)[:N_GAPS]:
        _show_row(name, _yes(found.gaps[name]))
    output.show_line(f"A label added without a new fit: {found.added}")
    _show_row("near", found.near_added)
    _show_row("predicted", _yes(found.added_cells))


def _show_row(name: str, words: Iterable[str]) -> None:
    """Print a name and what is said about it."""
    output.show_line(f"  {name:{NAMES_WIDE}} {', '.join(words)}")


def _yes(cells: Iterable[Cell]) -> list[str]:
    """The questions whose answer is yes, and how sure that is."""
    return [
        x.column
        if x.confidence is None
        else f"{x.column} {min(x.confidence, 0.99):.0%}"
        for x in cells
        if x.value
    ]
