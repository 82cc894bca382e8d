"""One file per embedding: numbers as tensors, and as UTF-8 bytes all names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from phcle.contexts.descriptive.data import DescriptiveContext
from phcle.contexts.descriptive.reencoding import Cells, Source, Words
from phcle.contexts.relational.data import RelationalContext
from phcle.contexts.relational.hierarchy import Hierarchy, HierarchyCounts
from phcle.embedding.confidence import Calibration
from phcle.embedding.fitted import Fitted, FittedDescriptive, FittedRelational
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.storage_checks import check_sound
from phcle.errors import FileError
from phcle.files.archive import Tensors, read_sealed, write_sealed
from phcle.files.json_toml import parse_json

__all__ = ["FORMAT", "VERSION", "load", "save"]

FORMAT = "phcle.label-embedding"
VERSION = 1

CURVE = ("intercept", "prior", "slope", "n_values")
RECIPE = ("kind", "decay", "radius", "random_state", "labels_are_fixed")
"""Plain values of a calibration and of a hierarchy's counts, by their names."""


def save(embedding: LabelEmbedding, path: Path) -> None:
    """Write an embedding; an existing file is replaced only by a whole one."""
    tensors: Tensors = {"vectors": embedding.vectors}
    _put_names(tensors, "labels", embedding.labels)
    _put_names(tensors, "names/keys", list(embedding.names))
    _put_names(tensors, "names/values", list(embedding.names.values()))
    content = {
        "penalties": dict(embedding.penalties),
        "options": dict(embedding.options),
        "versions": dict(embedding.versions),
        "origin": dict(embedding.origin),
        "history": [dict(record) for record in embedding.history],
        "contexts": [
            _pack(context, f"contexts/{i}/", tensors)
            for i, context in enumerate(embedding.contexts)
        ],
    }
    write_sealed(path, FORMAT, VERSION, content, tensors)


def load(path: str | Path) -> LabelEmbedding:
    """Read an embedding; a damaged, cut or foreign file is refused.

    >>> load("missing.phcle")
    Traceback (most recent call last):
    phcle.errors.FileError: missing.phcle: no such file.
    """
    path = Path(path)
    foreign = "a safetensors file, but not a label embedding of phcle."
    content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
    try:
        found = LabelEmbedding(
            labels=_get_names(tensors, "labels"),
            vectors=tensors["vectors"],
            names=dict(
                zip(
                    _get_names(tensors, "names/keys"),
                    _get_names(tensors, "names/values"),
                    strict=True,
                )
            ),
            contexts=tuple(
                _unpack(packed, f"contexts/{i}/", tensors)
                for i, packed in enumerate(content["contexts"])
            ),
            penalties=content["penalties"],
            options=content["options"],
            history=tuple(content["history"]),
            versions=content["versions"],
            origin=content.get("origin", {}),
        )
        check_sound(found)
    # Whatever the parts of a stranger's file are, they fit or they do not.
    except Exception as error:
        raise FileError(f"{path}: is not a whole label embedding ({error}).") from error
    return found


def _put_names(tensors: Tensors, key: str, names: Sequence[str]) -> None:
    """Store names as the bytes of a JSON list."""
    data = json.dumps(list(names), ensure_ascii=False).encode()
    tensors[key] = np.frombuffer(data, dtype=np.uint8)


def _get_names(tensors: Tensors, key: str) -> tuple[str, ...]:
    names = parse_json(tensors[key].tobytes().decode(), key)
    if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
        raise FileError(f"{key} is not a list of names")
    return tuple(names)


def _put_sparse(tensors: Tensors, key: str, matrix: sp.csr_array) -> None:
    tensors[f"{key}/data"] = matrix.data
    tensors[f"{key}/indices"] = matrix.indices
    tensors[f"{key}/indptr"] = matrix.indptr


def _get_sparse(tensors: Tensors, key: str, n_columns: int) -> sp.csr_array:
    data, indices, indptr = (
        tensors[f"{key}/{part}"] for part in ("data", "indices", "indptr")
    )
    # SciPy's own check passes over rows that begin beyond the end, and then its
    # compiled code reads memory that is not its own.
    if not (
        data.ndim == indices.ndim == indptr.ndim == 1
        and data.dtype.kind == "f"
        and indices.dtype.kind == indptr.dtype.kind == "i"
        and len(indptr) >= 1
        and len(data) == len(indices) == indptr[-1]
        and indptr[0] == 0
        and (np.diff(indptr) >= 0).all()
        and indices.min(initial=0) >= 0
        and indices.max(initial=-1) < n_columns
    ):
        raise FileError(f"{key} is not a sparse matrix")
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


def _pack(context: Fitted, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """Put a context's numbers among the tensors; the rest goes into the content."""
    _put_names(tensors, prefix + "columns", context.columns)
    tensors[prefix + "factor"] = context.factor
    packed: dict[str, Any] = {
        "kind": context.kind,
        "name": context.name,
        "weight": context.weight,
        "has_data": context.data is not None,
    }
    if isinstance(context, FittedRelational):
        tensors[prefix + "column_mass"] = context.column_mass
        packed |= {"total": context.total, "scale": context.scale, "hierarchy": None}
        if context.data is not None:
            _put_names(tensors, prefix + "labels", context.data.labels)
            _put_sparse(tensors, prefix + "counts", context.data.counts)
            packed["hierarchy"] = _pack_recipe(context.data.hierarchy, prefix, tensors)
        return packed
    tensors[prefix + "offset"] = context.offset
    tensors[prefix + "scale"] = context.scale
    packed |= {"readable": context.readable, "layout": None, "standardize": False}
    packed["source"] = None
    if isinstance(context.source, Words):
        packed["source"] = "words"
        tensors[prefix + "rarity"] = context.source.rarity
    elif isinstance(context.source, Cells):
        packed["source"] = "cells"
        _put_names(tensors, prefix + "titles", context.source.titles)
    packed["calibration"] = _pack_calibration(context.calibration, prefix, tensors)
    if context.data is not None:
        _put_names(tensors, prefix + "labels", context.data.labels)
        packed["standardize"] = context.data.standardize
        if isinstance(context.data.values, np.ndarray):
            packed["layout"] = "dense"
            tensors[prefix + "values"] = context.data.values
        else:
            packed["layout"] = "sparse"
            _put_sparse(tensors, prefix + "values", context.data.values)
            if context.data.observed is not None:
                packed["layout"] = "masked"
                _put_sparse(tensors, prefix + "observed", context.data.observed)
    return packed


def _pack_calibration(
    calibration: Calibration | None, prefix: str, tensors: Tensors
) -> dict[str, Any] | None:
    if calibration is None:
        return None
    tensors[prefix + "presence"] = calibration.presence
    tensors[prefix + "deviation"] = calibration.deviation
    return {key: getattr(calibration, key) for key in CURVE}


def _pack_recipe(
    recipe: HierarchyCounts | None, prefix: str, tensors: Tensors
) -> dict[str, Any] | None:
    if recipe is None:
        return None
    _put_names(tensors, prefix + "nodes", recipe.hierarchy.nodes)
    tensors[prefix + "edges"] = recipe.hierarchy.edges
    return {key: getattr(recipe, key) for key in RECIPE}


def _unpack(packed: dict[str, Any], prefix: str, tensors: Tensors) -> Fitted:
    """The reverse of `_pack`."""
    common = {
        "name": packed["name"],
        "weight": packed["weight"],
        "columns": _get_names(tensors, prefix + "columns"),
        "factor": tensors[prefix + "factor"],
    }
    has_data = packed["has_data"]
    if packed["kind"] not in ("relational", "descriptive"):
        raise FileError(f"no context can be {packed['kind']!r}")
    if packed["kind"] == "relational":
        return FittedRelational(
            **common,
            column_mass=tensors[prefix + "column_mass"],
            total=packed["total"],
            scale=packed["scale"],
            data=_unpack_counts(packed, prefix, tensors) if has_data else None,
        )
    return FittedDescriptive(
        **common,
        offset=tensors[prefix + "offset"],
        scale=tensors[prefix + "scale"],
        readable=packed["readable"],
        source=_unpack_source(packed["source"], prefix, tensors),
        data=_unpack_values(packed, prefix, tensors) if has_data else None,
        calibration=_unpack_calibration(packed.get("calibration"), prefix, tensors),
    )


def _unpack_calibration(
    packed: dict[str, Any] | None, prefix: str, tensors: Tensors
) -> Calibration | None:
    if packed is None:
        return None
    return Calibration(
        presence=tensors[prefix + "presence"],
        deviation=tensors[prefix + "deviation"],
        **{key: packed[key] for key in CURVE},
    )


def _unpack_counts(
    packed: dict[str, Any], prefix: str, tensors: Tensors
) -> RelationalContext:
    columns = _get_names(tensors, prefix + "columns")
    recipe = None
    if packed["hierarchy"] is not None:
        nodes = _get_names(tensors, prefix + "nodes")
        hierarchy = Hierarchy(nodes, tensors[prefix + "edges"])
        recipe = HierarchyCounts(
            hierarchy, **{key: packed["hierarchy"][key] for key in RECIPE}
        )
    return RelationalContext(
        packed["name"],
        _get_names(tensors, prefix + "labels"),
        columns,
        _get_sparse(tensors, prefix + "counts", len(columns)),
        recipe,
    )


def _unpack_values(
    packed: dict[str, Any], prefix: str, tensors: Tensors
) -> DescriptiveContext:
    columns = _get_names(tensors, prefix + "columns")
    observed = None
    if packed["layout"] == "masked":
        observed = _get_sparse(tensors, prefix + "observed", len(columns))
    values: Any = (
        tensors[prefix + "values"]
        if packed["layout"] == "dense"
        else _get_sparse(tensors, prefix + "values", len(columns))
    )
    return DescriptiveContext(
        packed["name"],
        _get_names(tensors, prefix + "labels"),
        columns,
        values,
        observed,
        packed["standardize"],
        packed["readable"],
    )


def _unpack_source(kind: str | None, prefix: str, tensors: Tensors) -> Source | None:
    if kind == "words":
        return Words(tensors[prefix + "rarity"])
    if kind == "cells":
        return Cells(_get_names(tensors, prefix + "titles"))
    return None
