"""Make the score of `phcle tune` from its flags."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import FileError, OptionError, did_you_mean

if TYPE_CHECKING:
    from phcle.contexts.readers.files_to_contexts import ReadContexts
    from phcle.tuning import Score
    from phcle.uses.zero_shot import ZeroShotTask

__all__ = ["load_function", "make_score"]


def make_score(
    contexts: ReadContexts,
    *,
    features: Path | None,
    classifier: str,
    complete: str | None,
    metric: str,
    hide: str,
    score: str | None,
    splits: int | None,
    seed: int,
) -> Score:
    """Make the score that the flags choose.

    Parameters
    ----------
    contexts : ReadContexts
        What is fitted.
    features : Path or None
        Image features, for zero-shot accuracy.
    classifier : str
        Classifier for these features.
    complete : str or None
        Context whose hidden cells or labels are predicted.
    metric : str
        Measure of this prediction.
    hide : str
        What is hidden: "cells", "labels" or "auto".
    score : str or None
        A user's function.
    splits : int or None
        Number of random splits; None is the default of the score.
    seed : int
        Seed of the splits.

    Returns
    -------
    Score
        The score.
    """
    from phcle.contexts import DescriptiveContext
    from phcle.tuning import CompletionScore, FunctionScore, ZeroShotScore
    from phcle.tuning.hidden_cells import what_to_hide

    asked = [features, complete, score]
    if sum(x is not None for x in asked) != 1:
        raise OptionError(
            "choose how trials are scored: give one of --features FOLDER, --complete "
            f"CONTEXT, --score MODULE:FUNCTION. Got {sum(map(bool, asked))} of them."
        )
    if score is not None:
        return FunctionScore(load_function(score), score)
    own: dict[str, Any] = {"seed": seed}
    if splits is not None:
        own["n_splits"] = splits
    if complete is not None:
        made = CompletionScore(complete, metric, hide=hide, **own)
        table = next((c for c in contexts if c.name == complete), None)
        if hide == "auto" and isinstance(table, DescriptiveContext):
            made = replace(made, hide=what_to_hide(table, made.share))
        return made
    assert features is not None
    return ZeroShotScore(_task(features, contexts), classifier, **own)


def _task(features: Path, contexts: ReadContexts) -> ZeroShotTask:
    """Images of the classes that the contexts know, with test classes."""
    import numpy as np

    from phcle.contexts.alignment import align
    from phcle.datasets import load_feature_folder
    from phcle.embedding import LabelEmbedding
    from phcle.uses.zero_shot import user_task

    known = align(contexts, labels=contexts.labels, must_inform=False).labels
    # Matching classes with labels needs ids and names only, so vectors are zero.
    matcher = LabelEmbedding(known, np.zeros((len(known), 1)), names=contexts.names)
    has_split = {"seen", "unseen"} <= set(load_feature_folder(features).splits)
    return user_task(matcher, features, None if has_split else 1).tasks[0]


def load_function(text: str) -> Callable[..., Any]:
    """Import a function by name.

    Parameters
    ----------
    text : str
        `module:function` or `file.py:function`.

    Returns
    -------
    callable
        The function.
    """
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        raise OptionError(
            "--score must look like module:function or file.py:function. "
            f"Got {text!r} instead."
        )
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else _module(where)
    except FileError:
        raise
    except Exception as error:  # a user's file may raise anything
        raise FileError(
            f"{where}: cannot be imported ({type(error).__name__}: {error})."
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        raise OptionError(
            f"{where} has no function {name!r}.{did_you_mean(name, dir(module))}"
        )
    return found  # type: ignore[no-any-return]


def _module(name: str) -> Any:
    """Import a module that is installed or in the working folder."""
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove("")


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise FileError(f"{path}: no such file.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
