"""What an embedding holds and how it was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phcle.answers import EmbeddingSummary
from phcle.embedding.skill import completion_skill
from phcle.errors import some

if TYPE_CHECKING:
    from phcle.embedding.label_embedding import LabelEmbedding


def summarise(embedding: LabelEmbedding) -> EmbeddingSummary:
    """Say what an embedding holds and how it was learned.

    Parameters
    ----------
    embedding : LabelEmbedding
        Any embedding, learned or made from vectors.

    Returns
    -------
    EmbeddingSummary
        Sizes, contexts, options, versions and input files.
    """
    from phcle.embedding.storage import VERSION

    last = embedding.history[-1] if embedding.history else {}
    return EmbeddingSummary(
        labels=len(embedding),
        dim=embedding.dim,
        contexts=tuple(
            {
                "name": context.name,
                "kind": context.kind,
                "labels": len(context.observed_labels),
                "coverage": len(context.observed_labels) / max(len(embedding), 1),
                "columns": len(context.columns),
                "weight": context.weight,
                "hierarchy": recipe and {"kind": recipe.kind, "decay": recipe.decay},
            }
            for context in embedding.contexts
            for recipe in [getattr(context, "recipe", None)]  # of hierarchies alone
        ),
        # The last record is the final solve for the labels, not a sweep.
        sweeps=max(len(embedding.history) - 1, 0),
        objective=last.get("objective"),
        seed=embedding.options.get("random_state"),
        options=dict(embedding.options),
        versions=dict(embedding.versions),
        run=dict(embedding.origin.get("run", {})),
        files=tuple(embedding.origin.get("files", ())),
        chosen=_chosen(embedding),
        completion=completion_skill(embedding) if embedding.predictions else None,
        format_version=VERSION,
    )


def _chosen(embedding: LabelEmbedding) -> dict[str, Any] | None:
    """The settings that were left open, and columns on a log scale."""
    found: Any = embedding.origin.get("chosen")
    try:
        setting, trials = dict(found["setting"]), list(found["trials"])
        words = [str(word) for word in found["words"]]
    except (KeyError, TypeError, ValueError):  # older and forged files hold anything
        return None
    for context in embedding.contexts:
        if logs := getattr(context, "log_columns", ()):
            shown = some(logs)
            words.append(f"{context.name}: {shown} fitted on a log scale.")
    return {"setting": setting, "trials": trials, "words": words}
