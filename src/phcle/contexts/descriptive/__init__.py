"""Descriptive contexts: what labels are like.

`data` is the user's class `DescriptiveContext`. `cell_encoding`, `word_weights`,
`name_words` and `sentence_encoder` turn cells, texts, names and sentences into numbers;
`values_by_label` checks what users give, and `column_scales` chooses logarithms.
`sources` encodes labels that come later like those of the fit.

`fitted` is the context inside a fit: `scaled_values` has its numbers, `loss` its term,
and `elastic_net` updates its factor. `predictions` is the half of it that predicts.
`fields` has the columns as the user knows them, `confidence` turns predictions into
probabilities and intervals, `confidence_learning` learns how from `hidden_cells`, and
`calibration_storage` stores it.

Modules here may import the modules of `contexts` and `contexts.readers`, `backends`,
`files` and `errors`, but not `relational`.
"""
