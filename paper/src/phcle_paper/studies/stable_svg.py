"""Figures as SVG with the same bytes every time.

Matplotlib names clip paths and markers by a hash of their coordinates, and the last
digits of coordinates differ between runs. Here they are named by their order instead.
"""

from __future__ import annotations

import hashlib
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["svg_of", "with_counted_names"]


def svg_of(figure: Figure, **options: Any) -> str:
    """Return a figure as an SVG document that is the same in every run.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    **options : Any
        Options of `Figure.savefig`.

    Returns
    -------
    str
        The document.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, **options)
    return with_counted_names(buffer.getvalue())


def with_counted_names(svg: str) -> str:
    """Replace names that Matplotlib made from a hash by numbered ones.

    Names begin with a digest of the figure, so that several figures can stand on one
    page.

    Parameters
    ----------
    svg : str
        An SVG document by Matplotlib.

    Returns
    -------
    str
        The same document with other names.

    Examples
    --------
    >>> print(with_counted_names('<g id="p0123456789"/><use href="#p0123456789"/>'))
    <g id="f6ba8ca-0"/><use href="#f6ba8ca-0"/>
    """
    hashed = set(re.findall(r'\bid="([a-zA-Z]+[0-9a-f]{10})"', svg))
    order: dict[str, str] = {}

    def rename(found: re.Match[str]) -> str:
        name = found[0]
        if name not in hashed:
            return name
        return order.setdefault(name, f"phcle-figure-{len(order)}")

    counted = re.sub(r"\b[a-zA-Z]+[0-9a-f]{10}\b", rename, svg)
    digest = hashlib.blake2b(counted.encode(), digest_size=3).hexdigest()
    return counted.replace("phcle-figure-", f"f{digest}-")
