"""HTML pages about an embedding that open offline, and files of result tables.

`embedding_report` collects the contents (`section_data`, `hierarchy_branches`,
`map_layout`, `map_data`), draws `figures` and fills the templates (`html_page`).
`embedding_atlas` writes the same map for Embedding Atlas. `table_files` writes tables
as Markdown, CSV and JSON.

Modules here may import `phcle.model`, `phcle.embedding`,
`phcle.contexts`, `phcle.files`, `phcle.errors`, and the scripts in `phcle.web`.
"""

from phcle.report.embedding_atlas import write_atlas
from phcle.report.embedding_report import write_report
from phcle.report.hierarchy_branches import find_branches
from phcle.report.map_layout import lay_out
from phcle.report.table_files import as_csv, as_markdown, markdown_grid, write_table

__all__ = [
    "as_csv",
    "as_markdown",
    "find_branches",
    "lay_out",
    "markdown_grid",
    "write_atlas",
    "write_report",
    "write_table",
]
