"""Files about new labels, matched with the contexts that the fit had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from phcle.cli.context_files import ContextFile, read_context
from phcle.errors import ContextError, some

if TYPE_CHECKING:
    from phcle.contexts import Hierarchy, RelationalContext
    from phcle.contexts.alignment import Context
    from phcle.embedding import LabelEmbedding
    from phcle.embedding.fitted import Fitted

__all__ = ["read_new_contexts"]


def read_new_contexts(
    files: Iterable[ContextFile], embedding: LabelEmbedding
) -> list[Context]:
    """Contexts of new labels, called as they were at the fit."""
    return [
        _read(replace(f, given_name=_target(f, embedding)), embedding) for f in files
    ]


def _read(file: ContextFile, embedding: LabelEmbedding) -> Context:
    from phcle.contexts import RelationalContext, readers

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
        return ("hierarchy",) if has_tree else ("edges", "annotations")
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
    from phcle.uses.nodes import NodeNames

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
