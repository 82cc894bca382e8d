"""Time of a search for nearest labels.

    python benchmarks/search.py --sizes 1000 82115 1000000

Vectors are random, in groups as labels of a hierarchy are. Search is exact, so only
its time matters; the tests compare its answers with a plain product.
"""

from __future__ import annotations

import time

import numpy as np
from measuring import parser_of, peak_mb, print_head, print_row, yardstick

from phcle import LabelEmbedding

ASKED = 200


def main(arguments: list[str] | None = None) -> None:
    """Search at every size, and print a table."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 82_115])
    parser.add_argument("--dim", type=int, default=100)
    given = parser.parse_args(arguments)
    print(f"d = {given.dim}, matrix product {yardstick():.0f} GFLOP/s")
    print_head("labels", "one, ms", f"{ASKED} at once, ms each", "peak MB", texts=0)
    for n in given.sizes:
        rng = np.random.default_rng(0)
        groups = rng.standard_normal((1 + n // 20, given.dim), np.float32)
        vectors = groups[rng.integers(len(groups), size=n)]
        vectors = vectors + 0.5 * rng.standard_normal((n, given.dim), np.float32)
        embedding = LabelEmbedding(tuple(map(str, range(n))), vectors)
        asked = [str(x) for x in rng.integers(n, size=ASKED)]
        embedding.nearest(asked[0], k=10)  # prepares vectors of length one
        began = time.perf_counter()
        for label in asked:
            embedding.nearest(label, k=10)
        middle = time.perf_counter()
        embedding.neighbours(asked, k=10)
        together = time.perf_counter() - middle
        each = [1e3 * seconds / ASKED for seconds in (middle - began, together)]
        print_row(f"{n:,}", *(f"{x:.2f}" for x in each), f"{peak_mb():.0f}")


if __name__ == "__main__":
    main()
