"""Features of pictures from a network of the transformers library.

The network is a folder on disk as the library saves one (weights as safetensors, its
configuration, and how pictures are prepared for it), or a name that the library
downloads once and keeps. Weights that are pickled are not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError, OptionError, PhcleError

__all__ = ["FeatureNetwork"]

Floats = npt.NDArray[np.float32]

FILES = ("config.json", "preprocessor_config.json")
BATCH = 16
N_PROBED = 32
"""Numbers of the test picture's features that tell one network from another."""
TOLERANCE = 1e-2
"""Processors and library versions round differently; other weights differ by far."""


@dataclass(frozen=True, eq=False)
class FeatureNetwork:
    """A network without its head: a picture's features are its last layer's means."""

    name: str
    model: Any
    processor: Any

    @classmethod
    def open(cls, name: str) -> FeatureNetwork:
        """Read a network from a folder, or by the name that the library knows."""
        is_local = Path(name).exists()
        if is_local and not all((Path(name) / file).is_file() for file in FILES):
            raise FileError(
                f"{name}: must be a folder with {' and '.join(FILES)}, as "
                "save_pretrained of a network and of its image processor write them."
            )
        try:
            from transformers import AutoImageProcessor, AutoModel
        except ImportError as error:
            raise PhcleError(
                "features of pictures need: pip install 'phcle[vision]'"
            ) from error
        with _quiet():
            try:
                processor = AutoImageProcessor.from_pretrained(
                    name, local_files_only=is_local
                )
                model = AutoModel.from_pretrained(
                    name, local_files_only=is_local, use_safetensors=True
                )
            # The library has many ways to say that a file is missing or is not one.
            except Exception as error:
                raise FileError(_unreadable(name, is_local, error)) from error
        model = getattr(model, "vision_model", model)  # of a model with a text half too
        return cls(name, model.eval().requires_grad_(False), processor)

    def features(self, pictures: Iterable[Any]) -> Floats:
        """Features (pictures, features) of pictures in RGB."""
        rows = [self._features(batch) for batch in _batches(pictures)]
        if not rows:
            raise OptionError("features need one picture or more. Got none.")
        return np.vstack(rows)

    def card(self) -> dict[str, Any]:
        """What a map remembers of the network: its name, and how to know it again."""
        return {
            "name": self.name,
            "preparation": _plain(self.processor.to_dict()),
            "probe": self._probe(),
        }

    def check_is(self, card: Mapping[str, Any]) -> None:
        """Refuse a network, or a preparation of pictures, other than a map's own."""
        ours, theirs = np.array(self._probe()), np.array(card["probe"])
        if ours.shape == theirs.shape:
            reach = max(float(np.abs(theirs).max()), 1e-6)
            if np.abs(ours - theirs).max() <= TOLERANCE * reach:
                return
        raise OptionError(
            f"the network {self.name!r} gives other features than {card['name']!r}, "
            "which the map was learned with; give that one with --network, or learn "
            "the map again."
        )

    def _features(self, pictures: Sequence[Any]) -> Floats:
        inputs = self.processor(images=pictures, return_tensors="pt")
        found = np.asarray(
            self.model(pixel_values=inputs["pixel_values"]).last_hidden_state,
            dtype=np.float32,
        )
        # (pictures, features, rows, columns) of a convolution, or (pictures, patches,
        # features) of a transformer
        return np.asarray(found.mean(axis=(2, 3) if found.ndim == 4 else 1))

    def _probe(self) -> list[float]:
        """Features of a fixed picture: colours that change all over it."""
        from PIL import Image

        down, across = np.mgrid[:96, :96]
        waves = [np.sin(down * a + across * b) for a, b in ((0.1, 0), (0, 0.2), (1, 2))]
        pixels = np.stack(waves, axis=2) * 127 + 128
        picture = Image.fromarray(pixels.astype(np.uint8))
        return [float(x) for x in self._features([picture])[0, :N_PROBED]]


def _batches(pictures: Iterable[Any]) -> Iterator[list[Any]]:
    """A few at a time: pictures may be read from disk as they are asked for."""
    left = iter(pictures)
    while batch := list(islice(left, BATCH)):
        yield batch


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that JSON can hold."""
    kinds = (str, int, float, bool, list, dict, type(None))
    return {key: value for key, value in settings.items() if isinstance(value, kinds)}


def _unreadable(name: str, is_local: bool, error: Exception) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
    if is_local:
        return f"{name}: is not a network that can be read ({first})"
    return (
        f"{name}: is no folder, and cannot be downloaded by this name ({first}); give "
        "the folder of a network that was saved with save_pretrained."
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither progress bars nor advice on standard error."""
    from transformers.utils import logging

    level, had_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if had_bar:
            logging.enable_progress_bar()
