"""Weights of words in texts: frequent in a text, and rare among the texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.errors import ContextError, OptionError

__all__ = ["weigh_known_words", "weigh_words"]

Floats = npt.NDArray[np.float64]


def weigh_words(
    documents: Sequence[str], min_count: int, name: str
) -> tuple[tuple[str, ...], Floats, sp.csr_array]:
    """Compute TF-IDF weights of the words in texts, without English stop words.

    Parameters
    ----------
    documents : sequence of str
        The texts.
    min_count : int
        Words in fewer texts are left out.
    name : str
        Name of the context, for messages.

    Returns
    -------
    words : tuple of str
        The words that were kept.
    rarity : array of shape (words,)
        Inverse document frequency of each word.
    weights : csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    if min_count < 1:
        raise OptionError(f"min_count must be 1 or more. Got {min_count!r} instead.")
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(
        min_df=min(min_count, len(documents)), stop_words="english", sublinear_tf=True
    )
    try:
        words = vectorizer.fit_transform(documents)
    except ValueError as error:
        raise ContextError(
            f"context {name!r}: no word occurs in {min_count} of the texts; "
            "give longer texts or a smaller min_count."
        ) from error
    return (
        tuple(vectorizer.get_feature_names_out()),
        np.asarray(vectorizer.idf_),
        sp.csr_array(words),
    )


def weigh_known_words(
    documents: Sequence[str],
    words: Sequence[str],
    rarity: Floats,
    split: Callable[[str], list[str]] | None = None,
) -> sp.csr_array:
    """Compute TF-IDF weights of new texts with the words and rarities of a fit.

    Parameters
    ----------
    documents : sequence of str
        The new texts.
    words : sequence of str
        The words of the fit; others are ignored.
    rarity : array of shape (words,)
        Inverse document frequency of each word at the fit.
    split : callable, optional
        Splits a text into words. By default, words are letters and digits in a row.

    Returns
    -------
    csr_array of shape (texts, words)
        Weight of each word in each text; rows have unit length.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    vectorizer = TfidfVectorizer(
        vocabulary=words, analyzer=split or "word", sublinear_tf=True
    )
    vectorizer.idf_ = rarity
    return sp.csr_array(vectorizer.transform(documents))
