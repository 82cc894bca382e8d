"""What label embeddings are for: search, clusters, tables.

Each module is one use of a `LabelEmbedding`:

- `neighbour_table`: the nearest labels from a table, and labels whose neighbours
  differ between two embeddings;
- `attribute_search`: labels that have some attributes and lack others;
- `completion_files`: completed cells in files;
- `node_names`: nodes of a taxonomy by their readable names;
- `clusters`, `cluster_names`, `similarity_heatmap`: groups of labels, their names and
  their picture;
- `new_label_files`: files about labels that are added to an embedding;
- `named_answers`: answers with readable names, as commands and pages show them.

Modules here may import `phcle.embedding`, `phcle.contexts`, `phcle.datasets`,
`phcle.files`, `phcle.answers`, `phcle.errors` and each other. They never import the
solver or PyTorch: a saved embedding can be used without either.
"""
