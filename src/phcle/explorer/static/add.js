// Enter a new label and see where it lands after every change. The URL holds the form.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const form = document.getElementById("new");
  if (!form) return;
  const landing = document.getElementById("landing");
  const hint = [...landing.childNodes];
  const twin = document.getElementById("new-twin");
  const label = document.getElementById("new-label");
  const texts = [...form.querySelectorAll("textarea")];
  const state = { parents: [], values: [] };
  let opening = null; // a promise of the map, once requested
  let asked = 0;

  function chip(content, remove, name) {
    const off = { type: "button", class: "chip-off", "aria-label": `Remove ${name}` };
    const button = element("button", { ...off, onclick: remove }, "×");
    return element("li", { class: "chip" }, ...content, button);
  }

  function without(list, item) {
    return list.filter((each) => each !== item);
  }

  function value_control(each) {
    if (each.sort === "numbers") {
      return element("input", {
        type: "number",
        step: "any",
        value: each.value,
        "aria-label": `Value of ${each.column}`,
        onchange: (event) => {
          each.value = Number(event.target.value);
          changed();
        },
      });
    }
    const turn = () => {
      each.value = each.value ? 0 : 1;
      changed();
    };
    const told = each.value ? "has" : "not";
    return element(
      "button",
      {
        type: "button",
        class: "chip-turn",
        "aria-label": `${each.column}: ${told}; switch`,
        onclick: turn,
      },
      told,
    );
  }

  function draw() {
    document.getElementById("parents")?.replaceChildren(
      ...state.parents.map((each) =>
        chip([Phcle.name(each.name)], () => drop("parents", each), each.name),
      ),
    );
    document.getElementById("values")?.replaceChildren(
      ...state.values.map((each) => {
        const made = chip(
          [
            value_control(each),
            Phcle.name(each.column),
            element("span", { class: "quiet" }, each.context),
          ],
          () => drop("values", each),
          each.column,
        );
        if (!each.value && each.sort === "tags") made.classList.add("lacks");
        return made;
      }),
    );
  }

  function drop(kind, item) {
    state[kind] = without(state[kind], item);
    changed();
  }

  function remember() {
    const pairs = [];
    if (label.value) pairs.push(["label", label.value]);
    for (const { node, name } of state.parents) pairs.push(["parent", Phcle.pack([node, name])]);
    for (const { context, column, value, sort } of state.values) {
      pairs.push(["value", Phcle.pack([context, column, value, sort])]);
    }
    for (const { dataset, value } of texts) {
      if (value) pairs.push(["text", Phcle.pack([dataset.context, value])]);
    }
    root.history.replaceState(null, "", `/add?${Phcle.query(pairs)}`);
  }

  function restore() {
    const kept = new URLSearchParams(root.location.search);
    label.value = kept.get("label") || "";
    for (const text of kept.getAll("parent")) {
      const [node, name] = Phcle.unpack(text);
      state.parents.push({ node: node, name: name || node });
    }
    for (const text of kept.getAll("value")) {
      const [context, column, value, sort] = Phcle.unpack(text);
      const number = Number(value);
      state.values.push({ context, column, value: number, sort: sort || "tags" });
    }
    for (const text of kept.getAll("text")) {
      const [context, value] = Phcle.unpack(text);
      const box = texts.find(({ dataset }) => dataset.context === context);
      if (box) box.value = value;
    }
  }

  function body() {
    return JSON.stringify({
      label: label.value,
      parents: state.parents.map(({ node }) => node),
      values: state.values.map(({ context, column, value }) => ({ context, column, value })),
      texts: Object.fromEntries(texts.map(({ dataset, value }) => [dataset.context, value])),
    });
  }

  function has_something() {
    const known = state.parents.length + state.values.length;
    return label.value.trim() && (known || texts.some(({ value }) => value.trim()));
  }

  async function export_file() {
    const response = await fetch("/api/add/export", {
      method: "POST",
      body: body(),
      headers: { "Content-Type": "application/json" },
    });
    if (response.ok) Phcle.save(await response.blob(), "more.phcle");
    else landing.append(Phcle.failure(new Error("the file could not be written")));
  }

  // A number with its interval, or a bar for the confidence of another value.
  function how_sure({ confidence, value, low, high }) {
    if (confidence === null) {
      const interval = low === null ? "" : ` (${Phcle.number(low)} to ${Phcle.number(high)})`;
      return [element("span", { class: "near-value interval" }, Phcle.number(value) + interval)];
    }
    const sure = `${Math.round(100 * confidence)}% sure`;
    return [Phcle.bar(confidence, "faint"), element("span", { class: "near-value" }, sure)];
  }

  function attributes(rows) {
    return element(
      "ul",
      { class: "attributes predicted" },
      ...rows.slice(0, 8).map((each) =>
        element(
          "li",
          {},
          element("span", { class: "attribute-name" }, Phcle.name(each.name)),
          element("span", { class: "quiet" }, each.context),
          ...how_sure(each),
        ),
      ),
    );
  }

  function show(answer) {
    const save = { type: "button", class: "button main", onclick: export_file };
    const parts = [
      element("h2", {}, Phcle.name(answer.name), " lands near"),
      Phcle.near_list(answer.neighbours),
    ];
    for (const why of answer.why) {
      parts.push(
        element(
          "details",
          { class: "why" },
          element("summary", {}, "why ", Phcle.name(why.b.name)),
          element("div", { class: "why-body" }, Phcle.explanation(why)),
        ),
      );
    }
    if (answer.predicted.length) {
      parts.push(element("h3", {}, "Predicted"), attributes(answer.predicted));
    }
    for (const note of answer.notes) parts.push(element("p", { class: "warning" }, note));
    parts.push(
      element("h3", {}, "Export"),
      element(
        "p",
        { class: "actions" },
        element("button", save, "Embedding with this label"),
      ),
      Phcle.downloads(answer.neighbours, "neighbours"),
    );
    landing.replaceChildren(...parts);
    landing.dataset.landed = answer.label;
  }

  async function show_on_map(answer) {
    document.getElementById("map").hidden = false;
    const provider = { map: () => Phcle.get("/api/map") };
    const bare = { panels: false };
    opening = opening || Phcle.mount_map(document.getElementById("map"), provider, bare);
    const map = await opening;
    const rows = answer.neighbours.slice(0, 5).map((x) => map.data.labels.indexOf(x.label));
    map.pin(answer.place[0], answer.place[1], answer.name, rows);
  }

  // Nothing that belongs to other inputs may stay.
  function forget(...instead) {
    landing.replaceChildren(...instead);
    delete landing.dataset.landed;
    document.getElementById("map").hidden = true;
  }

  // Say it if labels with this id or name exist.
  async function warn() {
    const typed = label.value.trim().toLowerCase();
    const found = typed
      ? (await Phcle.get("/api/search", [["q", label.value.trim()], ["limit", 5]])).labels
      : [];
    if (typed !== label.value.trim().toLowerCase()) return; // it has changed since
    const same = found.filter(
      (each) => each.label.toLowerCase() === typed || each.name.toLowerCase() === typed,
    );
    const links = same.flatMap((each, i) => [i ? ", " : " ", Phcle.label_link(each)]);
    twin.replaceChildren(...(same.length ? ["A label of this name exists:", ...links] : []));
    twin.hidden = !same.length;
  }

  async function ask() {
    asked += 1;
    const mine = asked;
    warn().catch(() => {});
    if (!has_something()) {
      forget(...hint);
      return;
    }
    landing.setAttribute("aria-busy", "true");
    try {
      const answer = await Phcle.post("/api/add", body());
      if (mine !== asked) return;
      show(answer);
      await show_on_map(answer);
    } catch (error) {
      if (mine === asked) forget(Phcle.failure(error));
    }
    if (mine === asked) landing.removeAttribute("aria-busy");
  }

  const ask_soon = Phcle.settled(ask);
  function changed() {
    draw();
    remember();
    ask_soon();
  }

  const parent = document.getElementById("new-parent");
  if (parent) {
    Phcle.suggest(parent, {
      placeholder: "a node of the taxonomy",
      name: "Nodes found",
      none: "no such node",
      find: Phcle.settled(async (typed) => {
        if (!typed.trim()) return [];
        return (await Phcle.get("/api/nodes", [["q", typed]])).nodes;
      }),
      show: ({ name, above }) => [
        name,
        element("span", { class: "map-count" }, above.length ? `in ${above[0]}` : "root"),
      ],
      take: ({ node, name }, box) => {
        box.value = "";
        if (state.parents.some((each) => each.node === node)) return;
        state.parents = [...state.parents, { node, name }];
        changed();
      },
    });
  }
  const attribute = document.getElementById("new-attribute");
  if (attribute) {
    Phcle.suggest_attributes(
      attribute,
      ({ context, name, sort }, box) => {
        box.value = "";
        const own = { context: context, column: name, value: 1, sort: sort };
        const others = state.values.filter(
          (each) => each.context !== context || each.column !== name,
        );
        state.values = [...others, own];
        changed();
      },
      ["tags", "numbers"],
    );
  }
  label.addEventListener("input", changed);
  for (const box of texts) box.addEventListener("input", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  restore();
  draw();
  ask();
})(window);
