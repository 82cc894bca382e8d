"""Stage 3, the result: label vectors, and what they were learned from.

`label_embedding` is the class that users see. `cosine_search` finds nearest labels,
`describe` and `explain` answer questions, `read` reads predictions, `complete` predicts
unknown cells of tables (with `cell_reasons` and `cell_texts`),
`storage` saves and loads, `export` makes data frames and writes formats of other tools,
and `html` shows an embedding in notebooks.

Modules here may import `contexts`, `answers`, `files` and `errors`, but never the
solver.
"""

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.storage import load

__all__ = ["LabelEmbedding", "load"]
