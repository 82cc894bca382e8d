"""Files about new labels, matched with the contexts that the fit had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from phcle.cli.context_files import ContextFile, read_context, read_thesaurus
from phcle.cli.flags import THESAURI
from phcle.errors import ContextError, did_you_mean, some

if TYPE_CHECKING:
    from phcle.contexts import Hierarchy, RelationalContext
    from phcle.contexts.alignment import Context
    from phcle.contexts.readers.thesaurus import Thesaurus
    from phcle.embedding import LabelEmbedding
    from phcle.embedding.fitted import Fitted

__all__ = ["read_new_contexts"]


def read_new_contexts(
    files: Iterable[ContextFile], embedding: LabelEmbedding, *, language: str
) -> tuple[list[Context], dict[str, str]]:
    """Contexts of new labels, called as they were at the fit, and names in them."""
    contexts: list[Context] = []
    names: dict[str, str] = {}
    for file in files:
        target = replace(file, given_name=_target(file, embedding))
        if file.sort in THESAURI:
            new = _new_part(read_thesaurus(target, language), embedding, file)
            contexts += _contexts_of(new, embedding)
            names.update(new.names)
        else:
            contexts.append(_read(target, embedding))
    return contexts, names


def _new_part(
    thesaurus: Thesaurus, embedding: LabelEmbedding, file: ContextFile
) -> Thesaurus:
    """The nodes of a newer edition that the fit did not know."""
    tree = _hierarchy(embedding, thesaurus.name)
    known = [context.name for context in embedding.contexts]
    if thesaurus.name not in known:
        raise ContextError(
            f"{file.path}: the fit had no context {thesaurus.name!r}."
            f"{did_you_mean(thesaurus.name, known)} It had {some(known)}."
        )
    if tree is None:
        raise ContextError(
            f"{file.path}: the context {thesaurus.name!r} of the fit is no taxonomy."
        )
    new = thesaurus.beyond(tree.index)
    if not new.edges:
        raise ContextError(f"{file.path}: names no node that is new.")
    return new


def _contexts_of(new: Thesaurus, embedding: LabelEmbedding) -> list[Context]:
    """The new edges, and the texts if the fit had those."""
    contexts: list[Context] = [new.hierarchy()]
    if new.texts:
        texts = new.descriptions(min_count=1)
        if any(context.name == texts.name for context in embedding.contexts):
            contexts.append(texts)
    return contexts


def _read(file: ContextFile, embedding: LabelEmbedding) -> Context:
    from phcle.contexts import RelationalContext
    from phcle.contexts.readers import label_files as readers

    tree = _hierarchy(embedding, file.name)
    if file.sort == "hierarchy" and tree is not None:
        edges = readers.read_hierarchy_edges(file.path)
        return RelationalContext.from_hierarchy(
            _with_known_parents(edges, tree, embedding, file), name=file.name
        )
    # With a single new text every word of it counts; the fit knows which ones matter.
    context = read_context(file, min_count=1)
    if isinstance(context, RelationalContext) and context.hierarchy is None:
        return _of_new_labels(context, embedding, file)
    return context


def _target(file: ContextFile, embedding: LabelEmbedding) -> str:
    """The context of the fit that a file belongs to."""
    names = [context.name for context in embedding.contexts]
    if file.given_name is not None or file.name in names or not names:
        return file.name
    fitting = [c.name for c in embedding.contexts if file.sort in _sorts(c)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ContextError(
            f"{file.path}: may belong to {some(fitting)}; say to which: "
            f"--{file.sort} NAME={file.path}"
        )
    raise ContextError(
        f"{file.path}: nothing in the fit was learned from --{file.sort}; it had "
        f"{some(names)}."
    )


def _sorts(context: Fitted) -> tuple[str, ...]:
    """The flags whose files look like the data of a context."""
    from phcle.embedding.fitted import FittedRelational

    if isinstance(context, FittedRelational):
        has_tree = context.data is not None and context.data.hierarchy is not None
        return ("hierarchy", *THESAURI) if has_tree else ("edges", "annotations")
    if not context.readable:
        return ("vectors", "sentences")
    is_sparse = context.data is not None and context.data.is_sparse
    return ("tags", "texts") if is_sparse else ("attributes",)


def _hierarchy(embedding: LabelEmbedding, name: str) -> Hierarchy | None:
    """The taxonomy of a context, if it has one."""
    from phcle.contexts import RelationalContext

    for context in embedding.contexts:
        if context.name == name and isinstance(context.data, RelationalContext):
            recipe = context.data.hierarchy
            return None if recipe is None else recipe.hierarchy
    return None


def _with_known_parents(
    edges: list[tuple[str, str]],
    tree: Hierarchy,
    embedding: LabelEmbedding,
    file: ContextFile,
) -> list[tuple[str, str]]:
    """Edges with the node meant where a parent is given by its readable name."""
    from phcle.uses.node_names import NodeNames

    new = {child for child, _ in edges}
    nodes = NodeNames(embedding, tree)

    def node_of(parent: str) -> str:
        try:
            return parent if parent in new else nodes.node_called(parent)
        except ContextError as error:
            raise ContextError(f"{file.path}: {error}") from error

    return [(child, node_of(parent)) for child, parent in edges]


def _of_new_labels(
    context: RelationalContext, embedding: LabelEmbedding, file: ContextFile
) -> RelationalContext:
    """The rows of new labels alone: known ones occur in the file as their company."""
    new = [label for label in context.labels if label not in embedding]
    if not new:
        raise ContextError(f"{file.path}: names no label that is new.")
    used = set(context.rows_for(new).indices.tolist())
    columns = [column for i, column in enumerate(context.columns) if i in used]
    return context.on_columns(columns, new)
