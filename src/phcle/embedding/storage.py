"""Save and load embeddings: one file with all numbers as tensors and all names as text.

Every context stores itself; this module does not depend on the kinds of context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phcle.contexts.alignment import KINDS
from phcle.contexts.labels import refuse_half_characters
from phcle.contexts.matrices import check_array, check_number
from phcle.contexts.protocol import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, some
from phcle.files.container import Tensors, TensorStore, read_sealed, write_sealed
from phcle.files.reading import naming

FORMAT = "phcle.label-embedding"
VERSION = 3
"""Name and version of the file format. Files with another version are refused."""

BROKEN = "is not a complete label embedding"
"""What is said of a file whose content raises any error."""

PENALTIES = ("negatives", "descriptive", "sparsity", "ridge", "context_ridge")
"""Penalties that a file must have, because fold-in and explanations need them."""


SETTINGS = ("penalties", "options", "versions", "origin")
"""Parts of an embedding that are names with plain values."""

PAIRS = ("names", "spellings")
"""Parts of an embedding that are names with texts."""


def save(embedding: LabelEmbedding, path: Path) -> None:
    """Write an embedding to a file.

    Parameters
    ----------
    embedding : LabelEmbedding
        What to write.
    path : Path
        The file. An existing one is replaced only when the new one is complete.
    """
    contexts = embedding.contexts
    unfitted = [x.name for x in contexts if x.factor.shape[1:] != (embedding.dim,)]
    if unfitted:
        raise ContextError(
            f"no fit with these vectors has learned from {some(unfitted)}, so the file "
            "could not be read again; keep the contexts of a fitted embedding only."
        )
    store = TensorStore({"vectors": embedding.vectors})
    store.put_names("labels", embedding.labels)
    for key in PAIRS:
        pairs = getattr(embedding, key)
        if pairs or key == "names":  # files without spellings hold no such part
            store.put_names(f"{key}/keys", list(pairs))
            store.put_names(f"{key}/values", list(pairs.values()))
    content = {
        **{name: dict(getattr(embedding, name)) for name in SETTINGS},
        "history": [dict(record) for record in embedding.history],
        "contexts": [
            _pack(context, TensorStore(store.tensors, f"contexts/{i}/"))
            for i, context in enumerate(embedding.contexts)
        ],
        "predictions": _pack_predictions(embedding, store),
    }
    write_sealed(path, FORMAT, VERSION, content, store.tensors)


def load(path: str | Path) -> LabelEmbedding:
    """Read an embedding from a file.

    Loading runs no code of the file. A file that is damaged, incomplete or not an
    embedding is refused.

    Parameters
    ----------
    path : str or Path
        A file that `LabelEmbedding.save` or `phcle fit` wrote.

    Returns
    -------
    LabelEmbedding
        The embedding.

    Raises
    ------
    FileError
        If the file does not exist or is not a complete embedding.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "pets.phcle"
    >>> LabelEmbedding(("cat", "dog"), np.eye(2)).save(path)
    >>> load(path).labels
    ('cat', 'dog')
    """
    path = Path(path)
    found, content, tensors = _read(path)
    with naming(path, BROKEN, Exception):
        contexts = tuple(
            KINDS[packed["kind"]].unpack(packed, TensorStore(tensors, f"contexts/{i}/"))
            for i, packed in enumerate(content["contexts"])
        )
        settings = {name: content[name] for name in SETTINGS}
        history = tuple(content["history"])
        found = replace(found, contexts=contexts, history=history, **settings)
        _check_sound(found)
        predictions = _unpack_predictions(content, tensors, found)
        return replace(found, predictions=predictions)


def load_vectors(path: str | Path) -> LabelEmbedding:
    """Read the labels, names and vectors of an embedding, but no contexts.

    That is all that a search for the nearest labels needs, and quicker than `load`.

    Parameters
    ----------
    path : str or Path
        A file that `LabelEmbedding.save` or `phcle fit` wrote.

    Returns
    -------
    LabelEmbedding
        The labels, which nothing is known about.
    """
    return _read(Path(path))[0]


def _read(path: Path) -> tuple[LabelEmbedding, Any, Tensors]:
    """The labels and vectors, the whole content, and all tensors."""
    foreign = "a safetensors file, but not a label embedding of phcle."
    content, tensors = read_sealed(path, FORMAT, VERSION, foreign)
    store = TensorStore(tensors)
    with naming(path, BROKEN, Exception):
        pairs: dict[str, Any] = {key: _pairs(store, key) for key in PAIRS}
        found = LabelEmbedding(store.names("labels"), store["vectors"], **pairs)
        _check_texts(found)
    return found, content, tensors


def _pairs(store: TensorStore, key: str) -> dict[str, str]:
    """Names or spellings; a file without any holds no such part."""
    if f"{key}/keys" not in store:
        return {}
    keys, values = store.names(f"{key}/keys"), store.names(f"{key}/values")
    return dict(zip(keys, values, strict=True))


def _pack(context: Context, store: TensorStore) -> dict[str, Any]:
    """Put a context's numbers into the store; return its settings."""
    store.put_names("columns", context.columns)
    store["factor"] = context.factor
    return {
        "kind": context.kind,
        "name": context.name,
        "weight": context.weight,
        "has_data": len(context.labels) > 0,
        **context.pack(store),
    }


def _pack_predictions(
    embedding: LabelEmbedding, store: TensorStore
) -> list[dict[str, Any]]:
    """Put the predictions of all tables into the store, with those of added labels."""
    packed: list[dict[str, Any]] = []
    for i, table in enumerate(embedding.predicting if embedding.predictions else ()):
        found = embedding.tables[table.name].stored
        if found is not None:
            part = TensorStore(store.tensors, f"predictions/{i}/")
            kind = "tags" if hasattr(found, "probabilities") else "cells"
            own = found.pack(part, table)
            packed.append({"at": i, "kind": kind, "table": table.name, **own})
    return packed


def _unpack_predictions(
    content: Mapping[str, Any], tensors: dict[str, Any], embedding: LabelEmbedding
) -> dict[str, Any]:
    """The reverse of `_pack_predictions`; files without any hold no such part."""
    found: dict[str, Any] = {}
    if not content.get("predictions"):
        return found
    from phcle.embedding.predictions import Predictions, TagPredictions, known_fields

    kinds: dict[str, Any] = {"cells": Predictions, "tags": TagPredictions}
    tables = embedding.predicting
    for packed in content["predictions"]:
        table, part = tables[packed["at"]], f"predictions/{packed['at']}/"
        if table.name != packed["table"] or not table.labels:
            raise ContextError(f"it has predictions of {packed['table']!r}, no table")
        known = known_fields(table, embedding.labels)
        kind = kinds[packed["kind"]]
        found[table.name] = kind.unpack(
            packed, TensorStore(tensors, part), table, known
        )
    return found


def _check_sound(embedding: LabelEmbedding) -> None:
    """Refuse an embedding whose parts do not fit together.

    Anybody can write a file with a valid checksum, and all methods of an embedding rely
    on these shapes and on hierarchies without cycles.
    """
    for name in SETTINGS:
        if not isinstance(getattr(embedding, name), Mapping):
            raise ContextError(f"its {name} are not names with values")
    if not isinstance(embedding.origin.get("run", {}), Mapping):
        raise ContextError("it does not say how it ran")
    if not isinstance(embedding.origin.get("files", []), list):
        raise ContextError("its files are not a list")
    for record in embedding.history:
        if not isinstance(record, Mapping):
            raise ContextError("its history is not a list of records")
        for key, value in record.items():
            check_number(value, f"{key!r} in its history", most=np.inf)
    for key, value in embedding.penalties.items():
        check_number(value, f"the penalty {key!r}")
    if embedding.penalties.get("stiffness", 1.0) <= 0:
        raise ContextError("the penalty 'stiffness' must be above zero")
    missing = [x for x in PENALTIES if x not in embedding.penalties]
    if embedding.contexts and missing:
        raise ContextError(f"it has no penalty {missing[0]!r}")
    names = [context.name for context in embedding.contexts]
    if len(set(names)) < len(names):
        raise ContextError("two of its contexts have the same name")
    for context in embedding.contexts:
        _check_context(context, embedding)


def _check_texts(embedding: LabelEmbedding) -> None:
    spellings, names = embedding.spellings, embedding.names
    for text in (*names, *names.values(), *spellings, *spellings.values()):
        refuse_half_characters(text, "the embedding", "name")


def _check_context(context: Context, embedding: LabelEmbedding) -> None:
    """Check what all kinds share; the context checks the rest itself."""
    refuse_half_characters(context.name, "the embedding", "name")
    where = f"context {context.name!r}"
    n = len(context.columns)
    check_array(context.factor, (n, embedding.dim), f"the factor of {where}")
    check_number(context.weight, f"the weight of {where}")
    unknown = [label for label in context.labels if label not in embedding]
    if unknown:
        raise ContextError(f"{where} has data of {unknown[0]!r}, which is no label")
    context.check()
