"""Pages other than the map on a phone: what is needed is in view and can be read."""

from __future__ import annotations

import pytest

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}

# Words of table headings that are broken into several lines.
BROKEN = """[...document.querySelectorAll(".scroll thead th")].flatMap((th) => {
  const walker = document.createTreeWalker(th, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    const { data } = walker.currentNode;
    for (const { 0: word, index } of data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})"""


@pytest.fixture
def phone(browser, patchy_address):
    """Open a page on a phone."""
    context = browser.new_context(**PHONE)
    page = context.new_page()

    def opened(path):
        page.goto(patchy_address + path)
        return page

    yield opened
    context.close()


@pytest.mark.parametrize("path", ["/complete", "/about", "/table"])
def test_the_current_section_is_in_view(phone, path):
    page = phone(path)
    box = page.locator(".top nav [aria-current]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("path", ["/complete", "/about", "/table"])
def test_words_of_headings_are_not_broken(phone, path):
    page = phone(path)
    page.wait_for_selector(".scroll thead th")
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_bars_of_a_node_stand_beside_their_names(phone):
    page = phone("/node?node=g0")
    row = page.locator(".shared li", has=page.locator(".two-bars")).first
    name = row.locator(".attribute-name").bounding_box()
    bars = row.locator(".two-bars").bounding_box()
    assert bars["x"] >= name["x"] + name["width"]


def test_comparison_offers_labels_and_their_nearest(phone):
    page = phone("/compare")
    first = page.locator(".chooser .chips a").first
    names = first.inner_text().split(" and ")
    first.click()
    page.wait_for_selector("#similar-title")
    assert page.locator("#chosen .chip a:first-child").all_inner_texts() == names
