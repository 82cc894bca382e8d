"""The explorer: a local web server that shows an embedding.

`app.py` joins the HTML pages (`pages.py`, `templates/`, `static/`), the HTTP API
(`api.py`) and the checks of every request (`security.py`). Both pages and API show the
answers of `page_answers.py` and of the embedding. `workspace.py` holds the
embeddings, each an `Opened` of `opened_embedding.py`; `background_work.py` computes
what is slow.

It may import everything but the command line. Names load when they are first used.
"""

from __future__ import annotations

from phcle.lazy_names import lazy_names

__all__ = [
    "Guard",
    "Opened",
    "Rules",
    "Workspace",
    "address_of",
    "bind",
    "is_loopback",
    "make_app",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Guard": "phcle.explorer.security",
        "Opened": "phcle.explorer.opened_embedding",
        "Rules": "phcle.explorer.security",
        "Workspace": "phcle.explorer.workspace",
        "address_of": "phcle.explorer.server",
        "bind": "phcle.explorer.server",
        "is_loopback": "phcle.explorer.security",
        "make_app": "phcle.explorer.app",
    },
)
