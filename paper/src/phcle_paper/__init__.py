"""The PHCLE paper beside the package: baselines, data sets, tables and studies.

This package uses the public API of `phcle` alone. `baselines` holds the embeddings that
the paper compares with, `datasets` the loaders of its data, `tables` what makes Tables
1 to 3, `studies` everything else, and `configs` the settings of each.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
