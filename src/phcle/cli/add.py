"""Add labels to an embedding without learning it again."""

from __future__ import annotations

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
    from phcle.answers import AddedLabels


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
    from phcle.answers import AddedLabels
    from phcle.embedding import load
    from phcle.uses.named_answers import nearest_labels
    from phcle.uses.new_label_files import read_new_contexts

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
    added = tuple(nearest_labels(whole, x, SHOWN_NEIGHBOURS) for x in new.labels)
    answer = AddedLabels(str(out), len(whole), added)
    show(answer, _show_added, as_json=as_json)


def _show_added(answer: AddedLabels) -> None:
    show_nearest(answer.added[:SHOWN_LABELS])
    show_written(
        f"{answer.file}: {answer.labels} labels, of which {len(answer.added)} new"
    )
    first = answer.added[0].label
    show_next([["phcle", "describe", answer.file, first]])
