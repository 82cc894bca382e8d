// Inputs that suggest labels, nodes and attributes while one types.
(function (root) {
  "use strict";
  const { html } = Phcle;
  const MOST = 12;

  // Suggestions of the server; in a report, names of the map.
  async function find(typed) {
    if (!typed.trim()) return { labels: [], nodes: [] };
    if (!Phcle.is_report) return Phcle.get("/api/search", { q: typed, limit: MOST });
    const { names, labels } = (await Phcle.columns()).map;
    const text = typed.trim().toLowerCase();
    const at = (i) => names[i].toLowerCase().indexOf(text);
    const rows = [...names.keys()].filter((i) => at(i) >= 0 || labels[i].toLowerCase() === text);
    rows.sort((a, b) => at(a) - at(b) || names[a].length - names[b].length);
    const found = rows.slice(0, MOST).map((i) => ({ label: labels[i], name: names[i] }));
    return { labels: found, nodes: [] };
  }

  const shown = (name, note) => [Phcle.name(name), html`<span class="map-count">${note}</span>`];

  // An input in a holder; its list of suggestions stands below it. `input` has id and name.
  Phcle.suggest = function (input, options) {
    const list = Phcle.combobox(input.id, { ...options, input });
    return html`<span class="holder">${input}${list}</span>`;
  };

  const suggest_found = (input, take, options) =>
    Phcle.suggest(input, {
      placeholder: input.placeholder,
      find: Phcle.settled(async (typed) => (await find(typed))[options.kind]),
      take,
      ...options,
    });

  Phcle.suggest_labels = (input, take) =>
    suggest_found(input, take, {
      kind: "labels",
      show: ({ label, name }) => shown(name, label === name ? "" : label),
    });

  Phcle.suggest_nodes = (input, take) =>
    suggest_found(input, take, {
      kind: "nodes",
      name: "Nodes found",
      none: "no such node",
      show: ({ name, above }) => shown(name, above?.length ? `in ${above[0]}` : ""),
    });

  // Attributes are columns of tables and tags, found by what their names hold:
  // {context, title, kind}.
  Phcle.all_attributes = async function (columns) {
    const tags = await Promise.all(columns.tag_sets.map(({ context }) => columns.load_tags(context)));
    return [
      ...columns.fields,
      ...tags.flatMap(({ context, columns: titles }) =>
        titles.map((title) => ({ context, title, kind: "tag" })),
      ),
    ];
  };

  Phcle.suggest_attributes = (input, columns, take) =>
    Phcle.suggest(input, {
      placeholder: input.placeholder || "an attribute",
      name: "Attributes found",
      none: "no such attribute",
      find: async (typed) => {
        const text = typed.trim().toLowerCase();
        const starts = ({ title }) => Number(title.toLowerCase().startsWith(text));
        return (await Phcle.all_attributes(columns))
          .filter(({ title }) => title.toLowerCase().includes(text))
          .sort((a, b) => starts(b) - starts(a))
          .slice(0, MOST);
      },
      show: ({ context, title }) => shown(title, context),
      take,
    });
})(window);
