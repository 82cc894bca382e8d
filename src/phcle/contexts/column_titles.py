"""What columns are called: the names that readers look for, and other usual ones."""

from __future__ import annotations

import re

from phcle.contexts.labels import normal

TITLES = {
    "child": ("child", "children", "narrower", "subcategory", "subclass", "hyponym"),
    "parent": (
        "parent",
        "parents",
        "broader",
        "supercategory",
        "superclass",
        "hypernym",
    ),
    "source": ("source", "from", "src", "node1", "subject", "head", "start"),
    "target": ("target", "to", "dst", "dest", "destination", "node2", "object", "tail"),
    "relation": ("relation", "predicate", "rel", "edge type", "relation type"),
    "weight": ("weight", "weights", "count", "strength", "n"),
    "item": (
        *("item", "items", "image", "photo", "document", "doc", "basket", "order"),
        *("transaction", "invoice", "session"),
    ),
    "label": (
        *("label", "labels", "name", "id", "title", "category", "class", "term"),
        *("concept", "key", "entity"),
    ),
    "tag": ("tag", "tags", "keyword", "keywords"),
    "text": (
        *("text", "texts", "description", "descriptions", "definition", "gloss"),
        *("abstract", "summary"),
    ),
    "name": ("name", "names", "title", "readable name", "display name"),
    "synonym": ("synonym", "synonyms"),
}
"""Titles of a column by its role. They are enough to take it for that."""

HINTS = {
    "parent": (
        *("super", "sector", "group", "family", "genus", "order", "branch", "area"),
        *("department", "division", "category", "class", "type", "kind", "genre"),
        "field",
    ),
    "source": ("a", "one", "left"),
    "target": ("end", "b", "other", "right"),
    "item": (
        *("picture", "file", "user", "customer", "cart", "playlist", "recipe"),
        *("patient", "person", "sample", "page", "receipt"),
    ),
    "label": (
        *("names", "ids", "code", "node", "word", "wnid", "item", "product", "job"),
        *("species", "language", "animal", "object", "thing"),
    ),
    "tag": (
        *("feature", "property", "topic", "skill", "trait", "ingredient", "theme"),
        "attribute",
    ),
    "text": ("comment", "sentence", "about", "note", "notes"),
}
"""Titles that point to a role, if the cells say the same."""

LABEL_TITLES = (*TITLES["label"], *HINTS["label"])
"""Words that often stand above a column of labels, also as in `job title`, `item_id`
and `Product name`."""

_ENDING = re.compile(r"(?<=\w) ?(id|name|label|category|class|term)$")


def plain_title(title: str) -> str:
    """Return a title in lower case with single spaces for punctuation.

    Parameters
    ----------
    title : str
        A title of a column.

    Returns
    -------
    str
        The plain title.

    Examples
    --------
    >>> plain_title("Parent_ID "), plain_title("parentId")
    ('parent id', 'parent id')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normal(str(title)))
    return re.sub(r"[\W_]+", " ", spaced).strip().lower()


def is_title_of(role: str, plain: str) -> bool:
    """Tell whether a title is one of a role, also with an ending such as `id`.

    Parameters
    ----------
    role : str
        A key of `TITLES`.
    plain : str
        What `plain_title` returns.

    Returns
    -------
    bool
        Whether the title is enough to take the column for it.

    Examples
    --------
    >>> is_title_of("parent", "parentid"), is_title_of("parent", "family")
    (True, False)
    """
    return plain in TITLES[role] or _ENDING.sub("", plain) in TITLES[role]
