"""Descriptive contexts: what labels are like.

`data` is the user's class `DescriptiveContext`. `encoding` turns cells and texts into
numbers, for labels of the fit and for later ones, and `sentence_encoder` encodes
sentences. `fitted` is the context inside a fit: `scaled_values` has its numbers, `loss`
its term, and `elastic_net` updates its factor. `predictions` is the half of it that
predicts. `fields` has the columns as the user knows them, `confidence` turns
predictions into probabilities and intervals, `confidence_learning` learns how from
`hidden_cells`, and `calibration_storage` stores it.

Modules here may import the modules of `contexts` and `contexts.readers`, `backends`,
`files` and `errors`, but not `relational`.
"""
