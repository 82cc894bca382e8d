"""The colours of groups and scales can be told apart, also by colour-blind readers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import phcle

N_GROUPS = 20
# Linear RGB to the cone responses of OKLab, and these to its coordinates.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
# What readers without red or green cones see (Machado et al. 2009, severity 1).
BLIND = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def colours(kind, scheme):
    """The colours `--kind-…` of the style sheet, in their order."""
    styles = Path(phcle.__file__).parent / "atlas" / "static" / "style.css"
    text = styles.read_text("utf-8")
    found = re.findall(
        rf"--{kind}-(?:\d+|other): light-dark\((#\w{{6}}), (#\w{{6}})\)", text
    )
    return [pair[scheme == "dark"] for pair in found]


def oklab(hexes, seen_as=None):
    rgb = np.array([[int(x[i : i + 2], 16) / 255 for i in (1, 3, 5)] for x in hexes])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    if seen_as is not None:
        linear = np.clip(linear @ np.array(BLIND[seen_as]).T, 0, 1)
    return np.cbrt(linear @ TO_CONES.T) @ TO_LAB.T


def least_distance(lab):
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=-1)
    return apart[np.triu_indices(len(lab), 1)].min()


# 0.02 is about the smallest difference that can be seen side by side.
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_twenty_groups_and_other_differ(scheme):
    groups = colours("group", scheme)
    assert len(groups) == N_GROUPS + 1
    assert least_distance(oklab(groups)) > 0.09
    for reader in BLIND:
        assert least_distance(oklab(groups, reader)) > 0.04
        assert least_distance(oklab(groups[:6], reader)) > 0.07


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_scale_goes_from_near_the_page_to_far_from_it(scheme):
    lightness = oklab(colours("ramp", scheme))[:, 0]
    steps = np.diff(lightness) * (1 if scheme == "dark" else -1)
    assert steps.min() > 0.05
