"""The command export: write an embedding for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from phcle.cli.command_style import want
from phcle.cli.flags import EmbeddingFile, Json
from phcle.cli.output import check_can_write, progress_stages, show, show_written


def export(
    file: EmbeddingFile,
    out: Annotated[Path, want("FILE", "Where to write it.")],
    format: Annotated[
        str | None,
        want(
            "word2vec|npz|csv|parquet|safetensors|atlas",
            "Default: chosen by the ending of --out.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write an embedding for other tools: gensim, PyTorch, data frames.

    Endings: .txt or .vec (word2vec text), .npz, .csv, .parquet, .safetensors. The
    format atlas writes a Parquet file with a map and neighbours for Embedding Atlas.
    """
    from phcle.embedding import load
    from phcle.embedding.export import export as write
    from phcle.embedding.export import format_of
    from phcle.report.embedding_atlas import ATLAS, write_atlas

    chosen = format if format == ATLAS else format_of(out, format, (ATLAS,))
    check_can_write(out, [file])
    embedding = load(file)
    with progress_stages("labels") as progress:
        if chosen == ATLAS:
            write_atlas(embedding, out, progress=progress)
        else:
            progress(f"writing {out}", 0, 0)
            write(embedding, out, chosen)
    answer = {"file": str(out), "format": chosen, "labels": len(embedding)}
    show(answer, lambda _: show_written(out), as_json=as_json)
