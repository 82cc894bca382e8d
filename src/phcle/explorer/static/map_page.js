// The map of all labels. The URL holds view, chosen labels and colours; a choice or another
// colouring makes an entry in the history, moving the map does not.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const LOOK_MS = 1000;
  const MOST_COMPARED = 8;
  const host = document.getElementById("map");
  let is_restoring = true;
  let data = null;
  let colouring = null; // the request for colours that is under way

  const provider = {
    map: async () => (data = await Phcle.get("/api/map")),
    nearest: async (label) =>
      (await Phcle.get("/api/nearest", [["label", label], ["k", 10]])).neighbours,
    address: Phcle.label_address,
    place: (label) => Phcle.get("/api/place", [["label", label]]),
    colour: (context, column) => {
      if (colouring) colouring.abort(); // the visitor has gone on
      colouring = new AbortController();
      const pairs = [["context", context], ["column", column]];
      return Phcle.get("/api/colour", pairs, { signal: colouring.signal }).catch(
        (error) => {
          if (error.name === "AbortError") return new Promise(() => {}); // another one comes
          throw error;
        },
      );
    },
  };
  if (host.dataset.hasAttributes === "yes") {
    provider.attributes = Phcle.settled(async (typed) => {
      if (!typed.trim()) return [];
      return (await Phcle.get("/api/attributes", [["q", typed]])).attributes;
    });
  }

  function list_tools(rows) {
    const parts = [Phcle.downloads(rows, "labels")];
    if (rows.length > 1 && rows.length <= MOST_COMPARED) {
      const all = Phcle.query(rows.map(({ label }) => ["label", label]));
      const link = { class: "button", href: `/compare?${all}` };
      parts.unshift(element("p", {}, element("a", link, "Compare them")));
    }
    return parts;
  }

  // Filters of the table, in a panel that a button opens; they stand in the URL.
  function add_filters(map) {
    const host_of_bars = element("div", {}, element("p", { class: "quiet" }, "Counting…"));
    let panel = null;
    let asked = null;
    const { show } = map.add_panel("Filters", "filter", host_of_bars, () => {
      panel ??= Phcle.filters.panel(host_of_bars, { filters: map.filters, changed });
    });

    async function apply(list) {
      if (asked) asked.abort(); // the visitor has gone on
      asked = new AbortController();
      map.filters = list;
      map.show_rows();
      if (!list.length) {
        map.keep(null);
        return;
      }
      const pairs = Phcle.filters.pairs(list);
      const found = await Phcle.get("/api/rows", pairs, { signal: asked.signal });
      map.keep(Phcle.unpacked_array(`u4:${found.rows}`));
      map.tell(`${found.n.toLocaleString("en")} of ${found.total.toLocaleString("en")} labels.`);
    }

    function changed(list) {
      apply(list).then(
        () => remember(map, "colours"),
        (error) => error.name !== "AbortError" && map.tell(error.message),
      );
    }

    map.filters = [];
    map.restore_filters = async (list) => {
      if (JSON.stringify(list) === JSON.stringify(map.filters)) return;
      if (list.length) show(true);
      await apply(list).catch((error) => map.tell(error.message));
      panel?.show(list);
    };
  }

  // The table beside the map: the labels that pass the filters. A label in it is chosen on the
  // map.
  function add_table(map) {
    const empty = () => element("div", {}, element("p", { class: "quiet" }, "Loading…"));
    const rows = element("div", { class: "map-rows" }, empty());
    const fetch_part = Phcle.table_part(rows, () => rows.firstElementChild, {
      open: (address) => fetch_part(address),
      missing: () => {
        const told = element("p", { role: "status" }, "The table is not there.");
        rows.replaceChildren(element("div", {}, told));
      },
    });
    const { section } = map.add_panel("Table", "table", rows, () => map.show_rows());
    section.classList.add("map-table");
    map.show_rows = () => {
      if (!section.hidden) fetch_part(`/table?${Phcle.query(Phcle.filters.pairs(map.filters))}`);
    };
    rows.addEventListener("click", (event) => {
      const link = event.target.closest('th[scope="row"] a');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      map.go_to_label(new URL(link.href).searchParams.get("label"));
    });
  }

  function remember(map, what) {
    if (is_restoring) return;
    const kept = new URLSearchParams(root.location.search);
    const drawn = kept.get("map") ? [["map", kept.get("map")]] : [];
    const pairs = [...drawn, ...Phcle.map_address.pairs(map)];
    const query = Phcle.query(pairs);
    const address = query ? `/?${query}` : "/";
    if (address === root.location.pathname + root.location.search) return;
    if (what === "view") root.history.replaceState(null, "", address);
    else root.history.pushState(null, "", address);
  }

  async function restore(map) {
    is_restoring = true;
    await Phcle.map_address.restore(map, new URLSearchParams(root.location.search));
    is_restoring = false;
  }

  async function open() {
    const map = await Phcle.mount_map(host, provider, {
      search: false,
      list_tools: list_tools,
      changed: remember,
      entered: (label) => root.location.assign(Phcle.label_address(label)),
    });
    Phcle.map = map;
    add_filters(map);
    add_table(map);
    // On this page the search at the top moves the map instead of opening a page.
    Phcle.open_label = ({ label }) => map.go_to_label(label);
    if (host.dataset.compared && data.ready) await add_differences(map);
    await restore(map);
    if (!map.filters.length) {
      map.tell(`${map.n.toLocaleString("en")} labels, arranged by ${data.method}.`);
    }
    host.dataset.ready = data.ready ? "yes" : "no";
    if (!data.ready) wait(map);
  }

  // How the other embedding differs, once its neighbours are known too.
  async function add_differences(map) {
    const found = await Phcle.get("/api/colour/differences").catch(() => null);
    if (found) map.add_colouring(found);
    else setTimeout(() => add_differences(map), 5 * LOOK_MS);
  }

  async function wait(map) {
    const { labels } = await Phcle.get("/api/status");
    if (labels.ready) {
      is_restoring = true;
      await open();
      return;
    }
    if (labels.failed) {
      map.tell("The final map could not be computed; this is a first sketch.");
      return;
    }
    const n = labels.done && labels.done < labels.total ? `, ${labels.done} of ${labels.total}` : "";
    map.tell(`A first sketch; the final map is being computed (${labels.stage}${n}).`);
    setTimeout(() => wait(map), LOOK_MS);
  }

  root.addEventListener("popstate", () => Phcle.map && restore(Phcle.map));
  open().catch((error) => host.replaceChildren(Phcle.failure(error)));
})(window);
