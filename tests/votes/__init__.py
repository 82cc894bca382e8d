"""An imaginary third kind of context, which docs/contributing.md names.

It has what a kind in `src/phcle/contexts` has. The tests fit, store, explain and extend
it.
"""
