"""Images and labels: zero-shot classifiers, their evaluation, and maps of features.

A classifier recognises classes without training images; an `ImageMap` turns features of
an image into a vector of an embedding, which says its labels and attributes.

Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = ("phcle.uses.zero_shot", "phcle.uses.pictures", "phcle.datasets")


def __getattr__(name: str) -> Any:
    for home in _HOMES:
        module = importlib.import_module(home)
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'phcle.images' has no attribute {name!r}")
