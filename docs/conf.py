"""Sphinx configuration. `make docs` writes the site to site/; warnings are errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import phcle

sys.path.append(str(Path(__file__).parent / "_ext"))

project = "phcle"
author = "the authors of phcle"
version = release = phcle.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "tables_of_code",
    "parameter_tables",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Quotes stay as they are typed, so that what is shown can be pasted.
smartquotes = False
# Docstrings put names of code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
# Docstrings state types in words, which must not become links to code.
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
# As lists, not as targets of links: many classes have an attribute of the same name.
napoleon_use_ivar = True
# Otherwise `embedding_` is read as a link and loses its underscore.
strip_signature_backslash = True

html_theme = "furo"
html_title = f"phcle {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# The site works offline: no fonts, scripts or badges from other servers.
html_theme_options = {"top_of_page_buttons": []}
# Search summaries need to fetch other pages, which browsers forbid for local files.
html_show_search_summary = False

# Two builds of the same sources give the same files.
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
