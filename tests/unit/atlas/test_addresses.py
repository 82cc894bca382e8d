"""Pictures of labels come from the folder of the embedding, and from nowhere else."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from hashlib import sha256

import pytest
from watched_pages import until, watched

from phcle import PHCLE, load, read_contexts
from phcle.atlas import Opened, Workspace, write_report

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAA"
    "ggCBd81ytgAAAABJRU5ErkJggg=="
)
"""One grey pixel."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with pictures and links, some of which lead out of the folder."""
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "photos").mkdir()
    labels = [f"thing {i}" for i in range(20)]
    for i in range(20):
        (folder / "photos" / f"{i}.png").write_bytes(PNG)
    (folder.parent / "secret.png").write_bytes(PNG)
    (folder / "photos" / "18.png").unlink()
    (folder / "photos" / "18.png").symlink_to(folder.parent / "secret.png")
    addresses = [f"photos/{i}.png" for i in range(19)] + ["../secret.png"]
    lines = ["label,size,photo,page"]
    lines += [
        f"{label},{i % 5 + 1},{address},https://example.org/{i}"
        for i, (label, address) in enumerate(zip(labels, addresses, strict=True))
    ]
    (folder / "things.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def opened(folder):
    found = read_contexts(attributes=folder / "things.csv")
    model = PHCLE(dim=2, choose=False).fit(found.contexts)
    embedding = replace(model.embedding_, origin={"files": origin_of(folder)})
    file = folder / "things.phcle"
    embedding.save(file)
    return Opened(load(file), "things", file)


def origin_of(folder):
    digest = sha256((folder / "things.csv").read_bytes()).hexdigest()
    return [
        {"flag": "attributes", "name": "things", "file": "things.csv", "sha256": digest}
    ]


def test_pictures_and_links_stand_on_the_page_of_a_label(opened, client_of):
    with client_of(Workspace(opened)) as client:
        page = client.get("/api/row", params={"label": "thing 3"}).json()
        link = {"context": "things", "column": "page", "href": "https://example.org/3"}
        assert page["links"] == [link]
        (shown,) = page["pictures"]
        picture = client.get(f"/{shown['src']}")
        assert picture.content == PNG
        assert picture.headers["content-type"] == "image/png"
        assert client.get(f"/{shown['src'].replace('n=0', 'n=1')}").status_code == 404


@pytest.mark.parametrize("label", ["thing 18", "thing 19"])
def test_a_picture_outside_the_folder_is_not_shown(opened, client_of, label):
    with client_of(Workspace(opened)) as client:
        page = client.get("/api/row", params={"label": label}).json()
        assert page["pictures"] == []
        picture = client.get("/api/picture", params={"label": label})
        assert picture.status_code == 404


def test_a_table_that_has_changed_is_not_believed(opened, folder, client_of):
    table = folder / "things.csv"
    before = table.read_text()
    try:
        table.write_text(before.replace("photos/3.png", "photos/4.png"))
        with client_of(Workspace(opened)) as client:
            page = client.get("/api/row", params={"label": "thing 3"}).json()
        assert page["pictures"] == page["links"] == []
    finally:
        table.write_text(before)


def test_a_report_shows_pictures_below_its_own_folder(
    opened, folder, tmp_path, answers_in
):
    def pictures(path):
        write_report(opened.embedding, path, file=opened.file)
        answers = answers_in(path.read_text())
        return answers["/api/row"][json.dumps(["thing 3"])]["pictures"]

    (shown,) = pictures(folder / "report.html")
    assert shown["src"] == "photos/3.png"
    assert pictures(tmp_path / "report.html") == []


def test_the_page_of_a_label_shows_its_picture_and_link(opened, serving, browser):
    with serving(Workspace(opened)) as address, watched(browser, address) as new_page:
        page = new_page()
        page.goto(f"{address}#/label?label=thing 3")
        picture = page.locator("img.picture")
        assert picture.get_attribute("alt") == "thing 3: photo"
        until(page, lambda: picture.evaluate("x => x.naturalWidth") == 1)
        link = page.get_by_role("link", name="https://example.org/3")
        assert link.get_attribute("href") == "https://example.org/3"
        assert link.get_attribute("rel") == "noopener noreferrer"
