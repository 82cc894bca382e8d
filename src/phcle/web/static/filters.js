// Filters of labels, shared by the table and the map. The URL holds them as repeated values
// `filter`, each a JSON array; see label_filters.py.
//
//   Phcle.filters.read(search)      the filters of a query
//   Phcle.filters.pairs(list)       the same as pairs for Phcle.query
//   Phcle.filters.panel(host, {filters, changed, facets})
//                                   bars and histograms; changed(list) is called with new filters.
//                                   facets(list) counts labels; by default the server does.
//                                   Returns {show(list)}.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 240;
  const HEIGHT = 56;

  const same = (filter, context, field) => filter[0] === context && filter[1] === field;
  const of = (list, context, field) => list.find((each) => same(each, context, field));
  const without = (list, context, field) => list.filter((each) => !same(each, context, field));
  const count = (n) => n.toLocaleString("en");

  function read(search) {
    return new URLSearchParams(search)
      .getAll("filter")
      .map((text) => {
        try {
          return JSON.parse(text);
        } catch {
          return null;
        }
      })
      .filter(Array.isArray);
  }

  const pairs = (list) => list.map((each) => ["filter", JSON.stringify(each)]);

  // A filter in words, for the list of those in use.
  function words([context, field, kind, ...rest]) {
    if (kind === "range") {
      const [low, high] = rest;
      if (low === null) return `${field} at most ${Phcle.number(high)}`;
      if (high === null) return `${field} at least ${Phcle.number(low)}`;
      return `${field} ${Phcle.number(low)} to ${Phcle.number(high)}`;
    }
    if (kind === "has") return `name has “${rest[0]}”`;
    if (!context && field === "values") return "observed values only";
    const values = rest[0].map((value) => (value === "" ? "unknown" : value)).join(" or ");
    return `${field}: ${values}`;
  }

  function drawn(kind, attributes) {
    const made = document.createElementNS(SVG, kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function panel(host, options) {
    let filters = options.filters;
    const ask = options.facets || ((list, how) => Phcle.get("/api/facets", pairs(list), how));
    let asked = null;
    let names = new Map(); // readable names of values, such as nodes

    function set(list) {
      filters = list;
      options.changed(list);
      show(list);
    }

    function toggle(context, field, value) {
      const own = of(filters, context, field);
      const values = own ? own[3] : [];
      const next = values.includes(value)
        ? values.filter((each) => each !== value)
        : [...values, value];
      const rest = without(filters, context, field);
      set(next.length ? [...rest, [context, field, "in", next]] : rest);
    }

    function bar(facet, each, most) {
      const is_tag = facet.kind === "tags";
      const field = is_tag ? each.value : facet.field;
      const value = is_tag ? "yes" : each.value;
      const own = of(filters, facet.context, field);
      const is_on = Boolean(own && own[3].includes(value));
      const share = (n) => `${((100 * n) / Math.max(most, 1)).toFixed(1)}%`;
      const svg = drawn("svg", { class: "facet-bar", "aria-hidden": "true" });
      svg.append(
        drawn("rect", { class: "facet-all", width: share(each.all), height: "100%", rx: 2 }),
        drawn("rect", { class: "facet-now", width: share(each.n), height: "100%", rx: 2 }),
      );
      const button = element(
        "button",
        {
          type: "button",
          class: "facet-value",
          "aria-pressed": String(is_on),
          onclick: () => toggle(facet.context, field, value),
        },
        element("span", { class: "facet-name" }, Phcle.name(each.name)),
        element("span", { class: "facet-n" }, count(each.n)),
        svg,
      );
      return element("li", {}, button);
    }

    function ranged(facet, low, high) {
      const rest = without(filters, facet.context, facet.field);
      const is_whole = low === null && high === null;
      set(is_whole ? rest : [...rest, [facet.context, facet.field, "range", low, high]]);
    }

    function histogram(facet) {
      const { bars } = facet;
      const most = Math.max(...bars.map(({ all }) => all), 1);
      const step = WIDTH / bars.length;
      const own = of(filters, facet.context, facet.field);
      const [low, high] = own ? [own[3], own[4]] : [null, null];
      const svg = drawn("svg", {
        class: "histogram-bars",
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${facet.title}: from ${Phcle.number(bars[0].low)} to ${Phcle.number(bars.at(-1).high)}`,
      });
      const columns = bars.map((each, i) => {
        const height = (n) => (HEIGHT * n) / most;
        const is_in =
          (low === null || each.high > low) && (high === null || each.low < high);
        const room = drawn("rect", { x: i * step, y: 0, width: step, height: HEIGHT, class: "facet-room" });
        const column = (n, kind) =>
          drawn("rect", {
            x: i * step + 0.5,
            y: HEIGHT - height(n),
            width: step - 1,
            height: height(n),
            class: is_in ? kind : `${kind} off`,
          });
        svg.append(room, column(each.all, "facet-all"), column(each.n, "facet-now"));
        return room;
      });
      let from = null;
      const at = (event) => {
        const box = svg.getBoundingClientRect();
        const i = Math.floor((bars.length * (event.clientX - box.left)) / box.width);
        return Math.min(Math.max(i, 0), bars.length - 1);
      };
      const mark = (a, b) =>
        columns.forEach((room, i) => room.classList.toggle("is-marked", i >= a && i <= b));
      svg.addEventListener("pointerdown", (event) => {
        from = at(event);
        svg.setPointerCapture(event.pointerId);
        mark(from, from);
      });
      svg.addEventListener("pointermove", (event) => {
        if (from !== null) mark(Math.min(from, at(event)), Math.max(from, at(event)));
      });
      svg.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const [a, b] = [Math.min(from, at(event)), Math.max(from, at(event))];
        from = null;
        ranged(
          facet,
          a === 0 ? null : bars[a].low,
          b === bars.length - 1 ? null : bars[b].high,
        );
      });
      const end = (title, value, shown, take) =>
        element("input", {
          type: "number",
          step: "any",
          value: value === null ? "" : Phcle.number(value),
          placeholder: Phcle.number(shown),
          "aria-label": `${facet.title}, ${title}`,
          onchange: (event) =>
            take(event.target.value === "" ? null : Number(event.target.value)),
        });
      const ends = element(
        "div",
        { class: "facet-ends" },
        end("least", low, bars[0].low, (value) => ranged(facet, value, high)),
        element("span", { "aria-hidden": "true" }, "to"),
        end("most", high, bars.at(-1).high, (value) => ranged(facet, low, value)),
      );
      return [svg, ends];
    }

    function section(facet) {
      const most = Math.max(...facet.bars.map(({ all }) => all), 1);
      const content =
        facet.kind === "bins"
          ? histogram(facet)
          : [element("ul", { class: "facet-list" }, ...facet.bars.map((each) => bar(facet, each, most)))];
      if (facet.n_more) {
        content.push(element("p", { class: "quiet" }, `and ${count(facet.n_more)} more`));
      }
      return element("section", { class: "facet" }, element("h3", {}, Phcle.name(facet.title)), ...content);
    }

    function in_use() {
      const chips = filters.map((each) => {
        const [context, field] = each;
        const shown = each[2] === "in" && field === "branch"
          ? [context, "in", "in", each[3].map((value) => names.get(value) || value)]
          : each;
        const off = {
          type: "button",
          class: "chip-off",
          "aria-label": `Remove the filter ${words(shown)}`,
          onclick: () => set(without(filters, context, field)),
        };
        return element("li", { class: "chip" }, Phcle.name(words(shown)), element("button", off, "×"));
      });
      return element("ul", { class: "chips filters-in-use" }, ...chips);
    }

    function text_box() {
      const own = of(filters, "", "text");
      const box = element("input", {
        type: "search",
        placeholder: "part of a name",
        "aria-label": "Part of a name or id",
        value: own ? own[3] : "",
        onchange: (event) => {
          const rest = without(filters, "", "text");
          const part = event.target.value.trim();
          set(part ? [...rest, ["", "text", "has", part]] : rest);
        },
      });
      return box;
    }

    function observed_only() {
      const is_on = Boolean(of(filters, "", "values"));
      const box = element("input", { type: "checkbox" });
      box.checked = is_on;
      box.addEventListener("change", () => {
        const rest = without(filters, "", "values");
        set(box.checked ? [...rest, ["", "values", "in", ["observed"]]] : rest);
      });
      return element("label", { class: "facet-switch" }, box, " filter by observed values only");
    }

    async function show(list) {
      filters = list;
      if (asked) asked.abort(); // the visitor has gone on
      asked = new AbortController();
      const mine = asked;
      host.setAttribute("aria-busy", "true");
      try {
        const answer = await ask(list, { signal: mine.signal });
        if (mine !== asked) return;
        for (const { bars } of answer.facets) {
          for (const { value, name } of bars) names.set(value, name);
        }
        const focused = host.contains(document.activeElement)
          ? document.activeElement.getAttribute("aria-label") || document.activeElement.textContent
          : null;
        const has_fields = answer.facets.some(({ context }) => context);
        host.replaceChildren(
          element(
            "div",
            { class: "facets-head" },
            text_box(),
            ...(has_fields ? [observed_only()] : []),
            in_use(),
          ),
          ...answer.facets.map(section),
        );
        // Controls are drawn anew; the same one keeps the focus.
        if (focused) {
          [...host.querySelectorAll("button, input")]
            .find((each) => (each.getAttribute("aria-label") || each.textContent) === focused)
            ?.focus({ preventScroll: true });
        }
        host.removeAttribute("aria-busy");
      } catch (error) {
        if (error.name !== "AbortError") host.replaceChildren(Phcle.failure(error));
      }
    }

    show(filters);
    return { show };
  }

  Phcle.filters = { read, pairs, words, panel };
})(window);
