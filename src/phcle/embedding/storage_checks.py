"""What a checksum cannot vouch for: that the parts of a stored embedding fit.

A file may come from a stranger, who can compute a checksum too. Whatever is asked of an
embedding later relies on these shapes, and on a hierarchy without cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from phcle.contexts.descriptive.reencoding import Cells, Words
from phcle.contexts.labels import refuse_half_characters
from phcle.contexts.relational.hierarchy import Hierarchy
from phcle.embedding.fitted import Fitted, FittedRelational
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError

__all__ = ["check_sound"]

PENALTIES = ("negatives", "descriptive", "sparsity", "ridge", "context_ridge")


def check_sound(embedding: LabelEmbedding) -> None:
    """Refuse an embedding whose parts do not fit each other."""
    _check_texts(embedding)
    for name in ("penalties", "options", "versions", "origin"):
        if not isinstance(getattr(embedding, name), Mapping):
            raise ContextError(f"its {name} are not names with values")
    for record in embedding.history:
        if not isinstance(record, Mapping):
            raise ContextError("its history is not a list of records")
        for key, value in record.items():
            _check_number(value, f"{key!r} in its history", most=np.inf)
    for key, value in embedding.penalties.items():
        _check_number(value, f"the penalty {key!r}")
    missing = [x for x in PENALTIES if x not in embedding.penalties]
    if embedding.contexts and missing:
        raise ContextError(f"it has no penalty {missing[0]!r}")
    names = [context.name for context in embedding.contexts]
    if len(set(names)) < len(names):
        raise ContextError("two of its contexts have the same name")
    for context in embedding.contexts:
        _check_context(context, embedding)


def _check_texts(embedding: LabelEmbedding) -> None:
    for text in (*embedding.names, *embedding.names.values()):
        refuse_half_characters(text, "the embedding", "name")


def _check_context(context: Fitted, embedding: LabelEmbedding) -> None:
    """Factors, scales and data of one context."""
    where = f"context {context.name!r}"
    n = len(context.columns)
    _check_array(context.factor, (n, embedding.dim), f"the factor of {where}")
    _check_number(context.weight, f"the weight of {where}")
    data = context.data
    if data is not None:
        if data.columns != context.columns:
            raise ContextError(f"{where} has data of other columns")
        unknown = [label for label in data.labels if label not in embedding]
        if unknown:
            raise ContextError(f"{where} has data of {unknown[0]!r}, which has none")
    if isinstance(context, FittedRelational):
        _check_array(context.column_mass, (n,), f"the masses of {where}")
        _check_number(context.total, f"the total of {where}")
        _check_number(context.scale, f"the scale of {where}")
        if not (context.total > 0 and context.scale > 0):
            raise ContextError(f"the total and scale of {where} must be above zero")
        if context.data is not None and context.data.hierarchy is not None:
            _check_hierarchy(context.data.hierarchy.hierarchy, context.name)
        return
    _check_array(context.offset, (n,), f"the offsets of {where}")
    _check_array(context.scale, (n,), f"the scales of {where}")
    if not (context.scale > 0).all():
        raise ContextError(f"the scales of {where} must be above zero")
    if not isinstance(context.readable, bool):
        raise ContextError(f"{where} does not say whether its columns are readable")
    if isinstance(context.source, Words):
        _check_array(context.source.rarity, (n,), f"the words of {where}")
    if isinstance(context.source, Cells) and len(context.source.titles) != n:
        raise ContextError(f"{where} has {len(context.source.titles)} titles, not {n}")
    if context.calibration is not None:
        curve = context.calibration
        _check_array(curve.presence, (n,), f"the calibration of {where}")
        _check_array(curve.deviation, (n,), f"the calibration of {where}")
        for key in ("intercept", "prior", "slope", "n_values"):
            _check_number(getattr(curve, key), f"the calibration of {where}")


def _check_hierarchy(tree: Hierarchy, name: str) -> None:
    """Edges between nodes there are, and no cycle: to follow one would never end."""
    edges = tree.edges
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ContextError(f"the edges of {name!r} are not pairs of nodes")
    if edges.size and not 0 <= edges.min() <= edges.max() < len(tree.nodes):
        raise ContextError(f"the edges of {name!r} name nodes that it lacks")
    if len(set(tree.nodes)) < len(tree.nodes):
        raise ContextError(f"a node of {name!r} occurs twice")
    n = len(tree.nodes)
    graph = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), (n, n))
    # Without a cycle no two nodes reach each other. Found in compiled code, as large
    # hierarchies are loaded often; the slow way then names the cycle.
    n_parts = connected_components(graph, connection="strong", return_labels=False)
    if n_parts < n or (edges[:, 0] == edges[:, 1]).any():
        tree.refuse_cycles(name)
        raise ContextError(f"a node of {name!r} is its own parent")


def _check_array(value: Any, shape: tuple[int, ...], what: str) -> None:
    if value.shape != shape or value.dtype.kind not in "fiu":
        raise ContextError(f"{what} must be numbers of shape {shape}")
    if not np.isfinite(value).all():
        raise ContextError(f"{what} must be finite")


def _check_number(value: Any, what: str, *, most: float = 1e30) -> None:
    """Also NaN, which a history may hold; but no text, and nothing that overflows."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ContextError(f"{what} must be a number")
    if abs(value) > most:
        raise ContextError(f"{what} must be a number of usual size")
