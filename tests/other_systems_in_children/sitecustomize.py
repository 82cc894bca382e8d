"""Let a child process of the tests look like the system that the tests simulate."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import other_systems  # noqa: F401
