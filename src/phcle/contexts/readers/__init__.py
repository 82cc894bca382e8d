"""Readers of files and of objects of other libraries.

From the outside in: `checking` looks at files before a fit, `guessed_files`,
`kind_guessing` and `file_endings` say what files are, `files_to_contexts` reads several
(`phcle.read_contexts`), `file_to_context` one, and `label_files` has one reader for
each kind of table. `table_files` opens a table of any format; it finds the encoding
(`text_encodings`), the delimiter (`delimiters`) and the columns (`table_columns`). The
other modules read one file format each. `thesaurus` is a taxonomy with names and texts.

Modules here may import from `contexts`, `files` and `errors`.
"""
