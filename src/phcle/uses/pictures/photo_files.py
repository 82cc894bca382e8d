"""Pictures from files, looked at before they are unpacked."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from phcle.errors import FileError, PhcleError
from phcle.files.writing import check_is_file

__all__ = ["PHOTO_ENDINGS", "read_photo"]

PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
"""Those of the endings, and no other: some are handed to programs of the system."""

MOST_PIXELS = 80_000_000
"""A small file can unpack to more memory than there is; no camera makes such ones."""


def read_photo(path: str | Path) -> Any:
    """A picture in RGB, the right way up; a damaged or giant file is refused."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise PhcleError("pictures need: pip install 'phcle[vision]'") from error
    path = Path(path)
    check_is_file(path)
    try:
        with warnings.catch_warnings():
            # Checked below, by a limit of our own.
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
    return FileError(
        f"{path}: must have at most {MOST_PIXELS // 1_000_000} million pixels. "
        f"Got {size}; make it smaller."
    )
