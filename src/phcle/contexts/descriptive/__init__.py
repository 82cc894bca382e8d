"""Descriptive contexts: what labels are like.

`data` is the user's class `DescriptiveContext`. `encoding` turns cells and texts into
numbers, `reencoding` does the same for labels that are added later, and
`sentence_encoder` encodes sentences. `fitted` is the context inside a fit: `scaling`
centres and scales values, `loss` is its term, `elastic_net` updates its factor, and
`confidence` turns predictions into probabilities.

Modules here may import the modules of `contexts` and `contexts.readers`, `backends`,
`files` and `errors`, but not `relational`.
"""
