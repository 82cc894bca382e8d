"""Embeddings compared split by split, with an error that overlapping splits need.

Of several variants of an embedding, the best on validation classes is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from phcle.embedding import LabelEmbedding
from phcle.errors import OptionError, some
from phcle.images import Search, ZeroShotTask, evaluate

__all__ = ["compare", "corrected_error", "evaluate_variants"]


def evaluate_variants(
    embeddings: Mapping[str, Mapping[str, LabelEmbedding]],
    searches: Mapping[str, Search],
    task: ZeroShotTask,
    *,
    seeds: Sequence[int] = (0,),
    **options: Any,
) -> pd.DataFrame:
    """Evaluate embeddings, each by its variant that is best on validation classes.

    Parameters
    ----------
    embeddings : mapping of str to mapping of str to LabelEmbedding
        Variants (dimensions, penalties) by name, of every embedding.
    searches : mapping of str to Search
        Classifiers and their options.
    task : ZeroShotTask
        The task.
    seeds : sequence of int, default (0,)
        Each seed draws other validation classes and seeds the classifiers.
    **options : Any
        Further options of `phcle.images.evaluate`.

    Returns
    -------
    pd.DataFrame
        Rows of `phcle.images.evaluate`, with a column `variant`.
    """
    names = [(name, variant) for name, own in embeddings.items() for variant in own]
    given = {str(i): embeddings[name][own] for i, (name, own) in enumerate(names)}
    parts = [evaluate(given, searches, [task], seed=seed, **options) for seed in seeds]
    frame: pd.DataFrame = pd.concat(parts, ignore_index=True)
    of_row = [names[int(i)] for i in frame["embedding"]]
    frame["embedding"] = [name for name, _ in of_row]
    frame.insert(1, "variant", [variant for _, variant in of_row])
    groups = frame.groupby(["seed", "classifier", "embedding"], sort=False)
    best: pd.DataFrame = frame.loc[groups["validation_accuracy"].idxmax()]
    return best


def compare(frame: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Compare every embedding with a reference, split by split.

    Accuracies are averaged over seeds first, as seeds bring no new classes. Random
    splits share most of their classes, so the standard error is corrected after Nadeau
    and Bengio (2003): variance · (1 / splits + unseen classes / seen classes). It is
    NaN for a single split.

    Parameters
    ----------
    frame : pd.DataFrame
        From `evaluate`.
    reference : str
        Name of the embedding to compare with.

    Returns
    -------
    pd.DataFrame
        One row for each task, classifier and embedding: `accuracy` and `spread` (mean
        and standard deviation over splits), `difference` from the reference, its
        corrected `standard_error`, and `n_splits`.

    Raises
    ------
    OptionError
        If the frame has no embedding of this name.
    """
    if reference not in set(frame["embedding"]):
        raise OptionError(
            f"reference must be one of {some(dict.fromkeys(frame['embedding']))}. "
            f"Got {reference!r} instead."
        )
    rows = []
    for (task, classifier), cell in frame.groupby(["task", "classifier"], sort=False):
        # (splits, embeddings)
        table = cell.pivot_table(
            index="split", columns="embedding", values="accuracy", aggfunc="mean"
        )
        ratio = float((cell["n_unseen"] / cell["n_seen"]).mean())
        for embedding in dict.fromkeys(cell["embedding"]):
            difference = table[embedding] - table[reference]
            rows.append(
                {
                    "task": task,
                    "classifier": classifier,
                    "embedding": embedding,
                    "accuracy": table[embedding].mean(),
                    "spread": table[embedding].std(ddof=1),
                    "difference": difference.mean(),
                    "standard_error": corrected_error(difference, ratio),
                    "n_splits": int(difference.count()),
                }
            )
    result: pd.DataFrame = pd.DataFrame(rows)
    return result


def corrected_error(differences: npt.ArrayLike, ratio: float) -> float:
    """Return the standard error of a mean over overlapping splits.

    The correction is that of Nadeau and Bengio (2003).

    Parameters
    ----------
    differences : array of shape (splits,)
        One value for each split; NaN values are left out.
    ratio : float
        Number of unseen classes divided by the number of seen classes.

    Returns
    -------
    float
        The corrected standard error; NaN for fewer than two values.

    Examples
    --------
    >>> round(corrected_error([1.0, 2.0, 3.0], 0.25), 4)
    0.7638
    """
    values = np.asarray(differences, np.float64)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return float("nan")
    return float(np.sqrt(values.var(ddof=1) * (1 / len(values) + ratio)))
