// The page of the table of all labels. Filters, order and page stand in the URL; a new part of
// the page is fetched and put in place, so that filters and scroll position stay.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const host = document.getElementById("facets");
  // On a phone the filters would push the table out of sight.
  if (root.matchMedia("(max-width: 52rem)").matches) host.parentElement.open = false;

  const fetch_part = Phcle.table_part(document.body, () => document.getElementById("part"), {
    open,
    missing: () => root.location.reload(), // an error: show that page
  });

  function open(address) {
    root.history.pushState(null, "", address);
    fetch_part(address);
  }

  const panel = Phcle.filters.panel(host, {
    filters: Phcle.filters.read(root.location.search),
    changed: (list) =>
      open(
        Phcle.table_address(root.location.href, (kept) => {
          kept.delete("filter");
          for (const [key, value] of Phcle.filters.pairs(list)) kept.append(key, value);
        }),
      ),
  });

  root.addEventListener("popstate", () => {
    fetch_part(root.location.href);
    panel.show(Phcle.filters.read(root.location.search));
  });
})(window);
