"""The term of votes: Σ_known |v| log(1 + exp(−sign(v) x))."""

from __future__ import annotations

from copy import copy

from phcle.contexts.protocol import EVERY, Local, Term, padded_blocks


class VotesTerm(Term):
    """The votes in blocks of rows; `at` fixes the other factor and the weight."""

    def __init__(self, backend, votes, blocks):
        self.backend = backend
        self.padded = padded_blocks(backend, votes, blocks)

    def at(self, other, weight, *, sample=None):
        view = copy(self)
        view.other, view.weight = other, weight
        return view

    def local(self, block, y, chosen=EVERY):
        return LocalVotes(self, block, y, chosen)


class LocalVotes(Local):
    """The term at the rows y: value, gradient and curvature."""

    def __init__(self, view, block, y, chosen):
        backend, padded = view.backend, view.padded[block]
        self.view, self.xp = view, backend.xp
        padded = padded.take(chosen)
        self.weights = view.weight * self.xp.abs(padded.values)
        self.signs = self.xp.sign(padded.values)
        self.entries = backend.known_entries(padded.columns, view.other)
        self.x = self.entries.dots(y)
        self.sigmoid, softplus = backend.logistic(-self.signs * self.x)
        self.value = self.xp.sum(self.weights * softplus, axis=1)
        self.gradient = self.entries.sums(-self.weights * self.signs * self.sigmoid)

    def _bends(self):
        return self.weights * self.sigmoid * (1 - self.sigmoid)

    def product(self, z, *, exact=False):
        return self.entries.sums(self._bends() * self.entries.dots(z))

    def mean_curvature(self):
        other = self.view.other
        gram = self.xp.matmul(other.T, other) / other.shape[0]
        return self.xp.sum(self._bends()) / self.x.shape[0] * gram

    def value_at(self, y, chosen):
        x = self.entries.take(chosen).dots(y)
        softplus = self.view.backend.softplus(-self.signs[chosen] * x)
        return self.xp.sum(self.weights[chosen] * softplus, axis=1)
