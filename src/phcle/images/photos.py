"""Features of pictures from a network of the transformers library.

The network is a folder that the library saved (safetensors weights, configuration,
image processor), or a name that the library downloads once and keeps. Pickled weights
are not loaded.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phcle.errors import FileError, OptionError
from phcle.files.reading import check_is_file
from phcle.optional_imports import import_optional

Floats = npt.NDArray[np.float32]

FILES = ("config.json", "preprocessor_config.json")
BATCH = 16


@dataclass(frozen=True, eq=False)
class FeatureNetwork:
    """A network without its head: features are means over its last layer.

    Make one with `FeatureNetwork.open`.

    Attributes
    ----------
    name : str
        The folder or name it was opened by.
    model : transformers.PreTrainedModel
        The network.
    processor : transformers.BaseImageProcessor
        Prepares pictures for the network.

    Examples
    --------
    >>> network = FeatureNetwork.open("microsoft/resnet-50")  # doctest: +SKIP
    >>> network.features([read_photo("cat.jpg")]).shape  # doctest: +SKIP
    (1, 2048)
    """

    name: str
    model: Any
    processor: Any

    @classmethod
    def open(cls, name: str) -> FeatureNetwork:
        """Read a network from a folder, or by a name that the library downloads.

        Parameters
        ----------
        name : str
            A folder with the files that `save_pretrained` of a network and of its image
            processor wrote, or a name on the model hub.

        Returns
        -------
        FeatureNetwork
            The network.

        Raises
        ------
        FileError
            If the folder or the name holds no such network.
        BackendError
            If the extra `phcle[vision]` is not installed.
        """
        is_local = Path(name).exists()
        if is_local and not all((Path(name) / file).is_file() for file in FILES):
            raise FileError(
                f"{name}: must be a folder with {' and '.join(FILES)}, as "
                "save_pretrained of a network and of its image processor write them."
            )
        library = import_optional(
            "transformers", extra="vision", purpose="features of pictures"
        )
        with _quiet():
            try:
                processor = library.AutoImageProcessor.from_pretrained(
                    name, local_files_only=is_local
                )
                model = library.AutoModel.from_pretrained(
                    name, local_files_only=is_local, use_safetensors=True
                )
            # The library raises many kinds of errors about missing or invalid files.
            except Exception as error:
                raise FileError(_unreadable(name, is_local, error)) from error
        model = getattr(model, "vision_model", model)  # without the half for text
        return cls(name, model.eval().requires_grad_(False), processor)

    def features(self, pictures: Iterable[Any]) -> Floats:
        """Compute the features of pictures.

        Parameters
        ----------
        pictures : iterable of PIL.Image.Image
            Pictures in RGB, read 16 at a time.

        Returns
        -------
        ndarray of float32, shape (pictures, features)
            The features.

        Raises
        ------
        OptionError
            If there are no pictures.
        """
        left, rows = iter(pictures), []
        while batch := list(islice(left, BATCH)):  # pictures may come from a disk
            rows.append(self._features(batch))
        if not rows:
            raise OptionError("features need one picture or more. Got none.")
        return np.vstack(rows)

    def _features(self, pictures: Sequence[Any]) -> Floats:
        """Features of one batch of pictures."""
        inputs = self.processor(images=pictures, return_tensors="pt")
        found = np.asarray(
            self.model(pixel_values=inputs["pixel_values"]).last_hidden_state,
            dtype=np.float32,
        )
        # (pictures, features, rows, columns) of a convolution, or (pictures, patches,
        # features) of a transformer
        return np.asarray(found.mean(axis=(2, 3) if found.ndim == 4 else 1))


def _unreadable(name: str, is_local: bool, error: Exception) -> str:
    """Message about a network that cannot be read."""
    first = (str(error).strip() or repr(error)).splitlines()[0]
    if is_local:
        return f"{name}: is not a network that can be read ({first})"
    return (
        f"{name}: is not a folder, and cannot be downloaded by this name ({first}); "
        "give a folder that save_pretrained wrote."
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and advice on standard error."""
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


PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
"""The only formats Pillow may try; it hands some others to programs of the system."""

MOST_PIXELS = 80_000_000
"""Most pixels of a picture: more than cameras make, and few enough for memory. A small
hostile file could otherwise decode to more memory than there is."""


def read_photo(path: str | Path) -> Any:
    """Read a picture from a file, in RGB and the right way up.

    Parameters
    ----------
    path : str or Path
        A JPEG, PNG, WebP, BMP, GIF or TIFF file.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Raises
    ------
    FileError
        If the file is missing, damaged, not a picture, or has over 80 million pixels.
    BackendError
        If the extra `phcle[vision]` is not installed.
    """
    import_optional("PIL", extra="vision", purpose="reading pictures")
    from PIL import Image, ImageOps, UnidentifiedImageError

    path = Path(path)
    check_is_file(path)
    try:
        with warnings.catch_warnings():
            # Our own limit is checked below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path, formats=FORMATS) as picture:
                width, height = picture.size
                if width * height > MOST_PIXELS:
                    raise Image.DecompressionBombError(f"{width} × {height}")
                return ImageOps.exif_transpose(picture).convert("RGB")
    except Image.DecompressionBombError as error:
        raise FileError(
            f"{path}: must have at most {MOST_PIXELS // 1_000_000} million pixels; "
            f"make it smaller ({error})."
        ) from error
    except UnidentifiedImageError as error:
        raise FileError(f"{path}: is not a picture that can be read.") from error
    # Decoders raise errors of many kinds about damaged files.
    except Exception as error:
        raise FileError(f"{path}: is a damaged picture ({error}).") from error
