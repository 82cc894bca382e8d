// The map of all labels. The URL holds view, chosen labels and colours.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const LOOK_MS = 1000;
  const MOST_LISTED = 300;
  const MOST_COMPARED = 8;
  const MOST_KEPT = 200; // chosen labels that fit into a URL
  const host = document.getElementById("map");
  const method = document.getElementById("map-method");
  let is_restoring = true;
  let listed_now = []; // labels inside the lasso

  function as_rows(map, points) {
    return points.map((i) => ({ label: map.data.labels[i], name: map.data.names[i] }));
  }

  function show_label(map, point) {
    listed_now = [];
    if (point === null) {
      const hint = "Hover over a point, click one, or search for a label at the top.";
      map.panel.replaceChildren(element("p", { class: "map-hint" }, hint));
      return;
    }
    const label = map.data.labels[point];
    const near = element("div", { class: "near" });
    const address = Phcle.label_address(label);
    const groups = map.data.colourings.map(({ title, groups: names, codes }) =>
      element("p", { class: "quiet" }, `${title}: ${names[codes[point]]}`),
    );
    map.panel.replaceChildren(
      element("h2", {}, element("a", { href: address }, map.data.names[point])),
      ...groups,
      near,
      element("p", {}, element("a", { class: "button", href: address }, "Open its page")),
    );
    Phcle.get("/api/nearest", [["label", label], ["k", 8]])
      .then(({ neighbours }) => near.replaceChildren(Phcle.near_list(neighbours)))
      .catch((error) => near.replaceChildren(Phcle.failure(error)));
  }

  function show_many(map, points) {
    listed_now = points;
    remember(map);
    const rows = as_rows(map, points);
    const counts = new Map();
    for (const i of points) {
      const group = map.colouring.groups[map.colouring.codes[i]];
      counts.set(group, (counts.get(group) || 0) + 1);
    }
    const told = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
    const listed = rows
      .slice(0, MOST_LISTED)
      .map((row) => element("li", {}, Phcle.label_link(row)));
    const parts = [
      element("h2", {}, `${points.length.toLocaleString("en")} labels`),
      element("p", { class: "quiet" }, told.map(([name, n]) => `${name} ${n}`).join(" · ")),
      element("ul", { class: "listed", tabindex: "0", "aria-label": "Chosen" }, ...listed),
    ];
    if (rows.length > MOST_LISTED) {
      parts.push(element("p", { class: "quiet" }, `and ${rows.length - MOST_LISTED} more`));
    }
    if (rows.length > 1 && rows.length <= MOST_COMPARED) {
      const all = Phcle.query(rows.map(({ label }) => ["label", label]));
      const link = { class: "button", href: `/compare?${all}` };
      parts.push(element("p", {}, element("a", link, "Compare them")));
    }
    map.panel.replaceChildren(...parts, Phcle.downloads(rows, "labels"));
  }

  function remember(map) {
    if (is_restoring || !map.view) return;
    const pairs = [];
    const kept = new URLSearchParams(root.location.search);
    if (kept.get("map")) pairs.push(["map", kept.get("map")]);
    if (map.chosen !== null) pairs.push(["label", map.data.labels[map.chosen]]);
    if (map.colouring !== map.data.colourings[0]) {
      pairs.push(["colour", map.colouring.title]);
    }
    if (map.group !== null) pairs.push(["group", map.colouring.groups[map.group]]);
    if (listed_now.length && listed_now.length <= MOST_KEPT) {
      pairs.push(["rows", listed_now.join(",")]);
    }
    const [x, y, reach] = map.view.where();
    if (Math.abs(reach - 1) > 0.01 || Math.hypot(x, y) > 0.01) {
      pairs.push(["at", [x, y, reach].map((value) => value.toFixed(3)).join(",")]);
    }
    const query = Phcle.query(pairs);
    root.history.replaceState(null, "", query ? `/?${query}` : "/");
  }

  async function colour_by_attribute(map, context, column) {
    const pairs = [["context", context], ["column", column]];
    await map.add_colouring(await Phcle.get("/api/colour", pairs));
  }

  async function restore(map) {
    const kept = new URLSearchParams(root.location.search);
    const title = kept.get("colour");
    if (title && map.data.colourings.some((each) => each.title === title)) {
      await map.colour_by(title);
    } else if (title && title.includes(": ")) {
      const [context, ...column] = title.split(": ");
      await colour_by_attribute(map, context, column.join(": ")).catch(() => {});
    }
    const group = map.colouring.groups.indexOf(kept.get("group"));
    if (group >= 0) map.show_group(group);
    const point = map.data.labels.indexOf(kept.get("label"));
    if (point >= 0 && kept.has("at")) map.choose(point);
    else if (point >= 0) map.go_to(point);
    const at = (kept.get("at") || "").split(",").map(Number);
    if (at.length === 3 && at.every(Number.isFinite) && at[2] > 0) map.view.go(...at);
    const rows = (kept.get("rows") || "").split(",").filter(Boolean).map(Number);
    is_restoring = false;
    if (rows.length && rows.every((row) => row in map.data.labels)) {
      map.view.mark(rows);
      show_many(map, rows);
    }
  }

  function add_attribute_box(map) {
    if (host.dataset.hasAttributes !== "yes") return;
    const input = element("input", { type: "search", id: "map-attribute" });
    const label = element("label", { for: "map-attribute" }, "or by attribute");
    map.bar.insertBefore(label, map.bar.children[1]);
    map.bar.insertBefore(input, map.bar.children[2]);
    Phcle.suggest_attributes(input, ({ context, name }, box) => {
      box.value = name;
      colour_by_attribute(map, context, name);
    });
  }

  async function open() {
    const data = await Phcle.get("/api/map");
    const map = await Phcle.mount_map(host, data, {
      search: false,
      encircle: true,
      explain: show_label,
      list: show_many,
      changed: remember,
    });
    add_attribute_box(map);
    Phcle.map = map;
    // On this page the search at the top moves the map instead of opening a page.
    Phcle.open_label = ({ label }) => map.go_to(map.data.labels.indexOf(label));
    await restore(map);
    method.textContent = `Arranged by ${data.method}.`;
    host.dataset.ready = data.ready ? "yes" : "no";
    if (!data.ready) wait();
  }

  async function wait() {
    const { labels } = await Phcle.get("/api/status");
    if (labels.ready) {
      is_restoring = true;
      await open();
      return;
    }
    if (labels.failed) {
      method.textContent = "The final map could not be computed; this is a first sketch.";
      return;
    }
    const n = labels.done && labels.done < labels.total ? `, ${labels.done} of ${labels.total}` : "";
    method.textContent = `A first sketch; the final map is being computed (${labels.stage}${n}).`;
    setTimeout(wait, LOOK_MS);
  }

  open().catch((error) => host.replaceChildren(Phcle.failure(error)));
})(window);
