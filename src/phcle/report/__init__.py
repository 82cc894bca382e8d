"""One HTML page about an embedding, or about tables of experiments, that opens offline.

`embedding_report` collects the contents (`section_data`, `hierarchy_branches`,
`map_layout`, `map_data`), draws `figures` and fills the templates (`html_page`).
`embedding_atlas` writes the same map for Embedding Atlas.

Modules here may import `phcle.uses`, `phcle.embedding`, `phcle.contexts`,
`phcle.files`, `phcle.errors`, and the scripts in `phcle.web`.
"""

from phcle.report.embedding_report import write_report
from phcle.report.tables_page import assemble

__all__ = ["assemble", "write_report"]
