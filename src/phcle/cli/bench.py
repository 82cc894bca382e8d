"""`phcle bench`: how fast a fit is on this machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phcle.cli.flags import Json
from phcle.cli.output import progress_bar, show
from phcle.errors import OptionError

if TYPE_CHECKING:
    from phcle.answers import FitSpeed
    from phcle.contexts.base.context import Context

__all__ = ["bench"]


def bench(
    k: Annotated[
        list[int] | None,
        typer.Option(
            "-k", "--count", metavar="N", help="How many labels; may be repeated."
        ),
    ] = None,
    dim: Annotated[int, typer.Option(metavar="N", help="Dimensions.")] = 100,
    nouns: Annotated[
        bool,
        typer.Option(
            "--nouns", help="WordNet's nouns with glosses and parts, not a random tree."
        ),
    ] = False,
    wordnet: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="WordNet's files, if not Debian's."),
    ] = None,
    backend: Annotated[
        str, typer.Option(metavar="auto|numpy|numba|torch", help="As for fit.")
    ] = "auto",
    device: Annotated[
        str, typer.Option(metavar="auto|cpu|cuda", help="As for fit.")
    ] = "auto",
    mode: Annotated[
        str, typer.Option(metavar="auto|exact|sampled", help="As for fit.")
    ] = "auto",
    precision: Annotated[
        str, typer.Option(metavar="full|mixed", help="As for fit.")
    ] = "full",
    as_json: Json = False,
) -> None:
    """Time fits of growing size, and a matrix product to compare machines by.

    "near" is the time until objective − floor is within 5 % of its final value.
    """
    from phcle.datasets import load_wordnet_nouns
    from phcle.fit_speed import measure_fit, noun_contexts, tree_contexts
    from phcle.options import check_options

    options = {
        "dim": dim,
        "backend": backend,
        "device": device,
        "mode": mode,
        "precision": precision,
    }
    check_options(options)
    sizes = k or [1000, 10_000]
    if min(sizes) < 2:
        raise OptionError(f"--count must be 2 or more. Got {min(sizes)}.")
    contexts_of: Callable[[int], list[Context]] = tree_contexts
    if nouns or wordnet is not None:
        contexts_of = partial(noun_contexts, load_wordnet_nouns(wordnet))
    lines: list[FitSpeed] = []
    with progress_bar("timing fits") as progress:
        for n in sizes:
            progress(len(lines), len(sizes))
            lines.append(measure_fit(contexts_of(n), **options))
    show(lines, _show, as_json=as_json)


def _show(lines: list[FitSpeed]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for title in (
        "labels",
        "columns",
        "known",
        "near",
        "fit",
        "sweeps",
        "MB",
        "GFLOP/s",
    ):
        table.add_column(title, justify="right")
    for line in lines:
        table.add_row(
            f"{line.labels:,}",
            f"{line.columns:,}",
            f"{line.nonzeros:,}",
            f"{line.seconds_near:.2f} s",
            f"{line.seconds:.2f} s",
            f"{line.sweeps}",
            "" if line.peak_mb is None else f"{line.peak_mb:.0f}",
            f"{line.gflops:.0f}",
        )
    Console().print(table)
