// The map of all labels. The URL holds view, chosen labels and colours; a choice or another
// colouring makes an entry in the history, moving the map does not.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const LOOK_MS = 1000;
  const MOST_COMPARED = 8;
  const MOST_KEPT = 200; // chosen labels that fit into a URL
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
      const waiting = (message) => Phcle.map?.tell(`Preparing… ${message}`);
      const pairs = [["context", context], ["column", column]];
      return Phcle.get("/api/colour", pairs, { signal: colouring.signal, waiting }).catch(
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
      if (!list.length) {
        map.keep(null);
        return;
      }
      const waiting = (message) => map.tell(message);
      const pairs = Phcle.filters.pairs(list);
      const found = await Phcle.get("/api/rows", pairs, { signal: asked.signal, waiting });
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

  function colour_pairs(map) {
    const { title, context, column } = map.base;
    if (context) {
      const mode = map.mode === "value" ? [] : [["mode", map.mode]];
      return [["context", context], ["column", column], ...mode];
    }
    return map.base === map.data.colourings[0] ? [] : [["colour", title]];
  }

  function remember(map, what) {
    if (is_restoring) return;
    const pairs = [];
    const kept = new URLSearchParams(root.location.search);
    if (kept.get("map")) pairs.push(["map", kept.get("map")]);
    const chosen = map.chosen_label();
    if (chosen !== null) pairs.push(["label", chosen]);
    pairs.push(...colour_pairs(map), ...Phcle.filters.pairs(map.filters));
    if (map.group !== null) pairs.push(["group", map.colouring.groups[map.group]]);
    if (map.many.length && map.many.length <= MOST_KEPT) {
      pairs.push(["rows", map.many.join(",")]);
    }
    if (!map.view.is_home || chosen !== null) {
      pairs.push(["at", map.view.where().map((value) => value.toFixed(4)).join(",")]);
    }
    const query = Phcle.query(pairs);
    const address = query ? `/?${query}` : "/";
    if (address === root.location.pathname + root.location.search) return;
    if (what === "view") root.history.replaceState(null, "", address);
    else root.history.pushState(null, "", address);
  }

  async function restore_colours(map, kept) {
    const [context, column] = [kept.get("context"), kept.get("column")];
    const has = (each) => each.context === context && each.column === column;
    const known = map.data.colourings.find(has);
    if (!context) map.colour_by(kept.get("colour") ?? map.data.colourings[0].title);
    else if (known) map.pick_colours(known, kept.get("mode"));
    else {
      await map
        .colour_by_attribute(context, column, kept.get("mode"))
        .catch((error) => map.tell(error.message));
    }
    const group = (map.colouring.groups || []).indexOf(kept.get("group"));
    if (group >= 0) map.show_group(group);
  }
  async function restore(map) {
    is_restoring = true;
    const kept = new URLSearchParams(root.location.search);
    await restore_colours(map, kept);
    await map.restore_filters(Phcle.filters.read(root.location.search));
    const at = (kept.get("at") || "").split(",").map(Number);
    const has_view = at.length === 3 && at.every(Number.isFinite) && at[2] > 0;
    const rows = (kept.get("rows") || "").split(",").filter(Boolean).map(Number);
    const label = kept.get("label");
    if (rows.length && rows.every((row) => row in map.data.labels)) map.choose_many(rows);
    else if (label === null) map.choose(null);
    else await map.go_to_label(label).catch((error) => map.tell(error.message));
    if (has_view) map.view.go(...at);
    else if (label === null) map.view.show_all();
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
