"""How well the confidences of predicted attributes are calibrated.

Some described labels are hidden from one context, PHCLE learns from the rest, and the
confidences of its predictions for the hidden labels are compared with the truth. The
calibration has seen neither: it hides values of its own inside the fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phcle import PHCLE
from phcle.contexts import Context, DescriptiveContext
from phcle.datasets import load_imagenet1k
from phcle.embedding.describe import confidences
from phcle.errors import ContextError, ConvergenceWarning, check_choice
from phcle.tuning.completion import dense_values
from phcle_paper.datasets import load_lad, match_lad
from phcle_paper.parallel import in_parallel
from phcle_paper.studies.partial_contexts import awa_of_imagenet

if TYPE_CHECKING:
    from phcle_paper.studies.registry import Request

__all__ = ["NEEDS", "Settings", "run"]

NEEDS = ("awa", "lad")

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Settings:
    """All that the study depends on."""

    sources: Sequence[str]
    share: float
    n_splits: int
    seed: int
    n_bins: int
    options: Mapping[str, Any]


def run(settings: Settings, request: Request) -> dict[str, Any]:
    """The table: how far stated and true shares lie apart, by context and in bins."""
    if request.quick:
        settings = replace(settings, n_splits=1)
    calls = [
        (source, split, settings, request.data)
        for source in settings.sources
        for split in range(settings.n_splits)
    ]
    found: dict[str, list[tuple[Floats, Floats, Flags]]] = {}
    for done, (n, result) in enumerate(in_parallel(_trial, calls, request.jobs), 1):
        found.setdefault(str(calls[n][0]), []).append(result)
        request.tell(f"{done} of {len(calls)} fits")
    rows = [
        _row(source, *_joined(found[source]), settings) for source in settings.sources
    ]
    return {
        "title": "Confidence of predicted attributes against the truth",
        "dataset": "imagenet-1k",
        "lead": [
            f"Whole labels hidden from one context ({settings.share:.0%} of those it "
            f"describes, {settings.n_splits} draws), predicted from the others:"
        ],
        "columns": {
            "source": ("context",),
            "n_values": ("hidden values", ","),
            "presence": ("present", ".1%"),
            "brier": ("Brier score", ".4f"),
            "brier_of_presence": ("of the attribute's share", ".4f"),
            "error": ("calibration error", ".1%"),
            "sure": ("at least 50 % sure", ","),
            "sure_and_right": ("of them right", ".1%"),
        },
        "rows": rows,
        "findings": [
            f"{row['source']}: said → true: "
            + ", ".join(f"{x['said']:.0%} → {x['true']:.0%}" for x in row["bins"])
            for row in rows
        ],
        "caveats": [
            "calibration error: mean distance of said and true share over bins of "
            f"equally many values ({settings.n_bins})",
        ],
    }


def _joined(
    trials: Sequence[tuple[Floats, Floats, Flags]],
) -> tuple[Floats, Floats, Flags]:
    """Values of several draws, one after the other."""
    sure, usual, has_it = zip(*trials, strict=True)
    return np.concatenate(sure), np.concatenate(usual), np.concatenate(has_it)


def _trial(
    source: str, split: int, settings: Settings, data: Path
) -> tuple[Floats, Floats, Flags]:
    """Confidences, usual shares and truth of the values of hidden labels."""
    contexts, place = _contexts(source, data)
    described = contexts[place]
    assert isinstance(described, DescriptiveContext)
    rng = np.random.default_rng([settings.seed, split])
    labels = rng.permutation(sorted(described.observed_labels)).tolist()
    n_hidden = max(1, round(settings.share * len(labels)))
    hidden, kept = labels[:n_hidden], labels[n_hidden:]
    contexts[place] = described.rows_for(kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = PHCLE(**settings.options, random_state=settings.seed).fit(contexts)
    embedding = model.embedding_
    fitted: Any = next(c for c in embedding.contexts if c.name == source)
    sure = confidences(embedding, fitted, embedding.select(hidden).vectors)
    if fitted.calibration is None or sure is None:
        raise ContextError(f"context {source!r} has too few labels to calibrate.")
    truth = dense_values(described, hidden)
    has_it = truth > described.matrix.threshold(fitted.offset)
    is_known = ~np.isnan(truth)
    usual = np.broadcast_to(fitted.calibration.presence, sure.shape)
    return sure[is_known], usual[is_known], has_it[is_known]


def _contexts(source: str, data: Path) -> tuple[list[Context], int]:
    """The contexts of ImageNet-1K, and the place of the one that is judged."""
    own: list[Context] = list(load_imagenet1k().contexts())
    loaders = {
        "AWA attributes": lambda: awa_of_imagenet(data / "awa"),
        "LAD attributes": lambda: match_lad(load_lad(data / "lad")).context,
    }
    names = [context.name for context in own]
    check_choice("a source", source, [*names, *loaders])
    if source in names:
        return own, names.index(source)
    return [*own, replace(loaders[source](), name=source)], len(own)


def _row(
    source: str, sure: Floats, usual: Floats, has_it: Flags, settings: Settings
) -> dict[str, Any]:
    order = np.argsort(sure, kind="stable")
    bins = [
        {"said": float(sure[part].mean()), "true": float(has_it[part].mean())}
        for part in np.array_split(order, settings.n_bins)
        if len(part)
    ]
    likely = sure >= 0.5
    return {
        "source": source,
        "n_values": len(sure),
        "presence": float(has_it.mean()),
        "brier": float(((sure - has_it) ** 2).mean()),
        "brier_of_presence": float(((usual - has_it) ** 2).mean()),
        "error": float(np.mean([abs(x["said"] - x["true"]) for x in bins])),
        "sure": int(likely.sum()),
        "sure_and_right": float(has_it[likely].mean()) if likely.any() else None,
        "bins": bins,
    }
