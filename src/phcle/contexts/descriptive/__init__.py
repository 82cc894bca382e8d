"""Descriptive contexts: what labels are like.

`data` is the user's class `DescriptiveContext`. `cell_encoding`, `name_words` and
`sources` turn cells, names, texts and sentences into numbers, also those of labels that
come later; `values_by_label` checks what users give.

`fitted` is the context inside a fit: `scaled_values` has the scales of its columns,
`loss` its term, and `elastic_net` updates its factor. `predictions` is the half of it
that predicts, and `fields` has the columns as the user knows them.

Modules here may import the modules of `contexts`, `backends`,
`files` and `errors`, but not `relational`.
"""
