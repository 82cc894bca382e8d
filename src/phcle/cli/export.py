"""The command export: write an embedding for other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from phcle.cli import options, output
from phcle.cli.options import option
from phcle.errors import check_choice

if TYPE_CHECKING:
    from phcle.embedding import LabelEmbedding

ATLAS = "atlas"
"""The format of Embedding Atlas."""

NEIGHBOURS = 15
"""Nearest labels of each label in a file for Embedding Atlas."""


def export(
    file: options.EmbeddingFile,
    out: Path = option(..., "FILE", "Where to write it."),
    format: str | None = option(
        None, "atlas", "A map with neighbours, in Parquet, for Embedding Atlas."
    ),
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write an embedding for other tools: gensim, NumPy, data frames.

    The ending of --out is the format: .txt or .vec (word2vec text), .csv, .parquet.

    Example: phcle export labels.phcle --out labels.vec
    """
    from phcle.embedding import load
    from phcle.embedding.export import VECTORS, check_ending
    from phcle.embedding.export import export as write
    from phcle.progress import staged_progress

    if format is None:
        check_ending(out, VECTORS)
    else:
        check_choice("the format", format, (ATLAS,))
    output.check_can_write(out, [file])
    embedding = load(file)
    with staged_progress(
        enabled=output.shows_progress(quiet=quiet), unit="labels"
    ) as progress:
        if format == ATLAS:
            _write_atlas(embedding, out, progress)
        else:
            progress(f"writing {out}", 0, 0)
            write(embedding, out)
    answer = {"file": str(out), "labels": len(embedding)}
    output.show(answer, lambda _: output.show_written(out), as_json=as_json)


def _write_atlas(
    embedding: LabelEmbedding, out: Path, progress: Callable[[str, int, int], None]
) -> None:
    """Write a table with places and neighbours, each label its own nearest one.

    `embedding-atlas OUT --text name --x x --y y --neighbors neighbors` opens it.
    """
    from functools import partial

    import numpy as np
    import pandas as pd

    from phcle.atlas import lay_out
    from phcle.files.atomic import write_whole

    near = partial(progress, "finding neighbours")
    table = embedding.search.neighbour_table(NEIGHBOURS, progress=near)
    progress("placing labels on the map", 0, 0)
    places = lay_out(np.asarray(embedding.unit_vectors, "f4")).places
    progress(f"writing {out}", 0, 0)
    own = np.arange(len(embedding))[:, None]
    rows = np.hstack([own, table.rows])
    apart = np.hstack([0.0 * own, np.clip(1 - table.cosines, 0, None)])
    pairs = zip(rows, apart, strict=True)
    columns = {
        "label": embedding.labels,
        "name": list(map(embedding.name_of, embedding.labels)),
        "x": places[:, 0],
        "y": places[:, 1],
        "neighbors": [{"ids": x, "distances": y} for x, y in pairs],
    }
    with write_whole(out) as temporary:
        pd.DataFrame(columns).to_parquet(temporary, index=False)
