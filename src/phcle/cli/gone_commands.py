"""Commands that this version no longer has, and what takes their place."""

from __future__ import annotations

__all__ = ["GONE"]

GONE = {
    "tune": "search with Optuna or scikit-learn, as docs/howto/which-options.md shows",
    "bench": "run the scripts in benchmarks/ of the repository",
    "index": "`phcle nearest` searches exactly; FAISS: see docs/howto/exporting.md",
}
"""What to do in place of a command, by its name."""
