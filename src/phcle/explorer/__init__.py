"""The explorer: a local web server that shows an embedding.

`app.py` joins the HTML pages (`pages.py`, `templates/`, `static/`), the HTTP API
(`api.py`) and the checks of every request (`security.py`). Both pages and API show the
answers of `page_answers.py` and `phcle.uses.named_answers`. `workspace.py` holds the
embeddings, each an `Opened` of `opened_embedding.py`; `background_work.py` computes
what is slow.

It may import everything but the command line.
"""
