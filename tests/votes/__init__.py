"""An imaginary third kind of context, which docs/contributing.md walks through.

It has the files that a kind in `src/phcle/contexts` has. The tests fit, store, explain
and extend it, so that the walk-through stays true.
"""
