"""Simple features of pictures: colours, a blurred copy, gradients, and an outline.

Nothing is learned and no label is used. Each picture is processed on its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["picture_features"]

Floats = npt.NDArray[np.float64]

N_HUES = 12
N_ANGLES = 48
N_RADII = 10
N_ORIENTATIONS = 16


def picture_features(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Compute simple features of pictures.

    Parameters
    ----------
    images : array of uint8
        Pictures: (images, size, size, 3).

    Returns
    -------
    array of float32
        Features: (images, features).
    """
    rows = [_features(image.astype(np.float64) / 255) for image in images]
    return np.array(rows, dtype=np.float32)


def _features(image: Floats) -> Floats:
    """All features of one picture (size, size, 3) with values from 0 to 1."""
    weight = _salience(image)
    return np.concatenate(
        [
            _hues(image),
            _lightness(image, weight),
            _blurred(image, 4).ravel(),
            _orientations(image),
            _outline(weight),
        ]
    )


def _salience(image: Floats) -> Floats:
    """How much each pixel differs from the border of the picture, from 0 to 1."""
    border = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    apart = np.linalg.norm(image - np.median(border, axis=0), axis=2)
    return np.asarray(np.clip((apart - 0.08) / 0.25, 0, 1))


def _hues(image: Floats) -> Floats:
    """A histogram of hues in which a pixel counts as much as it is coloured."""
    red, green, blue = np.moveaxis(image, 2, 0)
    # The plane at right angles to grey: its angle is the hue, its radius the chroma.
    one, other = red - (green + blue) / 2, np.sqrt(0.75) * (green - blue)
    chroma = np.hypot(one, other)
    place = (np.arctan2(other, one) / (2 * np.pi) % 1.0) * N_HUES
    counts = _soft_histogram(place.ravel(), chroma.ravel() ** 2, N_HUES)
    return np.asarray(np.sqrt(counts / max(counts.sum(), 1e-9)))


def _lightness(image: Floats, weight: Floats) -> Floats:
    """How lightness is spread over what stands out, and how rough it is."""
    grey = image.mean(axis=2)
    inside = weight > 0.5
    values = grey[inside] if inside.any() else grey.ravel()
    steps = np.abs(np.diff(grey, axis=0))[:, :-1] + np.abs(np.diff(grey, axis=1))[:-1]
    marks = np.quantile(values, [0.1, 0.25, 0.5, 0.75, 0.9])
    return np.array([*marks, values.std(), steps.mean(), inside.mean()])


def _blurred(image: Floats, n: int) -> Floats:
    """Means over n × n fields of the picture."""
    rows = np.array_split(image, n, axis=0)
    return np.array(
        [
            [field.mean(axis=(0, 1)) for field in np.array_split(row, n, axis=1)]
            for row in rows
        ]
    )


def _orientations(image: Floats) -> Floats:
    """Which ways edges run, fine and coarse, whatever way the picture is turned.

    Turning a picture shifts the histogram of orientations; the sizes of its Fourier
    coefficients do not change by a shift.
    """
    found = []
    for n in (1, 2):
        size = image.shape[0] // n
        grey = image[: size * n, : size * n].mean(axis=2)
        grey = grey.reshape(size, n, size, n).mean(axis=(1, 3))
        down, across = np.gradient(grey)
        strength = np.hypot(down, across)
        place = (np.arctan2(down, across) / np.pi % 1.0) * N_ORIENTATIONS
        counts = _soft_histogram(place.ravel(), strength.ravel(), N_ORIENTATIONS)
        total = counts.sum()
        waves = np.abs(np.fft.rfft(counts))[1:] / max(total, 1e-9)
        found.append([*waves, total / strength.size])
    return np.concatenate(found)


def _outline(weight: Floats) -> Floats:
    """What stands out in polar coordinates around its centre, free of rotation."""
    size = weight.shape[0]
    total = max(weight.sum(), 1e-9)
    down, across = np.mgrid[:size, :size]
    centre = np.array([(weight * down).sum(), (weight * across).sum()]) / total
    spread = ((down - centre[0]) ** 2 + (across - centre[1]) ** 2) * weight
    reach = 2.2 * np.sqrt(spread.sum() / total)
    angle = np.arange(N_ANGLES) * (2 * np.pi / N_ANGLES)
    radius = (np.arange(N_RADII) + 0.5) / N_RADII * reach
    rows = centre[0] + radius[:, None] * np.sin(angle)
    columns = centre[1] + radius[:, None] * np.cos(angle)
    polar = _sample(weight, rows, columns)  # (radii, angles)
    waves = np.abs(np.fft.rfft(polar, axis=1))[:, :9] / N_ANGLES
    return np.asarray(waves.ravel())


def _sample(image: Floats, rows: Floats, columns: Floats) -> Floats:
    """Values between pixels; zero outside the picture."""
    padded = np.pad(image, 1)
    rows = np.clip(rows + 1, 0, padded.shape[0] - 1.001)
    columns = np.clip(columns + 1, 0, padded.shape[1] - 1.001)
    top, left = rows.astype(np.int64), columns.astype(np.int64)
    low, right = rows - top, columns - left
    upper = padded[top, left] * (1 - right) + padded[top, left + 1] * right
    lower = padded[top + 1, left] * (1 - right) + padded[top + 1, left + 1] * right
    return upper * (1 - low) + lower * low


def _soft_histogram(place: Floats, weight: Floats, n: int) -> Floats:
    """A circular histogram; each value is shared between its two nearest bins."""
    below = np.floor(place).astype(np.int64)
    share = place - below
    counts = np.zeros(n)
    np.add.at(counts, below % n, weight * (1 - share))
    np.add.at(counts, (below + 1) % n, weight * share)
    return counts
