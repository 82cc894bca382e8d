from __future__ import annotations

import pytest

from phcle.datasets import load_shapes
from phcle.unseen_shapes import draw_answers, recognise_new_shapes


@pytest.fixture(scope="module")
def found():
    return recognise_new_shapes(load_shapes(n_images=10))


def test_attributes_of_some_classes_let_unseen_ones_be_recognised(found):
    tree, both = found.accuracies.values()
    assert found.chance == 1 / 8
    assert tree > 2 * found.chance
    assert both > tree + 0.2
    assert both > 0.7


def test_the_sheet_of_answers_is_a_picture(found, tmp_path):
    pytest.importorskip("matplotlib")
    draw_answers(found, tmp_path / "shapes.png")
    assert (tmp_path / "shapes.png").read_bytes().startswith(b"\x89PNG")
