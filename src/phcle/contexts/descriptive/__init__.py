"""Descriptive contexts: what labels are like.

`data` is the user's class `DescriptiveContext`. `encoding` turns cells and texts into
numbers, for labels of the fit and for later ones, and `sentence_encoder` encodes
sentences. `fitted` is the context inside a fit: `loss` has its scaled values and its
term, and `elastic_net` updates its factor. `fields` has the columns as the user knows
them, `confidence` turns predictions into probabilities and intervals, and
`confidence_learning` learns how from `hidden_cells`.

Modules here may import the modules of `contexts` and `contexts.readers`, `backends`,
`files` and `errors`, but not `relational`.
"""
