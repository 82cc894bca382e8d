"""A user's files and tables: read into contexts, matched, and filled.

`read_contexts` reads files, `guess_files` says what each file of a folder is,
`match_labels` joins spellings of one label, `from_skos` and `from_owl` read
vocabularies, `read_newick` reads trees, `read_word_vectors` reads word vectors,
`open_table` reads the rows of a table as its `Reading` says, `fill_table` writes a
table again with its gaps filled, and `write_cells` writes completed cells.

Names load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phcle.lazy_names import lazy_names

if TYPE_CHECKING:
    from phcle.contexts.label_matching import LabelSource, match_labels
    from phcle.contexts.readers.files_to_contexts import read_contexts
    from phcle.contexts.readers.guessed_files import guess_files
    from phcle.contexts.readers.table_files import Reading, open_table
    from phcle.embedding.export import write_cells
    from phcle.tables.fill import fill_table
    from phcle.tables.newick import read_newick
    from phcle.tables.ontologies import from_owl, from_skos
    from phcle.tables.word_vectors import read_word_vectors

__all__ = [
    "LabelSource",
    "Reading",
    "fill_table",
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
        "LabelSource": "phcle.contexts.label_matching",
        "Reading": "phcle.contexts.readers.table_files",
        "fill_table": "phcle.tables.fill",
        "from_owl": "phcle.tables.ontologies",
        "from_skos": "phcle.tables.ontologies",
        "guess_files": "phcle.contexts.readers.guessed_files",
        "match_labels": "phcle.contexts.label_matching",
        "open_table": "phcle.contexts.readers.table_files",
        "read_newick": "phcle.tables.newick",
        "read_contexts": "phcle.contexts.readers.files_to_contexts",
        "read_word_vectors": "phcle.tables.word_vectors",
        "write_cells": "phcle.embedding.export",
    },
)
