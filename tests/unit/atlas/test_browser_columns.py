"""What the page computes from columns equals what NumPy computes from the embedding."""

from __future__ import annotations

import numpy as np
import pytest
from watched_pages import watched

from phcle import LabelEmbedding

N_BINS = 24
LOWER, UPPER, CERTAIN = 1.0, 3.0, 0.98

COMPUTE = """async (asked) => {
  const columns = await Phcle.columns();
  for (const { context, title } of columns.fields) await columns.load(context, title);
  const found = [];
  for (const { filters, facets = [], sort = "", is_turned = false } of asked) {
    await columns.prepare(filters);
    const passing = columns.passing(filters);
    found.push({
      rows: Array.from(columns.rows(passing, sort, is_turned)),
      scores: Array.from(columns.scores(filters) ?? []),
      facets: await Promise.all(facets.map((facet) => columns.facet(facet, passing))),
    });
  }
  return found;
}"""


@pytest.fixture
def computed(browser, patchy_address):
    """A function that puts questions to the columns of the page."""
    with watched(browser, patchy_address) as new_page:
        page = new_page()
        page.goto(patchy_address)
        page.wait_for_selector("#map[data-ready=yes]")
        yield lambda asked: page.evaluate(COMPUTE, asked)


def looks(embedding: LabelEmbedding, title):
    return embedding.tables["looks"].column(title)


def test_filters_bars_order_and_ranking_are_those_of_numpy(computed, patchy):
    mass, size, wild = (looks(patchy, x) for x in ("mass", "size", "wild"))
    inside = (mass.value >= LOWER) & (mass.value <= UPPER)
    is_large = size.value == size.values.index("large")
    group = np.arange(len(patchy)) // 20
    mass_range = ["looks", "mass", "range", LOWER, UPPER]
    large = ["looks", "size", "in", ["large"]]
    known = ["", "values", "in", ["observed"]]
    facets = [
        {"context": "looks", "field": "mass"},
        {"context": "looks", "field": "size"},
    ]
    cases = [
        ([mass_range], inside),
        ([mass_range, large], inside & is_large),
        ([mass_range, known], inside & mass.is_observed),
        ([["looks", "size", "in", ["large", ""]], known],
         (is_large & size.is_observed) | ~size.is_observed),
        ([["", "branch", "in", ["g0", "g3"]]], np.isin(group, (0, 3))),
        ([["", "text", "has", "X7"]], ["x7" in x for x in patchy.labels]),
    ]  # fmt: skip
    asked = [{"filters": x, "facets": facets} for x, _ in cases]
    for (filters, passes), found in zip(cases, computed(asked), strict=True):
        assert found["rows"] == np.flatnonzero(passes).tolist(), filters
    # A field's own filter does not count for its bars, but those of the others do.
    bins, bars = computed([{"filters": [mass_range, large], "facets": facets}])[0][
        "facets"
    ]
    numbers = mass.value.astype(np.float32).astype(float)
    low, high = np.quantile(numbers, [0.005, 0.995])
    space = np.geomspace if mass.is_log else np.linspace
    at = np.searchsorted(space(low, high, N_BINS + 1)[1:-1], numbers, side="right")
    for name, chosen in (("all", slice(None)), ("n", is_large)):
        counted = np.bincount(at[chosen], minlength=N_BINS).tolist()
        assert [x[name] for x in bins["bars"]] == counted
    for bar in bars["bars"]:
        has_it = size.value == size.values.index(bar["value"])
        assert (bar["all"], bar["n"]) == (has_it.sum(), (has_it & inside).sum())
    # Order: equal ones stay as they were. Ranking: the geometric mean of probabilities.
    likes = [("mass", "high", True), ("size", "small", False), ("wild", "yes", True)]
    wanted = [["looks", title, "like", value, has] for title, value, has in likes]
    up, down, ranked = computed(
        [
            {"filters": [], "sort": ["looks", "mass"]},
            {"filters": [], "sort": ["looks", "mass"], "is_turned": True},
            {"filters": wanted, "sort": "match"},
        ]
    )
    assert up["rows"] == np.argsort(numbers, kind="stable").tolist()
    assert down["rows"] == np.argsort(-numbers, kind="stable").tolist()
    small = size.values.index("small")
    above = mass.chance[:, 0].copy()
    scaled = np.log(mass.value) if mass.is_log else mass.value
    above[mass.is_observed] = (scaled > scaled[mass.is_observed].mean())[
        mass.is_observed
    ]
    is_small, is_wild = size.chance[:, small].copy(), wild.chance[:, 0].copy()
    is_small[size.is_observed] = (size.value == small)[size.is_observed]
    is_wild[wild.is_observed] = (wild.value == 1)[wild.is_observed]
    right = np.clip([above, 1 - is_small, is_wild], 1 - CERTAIN, CERTAIN)
    score = np.exp(np.log(right).mean(axis=0))
    np.testing.assert_allclose(ranked["scores"], score, atol=1e-4)
    assert np.all(np.diff(score[ranked["rows"]]) <= 1e-4)
