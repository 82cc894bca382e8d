"""Add labels to an embedding.

A training label that is folded in again gets its own vector back, because `fit` ends
with the same solve. So similarities can be explained exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from phcle.arrays import AnyFloats
from phcle.backends.protocol import choose_backend
from phcle.contexts.alignment import align
from phcle.contexts.protocol import Context, Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, NumericalError, did_you_mean, some
from phcle.model.label_solve import TOO_LARGE, solve_labels
from phcle.model.problem import DeviceProblem, Problem
from phcle.tables.files import ReadContexts

PRECISE_UP_TO = 10**7
"""Up to so many pairs of labels and columns, double precision costs nothing that people
notice, and values far from those of the fit do not overflow."""


def fold_in(
    embedding: LabelEmbedding,
    contexts: Context | Iterable[Context],
    *,
    names: Mapping[str, str] | None = None,
    backend: str = "auto",
    device: str = "cpu",
    dtype: str = "float32",
) -> LabelEmbedding:
    """Embed labels that were not in the fit, from whatever is known about them.

    Nothing is learned anew: the vectors of the other labels stay the same. Columns that
    the fit did not have are ignored with a warning.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned.
    contexts : Context or iterable of Context
        What is known about the new labels, under the names that the contexts had at the
        fit. Any context may be missing. A taxonomy needs only the new edges. If the fit
        had a context of label names, it is made from the new labels' own names.
    names : mapping from str to str, optional
        Readable names of the new labels.
    backend : {"auto", "numpy", "numba", "torch"}, default "auto"
        Library that computes, as in `PHCLE`. Change it only for very many labels.
    device : str, default "cpu"
        Device that computes, as in `PHCLE`, such as "cuda".
    dtype : {"float32", "float64"}, default "float32"
        Precision, as in `PHCLE`; few labels are always placed in double precision.

    Returns
    -------
    LabelEmbedding
        The new labels alone. `embedding.joined(...)` adds them to the others, which
        their neighbours, families and predicted cells come from.

    Examples
    --------
    >>> from phcle import DescriptiveContext, PHCLE
    >>> tags = {"cat": ["fur"], "dog": ["fur", "tail"], "fish": ["fins"]}
    >>> embedding = PHCLE(dim=2).fit(DescriptiveContext.from_tags(tags)).embedding_
    >>> new = DescriptiveContext.from_tags({"wolf": ["fur", "tail"]})
    >>> wolf = fold_in(embedding, new)
    >>> wolf.labels
    ('wolf',)
    >>> wolf.nearest("wolf", k=1), embedding.joined(wolf).nearest("wolf", k=1)[0][0]
    ([], 'dog')
    """
    if not embedding.contexts:
        raise ContextError(
            "this embedding has no contexts, so no label can be folded in; use an "
            "embedding that PHCLE learned."
        )
    aligned = align(contexts, must_inform=False)
    given = {context.name: context for context in aligned.contexts}
    _refuse_foreign(given, embedding)
    labels = aligned.labels
    rows = []
    for learned in embedding.contexts:
        own = given.get(learned.given_name)
        rows.append(learned.for_new_labels(own, labels, names or {}))
    penalties = Penalties(**embedding.penalties)
    problem = Problem(labels, tuple(rows), penalties, embedding.dim)
    weights = {context.name: context.weight for context in rows}
    unknown = problem.uninformed(weights, is_fit=False)
    if unknown:
        raise ContextError(
            f"no context of the fit says anything about {some(unknown)}; give a "
            "parent, an attribute or another entry that the fit knows."
        )
    if problem.n_pairs <= PRECISE_UP_TO:
        dtype = "float64"
    chosen = choose_backend(backend, device, dtype, n_pairs=problem.n_pairs)
    factors = [context.factor for context in rows]
    with chosen.session():
        posed = DeviceProblem(chosen, problem)
        solved = solve_labels(posed, None, factors, weights).W
        vectors = solved.astype(embedding.vectors.dtype)
    _refuse_overflow(labels, vectors)
    kept = (context.learned(labels, context.weight, context.factor) for context in rows)
    match = contexts.match if isinstance(contexts, ReadContexts) else None
    return replace(
        embedding,
        labels=tuple(labels),
        vectors=vectors,
        contexts=tuple(kept),
        names={**embedding.names, **(names or {})},
        spellings={**embedding.spellings, **(match.spellings if match else {})},
        predictions={},
    )


def _refuse_foreign(given: Iterable[str], embedding: LabelEmbedding) -> None:
    """Refuse a context that the fit did not have."""
    fitted = list(dict.fromkeys(c.given_name for c in embedding.contexts))
    for name in given:
        if name not in fitted:
            raise ContextError(
                f"the fit had no context {name!r}.{did_you_mean(name, fitted)} It had "
                f"{some(fitted)}; set name= to the one that the new rows belong to."
            )


def _refuse_overflow(labels: tuple[str, ...], vectors: AnyFloats) -> None:
    """Refuse labels whose vectors are not finite in the precision of the embedding."""
    broken = [labels[i] for i in np.flatnonzero(~np.isfinite(vectors).all(axis=1))]
    if broken:
        raise NumericalError(
            f"the vectors of {some(broken)} would exceed {vectors.dtype}; {TOO_LARGE}"
        )
