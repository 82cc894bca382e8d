"""Readers of files and of objects of other libraries.

`files_to_contexts` turns files into contexts (`phcle.read_contexts`), `label_files` has
one reader for each kind of table, and the other modules read one file format each.
`thesaurus` is a taxonomy with names and texts.

Modules here may import from `contexts`, `files` and `errors`.
"""
