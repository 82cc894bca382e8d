// A part of the table of labels, as the server renders it: on the page of the table, and beside
// the map. Links for order and pages, and crosses of columns, fetch the next part.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;

  // part() is the element that is replaced, open(address) is called when the visitor asks for
  // another part, and missing() is called for a page that has none, as it shows an error.
  // Returns fetch_part(address).
  Phcle.table_part = function (host, part, { open, missing }) {
    let asked = null;

    host.addEventListener("click", (event) => {
      const link = event.target.closest(".sorting, .pager a");
      if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        open(link.getAttribute("href"));
      }
      const hidden = event.target.closest("[data-column]")?.dataset.column;
      if (hidden === undefined) return;
      const columns = [...host.querySelectorAll("[data-column]")].map((x) => x.dataset.column);
      open(
        Phcle.table_address(host.querySelector(".sorting").getAttribute("href"), (kept) => {
          kept.delete("column");
          for (const each of columns) if (each !== hidden) kept.append("column", each);
        }),
      );
    });

    return async function (address) {
      if (asked) asked.abort(); // the visitor has gone on
      asked = new AbortController();
      part().setAttribute("aria-busy", "true");
      try {
        const response = await fetch(address, { signal: asked.signal });
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const next = page.getElementById("part");
        if (next) part().replaceWith(next);
        else missing();
      } catch (error) {
        if (error.name !== "AbortError") part().replaceChildren(Phcle.failure(error));
      }
    };
  };

  // An address of the table with a change, at its first page.
  Phcle.table_address = function (address, change) {
    const kept = new URL(address, root.location.href).searchParams;
    kept.delete("page");
    change(kept);
    return `/table?${kept}`;
  };
})(window);
