"""Drawing one shape: outlines and textures as functions of the plane, in NumPy.

A picture is computed on a grid four times as fine and averaged, so that edges are
smooth. All random choices come from the generator that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["COLOURS", "SHAPES", "TEXTURES", "draw_shape"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Region = Callable[[Floats, Floats], Mask]  # points of the plane -> inside or not

FINER = 4

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (0.84, 0.15, 0.16),
    "orange": (0.96, 0.55, 0.11),
    "yellow": (0.93, 0.83, 0.14),
    "green": (0.18, 0.62, 0.24),
    "blue": (0.13, 0.38, 0.80),
    "purple": (0.53, 0.25, 0.68),
}


def _polygon(n_corners: int, inner: float | None = None) -> Region:
    """A regular polygon with a corner on top, or a star if `inner` is given.

    By symmetry one edge decides: fold the angle into half a sector, from a corner to
    the middle of a side (or to the notch between two points).
    """
    half = np.pi / n_corners
    end = np.cos(half) if inner is None else inner
    notch = end * np.array([np.sin(half), np.cos(half)])

    def inside(x: Floats, y: Floats) -> Mask:
        angle = np.arctan2(x, y)
        folded = np.abs((angle + half) % (2 * half) - half)
        radius = np.hypot(x, y)
        across, along = radius * np.sin(folded), radius * np.cos(folded)
        # On the origin's side of the line from the corner (0, 1) to the notch.
        return np.asarray(notch[0] * (along - 1) <= across * (notch[1] - 1))

    return inside


def _square(x: Floats, y: Floats) -> Mask:
    return np.maximum(np.abs(x), np.abs(y)) <= 0.70


def _cross(x: Floats, y: Floats) -> Mask:
    small, large = np.sort(np.abs(np.stack([x, y])), axis=0)
    return np.asarray((large <= 0.95) & (small <= 0.32))


def _circle(x: Floats, y: Floats) -> Mask:
    return np.hypot(x, y) <= 0.90


def _ring(x: Floats, y: Floats) -> Mask:
    radius = np.hypot(x, y)
    return (radius <= 0.95) & (radius >= 0.48)


def _crescent(x: Floats, y: Floats) -> Mask:
    # Moved and shrunk, so that it fills the unit circle as the others do.
    x, y = 1.18 * x, 1.18 * y
    return (np.hypot(x + 0.25, y) <= 1.0) & (np.hypot(x + 0.80, y) >= 0.80)


SHAPES: dict[str, Region] = {
    "triangle": _polygon(3),
    "square": _square,
    "hexagon": _polygon(6),
    "star": _polygon(5, inner=0.42),
    "cross": _cross,
    "circle": _circle,
    "ring": _ring,
    "crescent": _crescent,
}


def _plain(x: Floats, y: Floats) -> Mask:
    return np.zeros(x.shape, dtype=bool)


def _striped(x: Floats, y: Floats) -> Mask:
    return (x / 0.36 + 0.25) % 1.0 < 0.5


def _dotted(x: Floats, y: Floats) -> Mask:
    # Every other row of dots is shifted by half a step.
    row = np.floor(y / 0.36 + 0.5)
    across = (x / 0.42 + 0.5 * (row % 2) + 0.5) % 1.0 - 0.5
    return np.hypot(across * 0.42, y - row * 0.36) < 0.125


def _checked(x: Floats, y: Floats) -> Mask:
    step = 0.30
    return (np.floor(x / step) + np.floor(y / step)) % 2 < 1


TEXTURES: dict[str, Region] = {
    "plain": _plain,
    "striped": _striped,
    "dotted": _dotted,
    "checked": _checked,
}


def draw_shape(
    shape: str, colour: str, texture: str, *, size: int, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Draw one shape at a random place, size, rotation and lightness.

    Parameters
    ----------
    shape : str
        A key of `SHAPES`.
    colour : str
        A key of `COLOURS`.
    texture : str
        A key of `TEXTURES`.
    size : int
        Height and width of the picture in pixels.
    rng : numpy.random.Generator
        Source of all random choices.

    Returns
    -------
    array of uint8
        The picture: (size, size, 3).
    """
    radius = rng.uniform(0.50, 0.86)  # of half the picture
    place = rng.uniform(-1, 1, size=2) * (0.94 - radius)
    turn = np.deg2rad(rng.uniform(-180, 180))
    tint = np.array(COLOURS[colour]) * rng.uniform(0.82, 1.15)
    tint = np.clip(tint + rng.normal(0, 0.05, size=3), 0, 1)
    paper = rng.uniform(0.78, 0.94) + rng.normal(0, 0.035, size=3)
    slope = rng.normal(0, 0.04, size=2)  # light falls unevenly
    phase = rng.uniform(-0.5, 0.5, size=2)  # where stripes and dots begin

    axis = (np.arange(size * FINER) + 0.5) * (2 / (size * FINER)) - 1
    # Points of the fine grid, from −1 to 1, seen from the shape: (fine, fine).
    x = (axis[None, :] - place[0]) / radius
    y = (place[1] - axis[:, None]) / radius
    x, y = x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)
    inside = SHAPES[shape](x, y)
    marked = inside & TEXTURES[texture](x + phase[0], y + phase[1])

    # Marks are darker on a light colour and lighter on a dark one, never like paper.
    mark = 0.5 * tint if np.mean(COLOURS[colour]) > 0.5 else 0.55 * tint + 0.45
    covered, spotted = _share(inside, size), _share(marked, size)  # (size, size, 1)
    picture = (1 - covered) * paper + (covered - spotted) * tint + spotted * mark
    light = axis.reshape(size, FINER).mean(axis=1)
    picture += (slope[0] * light[None, :] + slope[1] * light[:, None])[..., None]
    picture += rng.normal(0, 0.04, size=picture.shape)
    return np.asarray(np.round(np.clip(picture, 0, 1) * 255), dtype=np.uint8)


def _share(mask: Mask, size: int) -> Floats:
    """Which part of each pixel the mask covers."""
    fields = mask.reshape(size, FINER, size, FINER)
    return np.asarray(fields.mean(axis=(1, 3)))[..., None]
