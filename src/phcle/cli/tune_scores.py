"""From flags to what trials are judged by."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.errors import FileError, OptionError, did_you_mean

if TYPE_CHECKING:
    from phcle.contexts.base import Context
    from phcle.tuning import Score
    from phcle.uses.zero_shot import ZeroShotTask

__all__ = ["Judged", "load_function", "make_score"]


@dataclass(frozen=True)
class Judged:
    """What the flags say about the score."""

    features: Path | None
    classifier: str
    complete: str | None
    metric: str
    score: str | None
    splits: int | None
    seed: int


def make_score(
    judged: Judged,
    contexts: Sequence[Context],
    labels: tuple[str, ...] | None,
    names: Mapping[str, str],
) -> Score:
    """The one score that the flags ask for."""
    from phcle.tuning import CompletionScore, FunctionScore, ZeroShotScore

    asked = [judged.features, judged.complete, judged.score]
    if sum(x is not None for x in asked) != 1:
        raise OptionError(
            "say by what trials are judged: one of --features FOLDER, --complete "
            f"CONTEXT, --score MODULE:FUNCTION. Got {sum(map(bool, asked))} of them."
        )
    if judged.score is not None:
        return FunctionScore(load_function(judged.score), judged.score)
    own: dict[str, Any] = {"seed": judged.seed}
    if judged.splits is not None:
        own["n_splits"] = judged.splits
    if judged.complete is not None:
        return CompletionScore(judged.complete, judged.metric, **own)
    assert judged.features is not None
    task = _task(judged.features, contexts, labels, names)
    return ZeroShotScore(task, judged.classifier, **own)


def _task(
    features: Path,
    contexts: Sequence[Context],
    labels: tuple[str, ...] | None,
    names: Mapping[str, str],
) -> ZeroShotTask:
    """The images of classes that the contexts know, with classes kept for the test."""
    import numpy as np

    from phcle.contexts.alignment import align
    from phcle.datasets import load_feature_folder
    from phcle.embedding import LabelEmbedding
    from phcle.uses.zero_shot import user_task

    known = align(contexts, labels=labels, must_inform=False).labels
    # Classes are matched with labels by id or name; vectors play no part in that.
    matcher = LabelEmbedding(known, np.zeros((len(known), 1)), names=names)
    has_split = {"seen", "unseen"} <= set(load_feature_folder(features).splits)
    return user_task(matcher, features, None if has_split else 1).tasks[0]


def load_function(text: str) -> Callable[..., Any]:
    """The function that `module:function` or `file.py:function` names."""
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
    except Exception as error:  # whatever a user's file does while it is read
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
    """A module that is installed, or lies in the working folder."""
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
