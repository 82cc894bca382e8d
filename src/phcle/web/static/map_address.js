// What a map shows, as pairs of an address: chosen labels, colours, filters and view.
//
//   Phcle.map_address.pairs(map)          the pairs of a map, for URLSearchParams
//   Phcle.map_address.restore(map, kept)  show what URLSearchParams say
//
// The map has `filters` and `restore_filters`, which its page adds. Explorer and report keep the
// pairs in different parts of the address.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const MOST_KEPT = 200; // chosen labels in an address, which must not be too long

  function colour_pairs(map) {
    const { title, context, column } = map.base;
    if (context) {
      const mode = map.mode === "value" ? [] : [["mode", map.mode]];
      return [["context", context], ["column", column], ...mode];
    }
    return map.base === map.data.colourings[0] ? [] : [["colour", title]];
  }

  function pairs(map) {
    const found = [];
    const chosen = map.chosen_label();
    if (chosen !== null) found.push(["label", chosen]);
    found.push(...colour_pairs(map), ...Phcle.filters.pairs(map.filters));
    if (map.group !== null) found.push(["group", map.colouring.groups[map.group]]);
    if (map.many.length && map.many.length <= MOST_KEPT) {
      found.push(["rows", map.many.join(",")]);
    }
    if (!map.view.is_home || chosen !== null) {
      found.push(["at", map.view.where().map((value) => value.toFixed(4)).join(",")]);
    }
    return found;
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

  async function restore(map, kept) {
    await restore_colours(map, kept);
    await map.restore_filters(Phcle.filters.read(kept));
    const at = (kept.get("at") || "").split(",").map(Number);
    const has_view = at.length === 3 && at.every(Number.isFinite) && at[2] > 0;
    const rows = (kept.get("rows") || "").split(",").filter(Boolean).map(Number);
    const label = kept.get("label");
    if (rows.length && rows.every((row) => row in map.data.labels)) map.choose_many(rows);
    else if (label === null) map.choose(null);
    else await map.go_to_label(label).catch((error) => map.tell(error.message));
    if (has_view) map.view.go(...at);
    else if (label === null) map.view.show_all();
  }

  Phcle.map_address = { pairs, restore };
})(window);
