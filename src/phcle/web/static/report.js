// The page of a report: the map, cards of labels, colours by attributes and filters, all from
// data in the page.
//
//   Phcle.open_report(host, source) -> promise of the map
//
// The source is an element that holds base64 of compressed JSON. report/label_cards.py and
// report/map_data.py say what is in it.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const element = Phcle.element;
  const unpacked = Phcle.unpacked_array;
  const [OBSERVED, UNSAID] = [255, 254];
  const MOST_SHARED = 4;
  const MOST_OF_CONTEXT = 2;
  const GENERAL = 0.5; // what more than this share of the labels has says little
  const MOST_LISTED = 8;
  const MOST_FOUND = 12;
  const MOST_BARS = 12;
  const MOST_GROUPS = 20;
  const N_BINS = 24;

  async function unpack(source) {
    if (!root.DecompressionStream) {
      throw new Error("This browser is too old for the map: it cannot unpack its data.");
    }
    const bytes = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  // Lists of columns, one for each row.
  function lists(counts, at) {
    const sizes = unpacked(counts);
    const starts = new Uint32Array(sizes.length + 1);
    sizes.forEach((size, i) => (starts[i + 1] = starts[i] + size));
    const all = unpacked(at);
    return { starts, all, of: (row) => all.subarray(starts[row], starts[row + 1]) };
  }

  const percent = (part) => `${Math.min(99, part)} %`;

  // -- What labels have: nodes above them, tags, words, linked labels

  class Fact {
    constructor(data, n) {
      Object.assign(this, data, { n });
      this.own = lists(data.counts, data.at);
      this.nodes = data.above && lists(data.above.counts, data.above.at);
      this.guesses = data.guess_at && lists(data.guess_counts, data.guess_at);
      this.sure = data.guess_at && unpacked(data.guess_sure);
    }

    // Columns of a label; of a hierarchy all nodes above it, the nearest first.
    of(row) {
      if (!this.nodes) return this.own.of(row);
      const found = new Set(this.own.of(row));
      for (const node of found) for (const above of this.nodes.of(node)) found.add(above);
      return [...found];
    }

    // Labels that have each column.
    get sizes() {
      if (this.counted) return this.counted;
      this.counted = new Uint32Array(this.columns.length);
      for (let i = 0; i < this.n; i++) for (const column of this.of(i)) this.counted[column] += 1;
      return this.counted;
    }

    // [column, labels that have it] of what two labels have, the rarest first.
    shared(a, b) {
      const own = new Set(this.of(a));
      return [...this.of(b)]
        .filter((column) => own.has(column))
        .map((column) => [this.columns[column], this.sizes[column]])
        .sort((one, other) => one[1] - other[1])
        .slice(0, MOST_OF_CONTEXT);
    }

    guessed(row) {
      if (!this.guesses) return [];
      const start = this.guesses.starts[row];
      return Array.from(this.guesses.of(row), (column, k) => [
        this.columns[column],
        this.sure[start + k],
      ]);
    }

    // 2 for the labels that have a column, 1 for those that probably do.
    having(name) {
      const column = this.columns.indexOf(name);
      const has = new Uint8Array(this.n);
      for (let i = 0; i < this.n; i++) {
        if (this.guesses?.of(i).includes(column)) has[i] = 1;
        if (this.own.of(i).includes(column)) has[i] = 2;
      }
      return has;
    }

    get is_tree() {
      return Boolean(this.nodes);
    }
  }

  // -- Fields of tables: numbers, truth values, categories

  class Field {
    constructor(data) {
      Object.assign(this, data);
      this.how = unpacked(data.how);
      this.is_number = data.kind === "number";
      for (const key of ["numbers", "low", "high", "codes"]) {
        if (data[key]) this[key] = unpacked(data[key]);
      }
      this.is_known = this.how.map((how) => Number(how === OBSERVED));
    }

    has(row) {
      return this.is_number ? !Number.isNaN(this.numbers[row]) : this.codes[row] < this.values.length;
    }

    value(row) {
      return this.is_number ? Phcle.number(this.numbers[row]) : this.values[this.codes[row]];
    }

    said(row) {
      const how = this.how[row];
      if (how === OBSERVED) return "";
      if (this.is_number && !Number.isNaN(this.low[row])) {
        return `${Phcle.number(this.low[row])} to ${Phcle.number(this.high[row])}`;
      }
      return how === UNSAID ? "predicted" : percent(how);
    }

    get sizes() {
      if (this.counted) return this.counted;
      this.counted = new Array(this.values.length + 1).fill(0);
      for (const code of this.codes) this.counted[Math.min(code, this.values.length)] += 1;
      return this.counted;
    }

    // What two labels are known to have in common: a value, and how many labels have it.
    shared(a, b) {
      if (this.is_number || !this.is_known[a] || !this.is_known[b]) return [];
      const value = this.value(a);
      if (value !== this.value(b) || (this.kind === "truth" && value !== "yes")) return [];
      const name = this.kind === "truth" ? this.title : `${this.title}: ${value}`;
      return [[name, this.sizes[this.codes[a]]]];
    }

    colouring() {
      const { context, title, is_known, how } = this;
      const made = { title: `${context}: ${title}`, context, column: title, is_known };
      if (this.is_number) {
        const known = this.numbers.filter((value) => !Number.isNaN(value)).sort();
        const at = (part) => known[Math.round(part * (known.length - 1))] ?? 0;
        const [low, high] = [at(0.02), at(0.98)];
        return { ...made, values: this.numbers, low, high, is_log: this.is_log && low > 0 };
      }
      made.confidence = how.map((part) => (part === OBSERVED ? 255 : part === UNSAID ? 0 : 2.55 * part));
      if (this.kind === "truth") {
        // Known and predicted, "yes" and "no"; "yes" is drawn above the others.
        const code = (row) => (this.has(row) ? 2 * Number(this.value(row) === "no") + 1 - is_known[row] : 4);
        return {
          ...made,
          groups: ["yes", "probably yes", "no", "probably no", "unknown"],
          codes: how.map((_, row) => code(row)),
          shades: [
            { colour: 5 },
            { colour: 5, is_faint: true },
            { colour: 0 },
            { colour: 0, is_faint: true },
            {},
          ],
        };
      }
      const order = this.values.map((_, i) => i).sort((a, b) => this.sizes[b] - this.sizes[a]);
      const shown = order.slice(0, MOST_GROUPS);
      const rank = new Map(shown.map((code, i) => [code, i]));
      return {
        ...made,
        groups: [...shown.map((i) => this.values[i]), "other or unknown"],
        codes: Uint8Array.from(this.codes, (code) => rank.get(code) ?? shown.length),
      };
    }
  }

  // -- Answers about labels

  class Cards {
    constructor(data) {
      this.data = data;
      this.n = data.names.length;
      this.facts = data.facts.map((fact) => new Fact(fact, this.n));
      this.fields = data.fields.map((field) => new Field(field));
      this.known = data.known.map(unpacked);
      this.cosines = unpacked(data.cosines);
    }

    // Names of what two labels share, what few labels have first.
    shared(a, b) {
      return [...this.facts, ...this.fields]
        .flatMap((each) => each.shared(a, b))
        .filter(([, size]) => size <= GENERAL * this.n)
        .sort((one, other) => one[1] - other[1])
        .map(([name]) => name)
        .filter((name, i, all) => all.indexOf(name) === i) // "dog" is a node and a word
        .slice(0, MOST_SHARED);
    }

    // Title, text and certainty of each line: what is known first, then what is sure; what a
    // label does not have comes last.
    rows_of_card(row) {
      const rows = [];
      const tell = (title, text, how, order) => rows.push({ title, text, how, order });
      for (const fact of this.facts) {
        const own = Array.from(fact.of(row), (column) => fact.columns[column]);
        if (fact.is_tree) {
          if (own.length) tell("below", own.slice(0, 4).join(" › "), "", -2);
          continue;
        }
        if (own.length) tell(fact.context, own.join(", "), "", -1);
        const guessed = fact.guessed(row).map(([name, sure]) => `${name} ${percent(sure)}`);
        if (guessed.length) tell(fact.context, guessed.join(", "), "predicted", 0);
      }
      for (const field of this.fields) {
        if (!field.has(row)) continue;
        const value = field.value(row);
        const is_no = field.kind === "truth" && value === "no";
        const sure = field.how[row] % UNSAID; // 1 if it is known
        const order = field.is_known[row] ? 0 : 101 - sure;
        tell(field.title, value, field.said(row), order + (is_no ? 1000 : 0));
      }
      return rows.sort((a, b) => a.order - b.order);
    }

    details(row) {
      const made = this.rows_of_card(row);
      if (!made.length) return [];
      const list = (rows) =>
        element(
          "dl",
          { class: "map-said attributes" },
          ...rows.flatMap(({ title, text, how }) => [
            element("dt", {}, Phcle.name(title)),
            element(
              "dd",
              {},
              Phcle.name(text),
              ...(how ? [" ", element("span", { class: "guess" }, how)] : []),
            ),
          ]),
        );
      const parts = [element("h3", {}, "Attributes"), list(made.slice(0, MOST_LISTED))];
      const more = made.slice(MOST_LISTED);
      if (more.length) {
        const summary = element("summary", {}, `${more.length} more`);
        parts.push(element("details", {}, summary, list(more)));
      }
      return parts;
    }

    attributes(typed) {
      const text = typed.trim().toLowerCase();
      const all = this.fields.map(({ context, title }) => ({ context, name: title }));
      for (const fact of this.facts.filter((each) => !each.is_tree && text)) {
        const { context } = fact;
        for (const name of fact.columns) all.push({ context, name });
      }
      const has = ({ name }) => name.toLowerCase().includes(text);
      const starts = ({ name }) => Number(name.toLowerCase().startsWith(text));
      return all.filter(has).sort((a, b) => starts(b) - starts(a)).slice(0, MOST_FOUND);
    }

    colour(context, column) {
      const field = this.fields.find((x) => x.context === context && x.title === column);
      if (field) return field.colouring();
      const has = this.facts.find((x) => x.context === context && !x.is_tree).having(column);
      return {
        title: `${context}: ${column}`,
        context,
        column,
        groups: ["has it", "probably has it", "has it not, or unknown"],
        codes: has.map((each) => 2 - each),
        shades: [{ colour: 5 }, { colour: 5, is_faint: true }, {}],
      };
    }

    provider() {
      const { names, labels, neighbours } = this.data;
      const ids = labels || names;
      const near = unpacked(neighbours);
      const k = this.n ? near.length / this.n : 0;
      const rows = new Map(ids.map((label, i) => [label, i]));
      return {
        map: async () => this.data,
        nearest: async (label) => {
          const row = rows.get(label);
          return Array.from(near.subarray(row * k, (row + 1) * k), (other, i) => ({
            label: ids[other],
            name: names[other],
            similarity: (this.cosines[row * k + i] - 100) / 100,
            shared: this.shared(row, other),
          }));
        },
        details: (row) => this.details(row),
        ...(this.fields.length || this.facts.some((x) => !x.is_tree)
          ? { attributes: (typed) => this.attributes(typed) }
          : {}),
        colour: async (context, column) => this.colour(context, column),
      };
    }
  }

  // -- Filters, in the format of filters.js

  class LocalFilters {
    constructor(cards, branch) {
      this.cards = cards;
      this.branch = branch; // the colouring by branch, if there is one
      this.bins = new Map();
    }

    // 1 for each label that passes a filter.
    passes([context, field, kind, ...rest], only_known) {
      const { cards } = this;
      const passes = new Uint8Array(cards.n);
      const set = (test) => {
        for (let i = 0; i < cards.n; i++) passes[i] = Number(test(i));
      };
      if (kind === "has") {
        const text = rest[0].toLowerCase();
        set((i) => cards.data.names[i].toLowerCase().includes(text));
      } else if (!context && field === "branch") {
        const { groups, codes } = this.branch;
        set((i) => rest[0].includes(groups[codes[i]]));
      } else if (!context && field === "known in") {
        const known = rest[0].map((name) => cards.known[cards.data.contexts.indexOf(name)]);
        set((i) => known.some((each) => each[i]));
      } else if (!context) {
        passes.fill(1);
      } else {
        const own = cards.fields.find((x) => x.context === context && x.title === field);
        const has = own && ((i) => own.has(i) && (!only_known || own.is_known[i]));
        if (!own) {
          const having = cards.facts.find((x) => x.context === context && !x.is_tree).having(field);
          set((i) => having[i] === 2);
        } else if (kind === "range") {
          const [low, high] = [rest[0] ?? -Infinity, rest[1] ?? Infinity];
          set((i) => has(i) && own.numbers[i] >= low && own.numbers[i] <= high);
        } else {
          const allowed = new Set(rest[0]);
          set((i) => allowed.has(has(i) ? own.value(i) : ""));
        }
      }
      return passes;
    }

    bars(context, field, title, names, codes, passing) {
      const bars = names.map((name) => ({ value: name, name, n: 0, all: 0 }));
      const unknown = { value: "", name: "unknown", n: 0, all: 0 };
      for (let i = 0; i < this.cards.n; i++) {
        const bar = bars[codes(i)] ?? unknown;
        bar.all += 1;
        bar.n += passing(i);
      }
      const used = bars.filter(({ all }) => all).sort((a, b) => b.all - a.all);
      const n_more = Math.max(0, used.length - MOST_BARS);
      const shown = used.slice(0, MOST_BARS);
      if (unknown.all && context) shown.push(unknown);
      return { context, field, title, kind: "bars", bars: shown, n_more };
    }

    histogram(own, has, passing) {
      const { context, title } = own;
      const values = own.numbers.filter((value, i) => has(i)).sort();
      if (!values.length) return { context, field: title, title, kind: "bins", bars: [] };
      const at = (part) => values[Math.round(part * (values.length - 1))];
      const is_log = own.is_log && at(0.005) > 0;
      const [to, from] = is_log ? [Math.log, Math.exp] : [(x) => x, (x) => x];
      const [low, high] = [to(at(0.005)), to(at(0.995))];
      const step = (high - low) / N_BINS || 1;
      const bars = Array.from({ length: N_BINS }, (_, k) => ({
        low: k ? from(low + k * step) : values[0],
        high: k < N_BINS - 1 ? from(low + (k + 1) * step) : values.at(-1),
        n: 0,
        all: 0,
      }));
      for (let i = 0; i < this.cards.n; i++) {
        if (!has(i)) continue;
        const k = Math.floor((to(own.numbers[i]) - low) / step) || 0;
        const bar = bars[Math.min(N_BINS - 1, Math.max(0, k))];
        bar.all += 1;
        bar.n += passing(i);
      }
      return { context, field: title, title, kind: "bins", bars };
    }

    tags(fact, passing) {
      const n = new Uint32Array(fact.columns.length);
      for (let i = 0; i < this.cards.n; i++) {
        if (passing(i)) for (const column of fact.own.of(i)) n[column] += 1;
      }
      const order = Array.from(fact.columns.keys()).sort((a, b) => fact.sizes[b] - fact.sizes[a]);
      const bars = order.slice(0, MOST_BARS).map((column) => {
        const name = fact.columns[column];
        return { value: name, name, n: n[column], all: fact.sizes[column] };
      });
      const { context } = fact;
      const n_more = Math.max(0, order.length - MOST_BARS);
      return { context, field: context, title: context, kind: "tags", bars, n_more };
    }

    ask(list) {
      const { cards } = this;
      const only_known = list.some(([context, field]) => !context && field === "values");
      const masks = list.map((each) => this.passes(each, only_known));
      const missed = new Uint8Array(cards.n); // filters that a label does not pass
      for (const mask of masks) mask.forEach((passes, i) => (missed[i] += 1 - passes));
      // A field's own filter does not count for its bars.
      const under_others = (context, field) => {
        const own = list.findIndex((each) => each[0] === context && each[1] === field);
        return (i) => Number(missed[i] === (own < 0 ? 0 : 1 - masks[own][i]));
      };
      const facets = [];
      if (this.branch) {
        const { groups, codes } = this.branch;
        const passing = under_others("", "branch");
        facets.push(this.bars("", "branch", "Branch", groups, (i) => codes[i], passing));
      }
      if (cards.known.length > 1) {
        const passing = under_others("", "known in");
        const bars = cards.data.contexts.map((name, k) => {
          const bar = { value: name, name, n: 0, all: 0 };
          cards.known[k].forEach((known, i) => {
            bar.all += known;
            bar.n += known && passing(i);
          });
          return bar;
        });
        facets.push({ context: "", field: "known in", title: "Known in", kind: "bars", bars });
      }
      for (const own of cards.fields) {
        const passing = under_others(own.context, own.title);
        const has = (i) => own.has(i) && (!only_known || own.is_known[i]);
        const code = (i) => (has(i) ? own.codes[i] : -1);
        facets.push(
          own.is_number
            ? this.histogram(own, has, passing)
            : this.bars(own.context, own.title, own.title, own.values, code, passing),
        );
      }
      for (const fact of cards.facts.filter((each) => !each.is_tree)) {
        facets.push(this.tags(fact, (i) => Number(!missed[i])));
      }
      const rows = [];
      missed.forEach((n, i) => n || rows.push(i));
      return { rows, facets: facets.filter(({ bars }) => bars.length > 1) };
    }
  }

  function add_filters(map, cards) {
    const branch = map.data.colourings.find(({ title }) => title === "branch");
    const local = new LocalFilters(cards, branch);
    const bars = element("div", {});
    let panel = null;
    const apply = (list) => {
      const { rows } = local.ask(list);
      map.filters = list;
      map.keep(list.length ? rows : null);
      const [n, all] = [rows.length, map.n].map((x) => x.toLocaleString("en"));
      map.tell(list.length ? `${n} of ${all} labels.` : "");
    };
    const changed = (list) => {
      apply(list);
      map.options.changed(map, "colours");
    };
    const { show } = map.add_panel("Filters", "filter", bars, () => {
      const options = { filters: map.filters, changed, facets: (list) => local.ask(list) };
      panel ??= Phcle.filters.panel(bars, options);
    });
    map.filters = [];
    map.restore_filters = async (list) => {
      if (JSON.stringify(list) === JSON.stringify(map.filters)) return;
      apply(list);
      if (list.length) show(true);
      panel?.show(list);
    };
  }

  // -- What the map shows, in the address after "#map?", so that it can be shared. Links to
  // sections use the same part of the address.

  const START = "#map?";

  function keep_address() {
    let is_restoring = true;
    const remember = (map, what) => {
      if (is_restoring) return;
      const query = new URLSearchParams(Phcle.map_address.pairs(map)).toString();
      const address = query ? START + query : "#map-section";
      if (address === root.location.hash || (!query && !root.location.hash)) return;
      try {
        if (what === "view") root.history.replaceState(null, "", address);
        else root.history.pushState(null, "", address);
      } catch {
        // Inside another page, such as a notebook, the address cannot change.
      }
    };
    const restore = async (map) => {
      const { hash } = root.location;
      if (hash && hash !== "#map-section" && !hash.startsWith(START)) return; // a section
      is_restoring = true;
      const kept = new URLSearchParams(hash.startsWith(START) ? hash.slice(START.length) : "");
      try {
        await Phcle.map_address.restore(map, kept);
      } catch {
        map.tell("The address names something that this page does not have.");
      }
      is_restoring = false;
    };
    const follow = async (map) => {
      if (root.location.hash) await restore(map);
      is_restoring = false;
      root.addEventListener("popstate", () => restore(map));
      // Links to labels on the map, which may be far above.
      document.addEventListener("click", ({ target }) => {
        if (target.closest(`a[href^="${START}"]`)) map.host.scrollIntoView();
      });
    };
    return { remember, follow };
  }

  Phcle.open_report = async function (host, source) {
    try {
      const cards = new Cards(await unpack(source));
      const { remember, follow } = keep_address();
      const map = await Phcle.mount_map(host, cards.provider(), { changed: remember });
      add_filters(map, cards);
      map.tell(`${map.n.toLocaleString("en")} labels. Click one, or search.`);
      await follow(map);
      return map;
    } catch (error) {
      host.replaceChildren(element("p", { class: "failed", role: "alert" }, error.message));
      throw error;
    }
  };
})(window);
