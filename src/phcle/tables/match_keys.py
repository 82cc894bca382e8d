"""What labels have in common that are spelled alike, and in what they differ."""

from __future__ import annotations

import unicodedata

from phcle.contexts.labels import normal

SAME_LETTER = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼ", "'"),
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("\u2010\u2011", "-"),  # hyphens; dashes stay what they are
        **dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff", None),  # invisible
    }
)
"""Characters that are typed or printed in several ways, and characters without ink.
Joiners (U+200C, U+200D) stay, because some scripts spell with them."""


FORMS = ("<wide>", "<narrow>", "<noBreak>", "<initial>", "<medial>", "<final>")
"""Compatibility forms of Unicode that are the same letter in another shape. Without
superscripts, fractions and letters of mathematics: 10² is not 102, and ℝ is not R."""


def match_key(label: str) -> str:
    """Return what labels have in common that are joined.

    Case, spaces and Unicode form do not make another label: é as one character or two,
    ﬁ as one letter, a full-width Ｃ, ’ for '.

    Parameters
    ----------
    label : str
        A label.

    Returns
    -------
    str
        The label in lower case, in one Unicode form, with single spaces.

    Examples
    --------
    >>> match_key("Café  TABLES") == match_key("Cafe\u0301 tables")
    True
    >>> match_key("résumé") == match_key("resume")
    False
    """
    if label.isascii() and label.isprintable() and "  " not in label:
        return label.strip().lower()
    return _lower(_spaced(_formed(label)))


def _lower(text: str) -> str:
    """Lower case that keeps words apart: no ss for ß (Maße, Masse), no i for ı or İ."""
    return normal(text).lower().replace("ς", "σ").replace("ſ", "s")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _formed(text: str) -> str:
    """The usual form of each letter, composed."""
    if text.isascii():
        return text
    plain = "".join(x if x.isascii() else _plain_letter(x) for x in text)
    return unicodedata.normalize("NFC", plain.translate(SAME_LETTER))


def _plain_letter(letter: str) -> str:
    form, _, codes = unicodedata.decomposition(letter).partition(" ")
    if form in (*FORMS, "<isolated>", "<vertical>", "<compat>"):
        plain = "".join(chr(int(code, 16)) for code in codes.split())
        # Of the many characters called <compat>, only letters: ﬁ, ĳ, µ, Ⅳ.
        if form != "<compat>" or plain.isalpha():
            return "".join(map(_plain_letter, plain))  # a form of a form
    return letter


PARTS = {"case": _lower, "spaces": _spaced, "Unicode form": _formed}
"""What `match_key` undoes, by what a report calls it."""


def differences(a: str, b: str) -> tuple[str, ...]:
    """Say in what two labels with the same key differ.

    Parameters
    ----------
    a : str
        A label.
    b : str
        Another label.

    Returns
    -------
    tuple of str
        Some of "case", "spaces" and "Unicode form".

    Examples
    --------
    >>> differences("BABY  grows", "Baby grows")
    ('case', 'spaces')
    """
    found = []
    for part in PARTS:
        left, right = a, b
        # The form comes first in `match_key`, because it may bring spaces and capitals.
        for name, undo in reversed(PARTS.items()):
            if name != part:
                left, right = undo(left), undo(right)
        if left != right:
            found.append(part)
    return tuple(found)
