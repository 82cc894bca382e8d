"""Read pictures from files, with a check of their size before they are decoded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from phcle.errors import FileError
from phcle.files.writing import check_is_file
from phcle.optional_imports import import_optional

__all__ = ["PHOTO_ENDINGS", "read_photo"]

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
                    raise _too_large(path, f"{width} × {height} pixels")
                return ImageOps.exif_transpose(picture).convert("RGB")
    except Image.DecompressionBombError as error:
        raise _too_large(path, "far more pixels") from error
    except UnidentifiedImageError as error:
        raise FileError(f"{path}: is not a picture that can be read.") from error
    except FileError:
        raise
    # Decoders raise errors of many kinds about damaged files.
    except Exception as error:
        raise FileError(f"{path}: is a damaged picture ({error}).") from error


def _too_large(path: Path, size: str) -> FileError:
    """The error about a picture with too many pixels."""
    return FileError(
        f"{path}: must have at most {MOST_PIXELS // 1_000_000} million pixels. "
        f"Got {size}; make it smaller."
    )
