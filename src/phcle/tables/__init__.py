"""A user's files and tables: read into contexts, matched, and filled.

`read_contexts` reads files, `guess_files` says what each file of a folder is,
`match_labels` joins spellings of one label, `from_skos` and `from_owl` read
vocabularies, `read_newick` reads trees, `read_word_vectors` reads word vectors,
`open_table` reads the rows of a table as its `Reading` says, `complete_table` writes a
table again with its gaps filled, and `write_cells` writes completed cells.

From the bottom up: `cells`, `numbers` and `dates` read one cell, `columns` one column,
and they write new values as the column does. `sources` gives the rows of any file,
`reader` opens it, or a data frame, as a `Table`. `kinds` tells what a table is and
which of its columns are which, `rows` makes the rows of a table what a context needs.
`files` reads several files and collects all faults, `check` guesses what files are
and looks at them before a fit, `matching` joins labels.

Names load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.embedding.export import write_cells
    from phcle.tables.check import guess_files
    from phcle.tables.files import read_contexts
    from phcle.tables.fill import complete_table
    from phcle.tables.matching import LabelSource, match_labels
    from phcle.tables.reader import Reading, open_table
    from phcle.tables.trees import from_owl, from_skos, read_newick
    from phcle.tables.word_vectors import read_word_vectors

__all__ = [
    "LabelSource",
    "Reading",
    "complete_table",
    "from_owl",
    "from_skos",
    "guess_files",
    "match_labels",
    "open_table",
    "read_contexts",
    "read_newick",
    "read_word_vectors",
    "write_cells",
]

__getattr__ = lazy_names(
    __name__,
    {
        "LabelSource": "phcle.tables.matching",
        "Reading": "phcle.tables.reader",
        "complete_table": "phcle.tables.fill",
        "from_owl": "phcle.tables.trees",
        "from_skos": "phcle.tables.trees",
        "guess_files": "phcle.tables.check",
        "match_labels": "phcle.tables.matching",
        "open_table": "phcle.tables.reader",
        "read_newick": "phcle.tables.trees",
        "read_contexts": "phcle.tables.files",
        "read_word_vectors": "phcle.tables.word_vectors",
        "write_cells": "phcle.embedding.export",
    },
)
