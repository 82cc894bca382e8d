"""Steps of rows: far too long ones are halved until the row improves."""

import numpy as np

from phcle.backends.protocol import choose_backend
from phcle.backends.row_blocks import split_rows
from phcle.contexts.protocol import Local, Term
from phcle.model.rows import Rows

STEEP = 1e4


class SteepParabola(Local):
    """A parabola that says that it is straight, so that steps are far too long."""

    def __init__(self, y):
        self.y = y
        self.value = 0.5 * STEEP * np.sum(y**2, axis=1)
        self.gradient = STEEP * y

    def product(self, z, *, exact=False):
        return 0.0 * z

    def mean_curvature(self):
        return np.zeros((self.y.shape[1],) * 2)

    def value_at(self, y, chosen):
        return SteepParabola(y).value


class SteepTerm(Term):
    def local(self, block, y, chosen=None):
        return SteepParabola(y)


def test_a_step_that_is_far_too_long_is_halved_until_the_row_improves(rng):
    backend = choose_backend("numpy", "cpu", "float64")
    y = rng.normal(size=(7, 3))
    blocks = split_rows(backend, [], len(y), dim=3, tile_columns=3)
    factor, values = Rows(backend, [SteepTerm()], 1.0, blocks).updated(y)
    assert (np.linalg.norm(factor, axis=1) < np.linalg.norm(y, axis=1)).all()
    assert values[0] < SteepParabola(y).value.sum()
