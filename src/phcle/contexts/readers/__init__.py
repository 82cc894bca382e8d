"""Readers of files and of other libraries' objects.

`files_to_contexts` turns files into contexts, `label_files` has one reader per kind of
table, and the other modules read one file format each. May import from `contexts`,
`files` and `errors`.
"""
