"""Pages and files about an embedding or about results; a page opens offline."""

from phcle.report.embedding_report import write_report
from phcle.report.extras import REMEDY, has_extra, needed
from phcle.report.html_page import as_data_uri, write_page
from phcle.report.table_files import (
    as_csv,
    as_markdown,
    markdown_grid,
    write_table,
)

__all__ = [
    "REMEDY",
    "as_csv",
    "as_data_uri",
    "as_markdown",
    "has_extra",
    "markdown_grid",
    "needed",
    "write_page",
    "write_report",
    "write_table",
]
