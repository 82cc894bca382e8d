// The table of all labels. Filters, order and page stand in the URL; a new part of the page is
// fetched and put in place, so that filters and scroll position stay.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const host = document.getElementById("facets");
  let asked = null;
  // On a phone the filters would push the table out of sight.
  if (root.matchMedia("(max-width: 52rem)").matches) host.parentElement.open = false;

  async function open(address, is_new = true) {
    if (asked) asked.abort(); // the visitor has gone on
    asked = new AbortController();
    const mine = asked;
    const part = document.getElementById("part");
    part.setAttribute("aria-busy", "true");
    if (is_new) root.history.pushState(null, "", address);
    try {
      const response = await fetch(address, { signal: mine.signal });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const next = page.getElementById("part");
      if (!next) root.location.reload(); // an error, or not ready: show that page
      else part.replaceWith(next);
    } catch (error) {
      if (error.name !== "AbortError") part.replaceChildren(Phcle.failure(error));
    }
  }

  function address_with(change) {
    const kept = new URLSearchParams(root.location.search);
    kept.delete("page");
    change(kept);
    return `/table?${kept}`;
  }

  const panel = Phcle.filters.panel(host, {
    filters: Phcle.filters.read(root.location.search),
    changed: (list) =>
      open(
        address_with((kept) => {
          kept.delete("filter");
          for (const [key, value] of Phcle.filters.pairs(list)) kept.append(key, value);
        }),
      ),
  });

  // Links for order and pages need not load the whole page.
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".sorting, .pager a");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open(link.getAttribute("href"));
    }
    const column = event.target.closest("[data-column]");
    if (column) {
      const shown = [...document.querySelectorAll("[data-column]")]
        .map((each) => each.dataset.column)
        .filter((each) => each !== column.dataset.column);
      open(
        address_with((kept) => {
          kept.delete("column");
          for (const each of shown) kept.append("column", each);
        }),
      );
    }
  });

  root.addEventListener("popstate", () => {
    open(root.location.href, false);
    panel.show(Phcle.filters.read(root.location.search));
  });
})(window);
