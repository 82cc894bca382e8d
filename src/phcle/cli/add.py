"""Add labels to an embedding without learning it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.cli.flags import (
    EmbeddingFile,
    Json,
    NamesFile,
    OutFile,
    SynonymsFile,
    context_files,
    context_flags,
    reading_flags,
    reading_of,
    with_flags,
)
from phcle.cli.output import (
    check_can_write,
    progress_bar,
    say_what_was_read,
    show,
    show_match,
    show_nearest,
    show_next,
    show_written,
)

if TYPE_CHECKING:
    from phcle.answers import Nearest


SHOWN_LABELS, SHOWN_NEIGHBOURS = 5, 5


@with_flags(*context_flags(), *reading_flags())
def add(
    file: EmbeddingFile,
    out: OutFile,
    names: NamesFile = None,
    synonyms: SynonymsFile = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Add new labels to an embedding without learning it again.

    The files hold the new labels only. A taxonomy holds only the new edges; parents
    may be ids or readable names. A vocabulary or ontology may be a newer edition of the
    whole file: only its new nodes are added.

    A file belongs to the context of the same name, or else to the only context of its
    kind; NAME=FILE says to which context it belongs.
    """
    from phcle import fold_in
    from phcle.embedding import load
    from phcle.tables.new_labels import read_new_contexts

    files = context_files(given)
    check_can_write(out, [names, synonyms, *(new.path for new in files)])
    embedding = load(file)
    contexts = read_new_contexts(
        embedding,
        files,
        names=names,
        language=given["language"],
        synonyms=synonyms,
        reading=reading_of(given),
    )
    say_what_was_read(contexts.summaries)
    if contexts.match is not None and not as_json:
        show_match(contexts.match)
    with progress_bar("adding labels"):
        new = fold_in(embedding, contexts, names=contexts.names)
    whole = embedding.joined(new)
    whole.save(out)
    added = whole.neighbours(new.labels, SHOWN_NEIGHBOURS)
    answer = {"file": str(out), "labels": len(whole), "added": added}
    show(answer, lambda _: _show_added(out, len(whole), added), as_json=as_json)


def _show_added(out: Path, n_labels: int, added: Sequence[Nearest]) -> None:
    show_nearest(added[:SHOWN_LABELS])
    show_written(f"{out}: {n_labels} labels, of which {len(added)} new")
    show_next([["phcle", "describe", str(out), str(added[0].label)]])
