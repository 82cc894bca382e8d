"""Pages in a browser that may not complain, or ask another place for anything."""

from __future__ import annotations

from contextlib import contextmanager

__all__ = ["SLOW_MS", "pick", "until", "watched"]

SLOW_MS = 20_000


def until(page, holds):
    """Wait until something holds; the pages' policy forbids `wait_for_function`."""
    for _ in range(SLOW_MS // 25):
        if holds():
            return
        page.wait_for_timeout(25)
    raise AssertionError("it did not happen")


def pick(page, box, text):
    """Type into a box and take the first suggestion."""
    page.fill(f"#{box}", text)
    page.wait_for_selector(f"#{box}-found li:has-text({text!r})")
    page.press(f"#{box}", "Enter")


@contextmanager
def watched(browser, *own, may_be_missing=False):
    """Give a function that opens windows, whose pages ask their own addresses alone.

    The console says if a page is missing; that may be what is tested.
    """
    contexts, complaints, asked = [], [], []

    def new_page(**options):
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        context.set_default_timeout(SLOW_MS)
        contexts.append(context)
        page = context.new_page()
        if not may_be_missing:
            page.on(
                "console", lambda x: x.type == "error" and complaints.append(x.text)
            )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [x for x in asked if not x.startswith((*own, "blob:", "data:"))] == []
