"""The problem that an embedding solves, from the data that it stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phcle.backends.protocol import choose_backend
from phcle.contexts.base.penalties import Penalties
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError
from phcle.solver.problem import DeviceProblem, Problem, State

__all__ = ["problem_of"]


def problem_of(embedding: LabelEmbedding) -> tuple[DeviceProblem, State]:
    """Pose the problem of an embedding again.

    Parameters
    ----------
    embedding : LabelEmbedding
        An embedding that `PHCLE` learned, in memory or loaded.

    Returns
    -------
    device : DeviceProblem
        The problem on the back end for its size.
    state : State
        The vectors and factors of the embedding.
    """
    stored = [context for context in embedding.contexts if context.data is not None]
    if not stored:
        raise ContextError(
            "this embedding has no contexts with data, so nothing can be hidden and "
            "predicted; use an embedding that PHCLE learned."
        )
    chosen: Mapping[str, Any] = embedding.origin.get("chosen", {}).get("setting", {})
    shrinkage = chosen.get("shrinkage", {})
    contexts = tuple(
        context.again(embedding.labels).shrunk(shrinkage.get(context.name))
        for context in stored
    )
    penalties = Penalties(**embedding.penalties)
    problem = Problem(embedding.labels, contexts, penalties, embedding.dim)
    backend = choose_backend(n_pairs=problem.n_pairs)
    state = State(
        backend.asarray(embedding.vectors),
        tuple(backend.asarray(context.factor) for context in stored),
        {context.name: context.weight for context in stored},
    )
    return DeviceProblem(backend, problem), state
