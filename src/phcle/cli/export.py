"""The command export: write an embedding for other tools."""

from __future__ import annotations

from pathlib import Path

from phcle.cli import options, output
from phcle.cli.options import option


def export(
    file: options.EmbeddingFile,
    out: Path = option(..., "FILE", "Where to write it."),
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

    check_ending(out, VECTORS)
    output.check_can_write(out, [file])
    embedding = load(file)
    with output.progress_bar("writing", quiet=quiet):
        write(embedding, out)
    answer = {"file": str(out), "labels": len(embedding)}
    output.show(answer, lambda _: output.show_written(out), as_json=as_json)
