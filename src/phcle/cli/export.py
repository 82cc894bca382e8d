"""The command export: write an embedding for other tools."""

from __future__ import annotations

from pathlib import Path

from phcle.cli import options, output
from phcle.cli.options import option


def export(
    file: options.EmbeddingFile,
    out: Path = option(..., "FILE", "Where to write it."),
    format: str | None = option(
        None,
        "word2vec|npz|csv|parquet|safetensors|atlas",
        "Default: chosen by the ending of --out.",
    ),
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Write an embedding for other tools: gensim, PyTorch, data frames.

    Endings: .txt or .vec (word2vec text), .npz, .csv, .parquet, .safetensors. The
    format atlas writes a Parquet file with a map and neighbours for Embedding Atlas.

    Example: phcle export labels.phcle --out labels.vec
    """
    from phcle.embedding import load
    from phcle.embedding.export import export as write
    from phcle.embedding.export import format_of
    from phcle.progress import staged_progress
    from phcle.report.embedding_atlas import ATLAS, write_atlas

    chosen = format if format == ATLAS else format_of(out, format, (ATLAS,))
    output.check_can_write(out, [file])
    embedding = load(file)
    with staged_progress(
        enabled=output.shows_progress(quiet=quiet), unit="labels"
    ) as progress:
        if chosen == ATLAS:
            write_atlas(embedding, out, progress=progress)
        else:
            progress(f"writing {out}", 0, 0)
            write(embedding, out, chosen)
    answer = {"file": str(out), "format": chosen, "labels": len(embedding)}
    output.show(answer, lambda _: output.show_written(out), as_json=as_json)
