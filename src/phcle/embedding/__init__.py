"""Stage 3, the result: label vectors, and what they were learned from.

`label_embedding` is the class that users see. It asks the other modules:

- `labels` looks up labels by id, name and spelling, `search` finds the nearest;
- `describe` and `explain` answer questions, `groups` clusters and names labels;
- `columns` looks up cells: known where a table knows them, predicted elsewhere;
  `complete`, `suspicious` and `skill` list predicted cells, unlikely ones and scores;
- `completion` predicts the gaps at the end of a fit, with the readers of `readers`,
  `table_readers` and `table_view`; `predictions` holds what they said;
- `storage` saves and loads, `export` writes tables and formats of other tools.

Modules here may import `contexts`, `answers`, `files` and `errors`, but never the
solver: a saved embedding can be used without it.
"""

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.storage import load, load_vectors

__all__ = ["LabelEmbedding", "load", "load_vectors"]
