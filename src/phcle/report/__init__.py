"""One page about an embedding, or about tables of experiments, that opens offline."""

from phcle.report.embedding_report import write_report
from phcle.report.tables_page import assemble

__all__ = ["assemble", "write_report"]
