"""What label embeddings are for: search, clusters, zero-shot learning, pictures.

Each module is one use of a `LabelEmbedding`:

- `neighbour_search`, `neighbour_table`, `sklearn_neighbours`: the nearest labels,
  exactly or by an index, from a table, or as a scikit-learn estimator;
- `cell_index`, `faiss_index`, `torch_index`: the index, on a CPU and on a GPU;
- `neighbourhood_comparison`: labels whose neighbours differ between two embeddings;
- `attribute_search`: labels that have some attributes and lack others;
- `completion_files`, `table_filling`, `raw_tables`: completed cells in files, and in a
  user's own table;
- `node_names`: nodes of a taxonomy by their readable names;
- `clusters`, `cluster_names`, `similarity_heatmap`, `stable_svg`: groups of labels,
  their names and their picture;
- `new_label_files`: files about labels that are added to an embedding;
- `named_answers`: answers with readable names, as commands and pages show them;
- `torch_head`: label vectors as a layer of a PyTorch network;
- `zero_shot`: classifiers for classes without training images, and their evaluation;
- `pictures`: labels and attributes of a picture from its features.

Modules here may import `phcle.embedding`, `phcle.contexts`, `phcle.datasets`,
`phcle.files`, `phcle.answers`, `phcle.errors` and each other. They never import the
solver, and only `torch_head` and `torch_index` import PyTorch: a saved embedding can be
used without either.
"""
