"""A zoo with everything a report shows, and the page made of it."""

from __future__ import annotations

import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext

TREE = [
    *((cat, "felid") for cat in ("cat", "lion", "tiger", "lynx")),
    *((dog, "canid") for dog in ("dog", "wolf", "fox", "jackal")),
    *((bird, "bird") for bird in ("robin", "wren", "eagle", "hawk", "owl")),
    *[("felid", "carnivore"), ("canid", "carnivore")],
    *[("carnivore", "animal"), ("bird", "animal")],
]
# Names that would be markup, mathematics or the end of a script if a page let them.
NASTY = {
    "cat": "<img src=x onerror=alert(1)>",
    "dog": "</script><script>alert(2)</script>",
    "wolf": r"$\frac{wolf}$",
    "felid": "cats & <b>co</b>",
    "fox": "a very_long_name_without_any_place_to_break_it_" * 4,
}


@pytest.fixture(scope="session")
def tree_edges():
    return TREE


@pytest.fixture(scope="session")
def nasty_names():
    return NASTY


@pytest.fixture(scope="session")
def zoo_embedding():
    hierarchy = RelationalContext.from_hierarchy(TREE, name="tree")
    tags = {"cat": ["claws"], "dog": ["bark", "claws"], "eagle": ["wings", "claws"]}
    tags |= {bird: ["wings"] for bird in ("robin", "wren", "hawk")}
    looks = DescriptiveContext.from_tags(tags, name="looks")
    model = PHCLE(dim=4, backend="numpy", random_state=0)
    return model.fit([hierarchy, looks], names=NASTY).embedding_


@pytest.fixture(scope="session")
def zoo_report(zoo_embedding, tmp_path_factory):
    """What `write_report` says, and the folder it has written to."""
    for module in ("jinja2", "matplotlib"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    from phcle.report import write_report

    out = tmp_path_factory.mktemp("report")
    return write_report(zoo_embedding, out, title="A <i>zoo</i>"), out
