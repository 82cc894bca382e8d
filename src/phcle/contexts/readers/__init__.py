"""Readers of files and of objects of other libraries.

From the outside in: `checking` looks at files before a fit, `guessed_files`,
and `kind_guessing` say what files are, `files_to_contexts` reads several
(`phcle.read_contexts`), `file_to_context` one, and `label_files` has one reader for
each kind of table. `table_files` opens a table of any format; it finds the encoding
(`text_encodings`), the delimiter (`delimited`) and the columns (`table_columns`). The
other modules read one file format each.

Modules here may import from `contexts`, `files` and `errors`.
"""
