"""Variants of PHCLE that the paper compares with: one part switched off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from phcle import PHCLE
from phcle.contexts import Context
from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError

__all__ = ["phcle_full_context", "phcle_without_sparsity"]


def phcle_full_context(
    contexts: Context | Iterable[Context], **options: Any
) -> LabelEmbedding:
    """PHCLE_FC: labels that lack a context are dropped before the fit.

    `options` are those of `PHCLE`; `complete_only` is True.
    """
    return _fit("PHCLE_FC", {"complete_only": True}, contexts, options)


def phcle_without_sparsity(
    contexts: Context | Iterable[Context], **options: Any
) -> LabelEmbedding:
    """PHCLE_NoSp: no description is selected, all of them shape the labels.

    `options` are those of `PHCLE`; `sparsity` (λ2) is 0.
    """
    return _fit("PHCLE_NoSp", {"sparsity": 0.0}, contexts, options)


def _fit(
    method: str,
    fixed: Mapping[str, Any],
    contexts: Context | Iterable[Context],
    options: Mapping[str, Any],
) -> LabelEmbedding:
    """Fit with the fixed options, and name the method in the result."""
    for name, value in fixed.items():
        if options.get(name, value) != value:
            raise OptionError(
                f"{method} means {name}={value!r}. Got {name}={options[name]!r}; "
                "use PHCLE itself for other values."
            )
    embedding = PHCLE().set_params(**{**options, **fixed}).fit(contexts).embedding_
    return replace(embedding, options={"method": method, **embedding.options})
