"""Relational contexts: which labels occur together or are near each other.

`data` is the user's class `RelationalContext`. `cooccurrence` counts edges, annotations
and texts, `annotation_tables` counts tables larger than memory, `taxonomy` is the graph
of a hierarchy, and `hierarchy` turns it into counts. `fitted` is the context inside a
fit, with its `loss` and `column_sampling`.

Modules here may import the modules of `contexts`, `backends`,
`files` and `errors`, but not `descriptive`.
"""
