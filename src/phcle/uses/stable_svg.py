"""Figures as SVG, the same bytes every time.

matplotlib names clips and markers by a hash of where they are, to the last digit, and
the last digits of a constrained layout depend on addresses in memory. So they are
named anew here, by their order.
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
    """The figure as a document; options as `savefig` has them."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, **options)
    return with_counted_names(buffer.getvalue())


def with_counted_names(svg: str) -> str:
    """Name by order what was named by a hash.

    Figures may meet on one page, so names begin with a digest of their figure.

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
