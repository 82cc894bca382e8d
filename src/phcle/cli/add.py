"""Add labels to an embedding without learning it again."""

from __future__ import annotations

from typing import Any

from phcle.cli import tables
from phcle.cli.context_files import context_files
from phcle.cli.flags import (
    EmbeddingFile,
    Json,
    NamesFile,
    OutFile,
    context_flags,
    with_flags,
)
from phcle.cli.new_contexts import read_new_contexts
from phcle.cli.output import check_can_write, show
from phcle.uses import answers

__all__ = ["add"]

SHOWN_LABELS, SHOWN_NEIGHBOURS = 5, 5


@with_flags(*context_flags())
def add(
    file: EmbeddingFile,
    out: OutFile,
    names: NamesFile = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Embed new labels from whatever is known about them, and write all labels.

    The files hold the new labels only; a taxonomy, only the new edges, whose parents
    may be ids or readable names. A vocabulary or ontology may be a newer edition of the
    whole: what is new in it counts. A file belongs to the context it is called like, or
    else to the only one of its sort; NAME=FILE says which one is meant.
    """
    from phcle import fold_in
    from phcle.contexts.readers.label_files import read_names
    from phcle.embedding import load

    files = context_files(given)
    check_can_write(out, [names, *(new.path for new in files)])
    embedding = load(file)
    readable = {} if names is None else read_names(names)
    contexts, named = read_new_contexts(files, embedding, language=given["language"])
    new = fold_in(embedding, contexts, names={**named, **readable})
    whole = embedding.joined(new)
    whole.save(out)
    answer = {
        "file": str(out),
        "labels": len(whole),
        "added": answers.added(whole, new.labels, SHOWN_NEIGHBOURS),
    }
    show(answer, _show_added, as_json=as_json)


def _show_added(answer: answers.Answer) -> None:
    added = answer["added"]
    tables.show_nearest(added[:SHOWN_LABELS])
    tables.show_written(
        f"{answer['file']}: {answer['labels']} labels, of which {len(added)} new"
    )
    tables.show_next([["phcle", "describe", answer["file"], added[0]["label"]]])
