// Columns of all labels, known and predicted, and what is computed from them: filters, counts
// of bars and histograms, the order of the table, colours, and how well labels match.
//
//   const columns = await Phcle.columns()
//
// Rows count all labels. A filter is a list:
//   [context, field, "in", [value, …]]           "" is the value of what is unknown
//   [context, field, "range", low, high]         an end that is null is open
//   [context, field, "like", value, is_wanted]   leaves no label out; it says what matches
//   ["", "branch", "in", [node, …]], ["", "known in", "in", [context, …]],
//   ["", "text", "has", text], ["", "values", "in", ["observed"]]
(function (root) {
  "use strict";
  const unpacked = (text) => Phcle.unpacked_array(text);
  const [KNOWN, UNSAID] = [255, 254];
  const N_BINS = 24;
  const OUTER = [0.005, 0.995]; // shares of the labels beyond the ends of a histogram
  const ENDS = [0.02, 0.98]; // of the known ones beyond the ends of a colour scale
  const MOST_BARS = 20;
  const MOST_GROUPS = 20;
  const CERTAIN = 0.98; // tables have errors: one probability of 0 would decide alone
  const MOST_ASKED = 500; // names that one request gives

  // A part of sorted numbers lies below the result, which is between two of them.
  function quantile(sorted, part) {
    const at = part * (sorted.length - 1);
    const low = Math.floor(at);
    const next = sorted[Math.min(low + 1, sorted.length - 1)];
    return sorted[low] + (next - sorted[low]) * (at - low);
  }

  // Rows in the order of their numbers; NaN is the last, and equal ones keep their order.
  function ordered(numbers, is_turned = false) {
    const sign = is_turned ? -1 : 1;
    const known = numbers.map((x) => (Number.isNaN(x) ? Infinity : sign * x));
    return Uint32Array.from(numbers.keys()).sort((a, b) => known[a] - known[b] || 0);
  }

  // Lists of whole numbers, one for each row.
  function lists(counts, at) {
    const sizes = unpacked(counts);
    const starts = new Uint32Array(sizes.length + 1);
    sizes.forEach((size, i) => (starts[i + 1] = starts[i] + size));
    const all = unpacked(at);
    return { all, starts, of: (row) => all.subarray(starts[row], starts[row + 1]) };
  }

  // -- One column

  class Column {
    constructor(data) {
      Object.assign(this, data);
      for (const key of ["how", "numbers", "low", "high", "codes"]) {
        if (data[key]) this[key] = unpacked(data[key]);
      }
      this.n = this.how.length;
      this.is_number = this.kind === "number";
      this.known = this.how.map((how) => Number(how === KNOWN));
      const is_number = (x) => Number(!Number.isNaN(x));
      const is_value = (code) => Number(code < this.values.length);
      this.present = this.is_number ? Uint8Array.from(this.numbers, is_number) : Uint8Array.from(this.codes, is_value);
      this.probabilities = new Map(); // probabilities of a value, which the server knows
    }

    value(row) {
      if (!this.present[row]) return null;
      return this.is_number ? this.numbers[row] : this.values[this.codes[row]];
    }

    text(row) {
      return Phcle.value_text(this.value(row), Boolean(this.known[row]));
    }

    // How sure a predicted value is: the ends of its interval, or its probability.
    sure(row) {
      const how = this.how[row];
      const has_ends = this.is_number && how !== KNOWN && !Number.isNaN(this.low[row]);
      return {
        confidence: how >= UNSAID || this.is_number ? null : how / 100,
        low: has_ends ? this.low[row] : null,
        high: has_ends ? this.high[row] : null,
      };
    }

    // 1 for each label that passes a filter.
    passing([, , kind, ...rest], only_known) {
      const has = only_known ? this.known : this.present;
      const passes = new Uint8Array(this.n);
      if (kind === "range") {
        const [low, high] = [rest[0] ?? -Infinity, rest[1] ?? Infinity];
        for (let i = 0; i < this.n; i++) {
          passes[i] = has[i] & (this.numbers[i] >= low) & (this.numbers[i] <= high);
        }
        return passes;
      }
      const unknown = Number(rest[0].includes(""));
      const wanted = this.is_number ? [] : this.values.map((x) => Number(rest[0].includes(x)));
      for (let i = 0; i < this.n; i++) passes[i] = has[i] ? wanted[this.codes[i]] : unknown;
      return passes;
    }

    // Numbers in equal steps, or in equal ratios: edges, and the bin of each label.
    bins(only_known) {
      const key = only_known ? "known_bins" : "all_bins";
      return (this[key] ??= this.binned(only_known ? this.known : this.present));
    }

    binned(has) {
      const sorted = this.numbers.filter((_, i) => has[i]).sort();
      if (!sorted.length) return null;
      const [low, high] = OUTER.map((part) => quantile(sorted, part));
      const is_log = this.is_log && low > 0;
      const [to, from] = is_log ? [Math.log, Math.exp] : [(x) => x, (x) => x];
      const step = (to(high) - to(low)) / N_BINS;
      const inner = Array.from({ length: N_BINS - 1 }, (_, k) => from(to(low) + (k + 1) * step));
      const at = new Uint8Array(this.n).fill(N_BINS);
      for (let i = 0; i < this.n; i++) {
        if (!has[i]) continue;
        let bin = 0;
        while (bin < N_BINS - 1 && this.numbers[i] >= inner[bin]) bin += 1;
        at[i] = bin;
      }
      return { edges: [Math.min(low, sorted[0]), ...inner, Math.max(high, sorted.at(-1))], at };
    }

    // Rows by value; those without one come last. Values of categories are in their alphabet.
    order(is_turned) {
      const key = is_turned ? "turned_order" : "own_order";
      if (this[key]) return this[key];
      let numbers = this.numbers;
      if (!this.is_number) {
        const sorted = [...this.values].sort();
        const ranks = this.values.map((value) => sorted.indexOf(value));
        numbers = Float32Array.from(this.codes, (code) => ranks[code] ?? NaN);
      }
      return (this[key] = ordered(numbers, is_turned));
    }

    // Rows that are predicted, the surest first: by probability, or by a narrow interval.
    gaps() {
      const by_how = (how) => (how === UNSAID ? NaN : -how);
      const unsure = this.is_number ? this.widths() : Float32Array.from(this.how, by_how);
      return ordered(unsure).filter((row) => this.present[row] && !this.known[row]);
    }

    scaled(numbers) {
      return this.is_log ? numbers.map((x) => Math.log(Math.max(x, 1e-30))) : numbers;
    }

    widths() {
      const [low, high] = [this.scaled(this.low), this.scaled(this.high)];
      return high.map((end, i) => end - low[i]);
    }

    // Counts of labels by value, the most common first: [code, count].
    by_size(has) {
      const counts = new Uint32Array(this.values.length);
      for (let i = 0; i < this.n; i++) if (has[i]) counts[this.codes[i]] += 1;
      return Array.from(counts, (n, code) => [code, n]).sort((a, b) => b[1] - a[1]);
    }

    // The colouring of the map; see map_colours.js.
    colouring() {
      const { context, title, known } = this;
      const made = { title: `${context}: ${title}`, context, column: title, is_known: known };
      if (this.is_number) {
        const sorted = this.numbers.filter((_, i) => known[i] && this.present[i]).sort();
        const [low, high] = sorted.length ? ENDS.map((part) => quantile(sorted, part)) : [0, 1];
        const is_log = this.is_log && low > 0;
        return { ...made, values: this.numbers, low, high, is_log };
      }
      const shown = this.by_size(this.present).slice(0, MOST_GROUPS);
      if (this.kind !== "category") shown.sort(([a], [b]) => a - b); // "no" before "yes"
      const rank = new Map(shown.map(([code], i) => [code, i]));
      return {
        ...made,
        groups: [...shown.map(([code]) => this.values[code]), "other or unknown"],
        codes: Uint8Array.from(this.codes, (code) => rank.get(code) ?? shown.length),
      };
    }
  }

  // -- All columns

  class Columns {
    constructor(listed, map, n) {
      this.n = n;
      this.fields = listed.columns;
      this.tag_sets = listed.tags;
      this.contexts = listed.known.map(({ context }) => context);
      this.known = new Map(listed.known.map(({ context, known }) => [context, unpacked(known)]));
      this.made = new Map(); // columns, by context and title
      this.coming = new Map(); // promises of those that were asked for
      this.tags = new Map();
      this.masks = new Map();
      this.rows_with = new Map(); // rows of labels whose name holds a text, from the server
      this.open_map(map);
    }

    // Take a map: a sketch, then the final one.
    open_map(answer) {
      this.map = Phcle.unpacked_map(answer);
      this.branches = this.map.colourings.find(({ nodes }) => nodes);
      this.map.colourings.push(...this.by_contexts());
    }

    // Labels by the contexts that know them.
    by_contexts() {
      const known = [...this.known].map(([name, mask]) => [name, this.on_map(mask)]);
      const knowing = this.map.names.map((_, i) => known.filter(([, mask]) => mask[i]));
      const sets = knowing.map((own) => own.map(([name]) => name).join(" + ") || "no context");
      const counts = new Map();
      for (const set of sets) counts.set(set, (counts.get(set) ?? 0) + 1);
      const groups = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, MOST_GROUPS);
      const code = new Map(groups.map((set, i) => [set, i]));
      const codes = Uint8Array.from(sets, (set) => code.get(set) ?? groups.length);
      return [{ title: "known in", groups: [...groups, "other"], codes }];
    }

    column(context, title) {
      return this.made.get(JSON.stringify([context, title]));
    }

    // A column, which is asked for once.
    async load(context, title) {
      const key = JSON.stringify([context, title]);
      if (this.made.has(key)) return this.made.get(key);
      if (!this.coming.has(key)) {
        const coming = this.fetched(context, title).finally(() => this.coming.delete(key));
        this.coming.set(key, coming);
      }
      const column = await this.coming.get(key);
      this.made.set(key, column);
      return column;
    }

    async fetched(context, title) {
      try {
        return new Column(await Phcle.get("/api/column", { context, column: title }));
      } catch (error) {
        const own = this.tag_sets.find((each) => each.context === context);
        if (!error.is_left_out || !own) throw error;
        return this.tag_column(await this.load_tags(context), title);
      }
    }

    // A column of numbers that points of the map have, such as how far each one moved.
    add_numbers(title, of_points) {
      const numbers = new Float32Array(this.n).fill(NaN);
      of_points.forEach((x, i) => (numbers[this.map.rows?.[i] ?? i] = x));
      const how = new Uint8Array(this.n).fill(KNOWN);
      const column = new Column({ context: "", title, kind: "number", numbers, how });
      this.made.set(JSON.stringify(["", title]), column);
      return column;
    }

    load_tags(context) {
      if (!this.tags.has(context)) {
        const made = Phcle.get("/api/column", { context }).then((data) => {
          const own = { ...data, own: lists(data.counts, data.at) };
          if (!data.guess_at) return own;
          const guesses = lists(data.guess_counts, data.guess_at);
          return { ...own, guesses, sure: unpacked(data.guess_sure) };
        });
        made.catch(() => this.tags.delete(context));
        this.tags.set(context, made);
      }
      return this.tags.get(context);
    }

    // A tag as a column, from the lists of those that labels have.
    tag_column({ context, columns, own, guesses, sure }, title) {
      const tag = columns.indexOf(title);
      const known = this.known.get(context);
      const how = Uint8Array.from({ length: this.n }, (_, i) => (known[i] ? KNOWN : UNSAID));
      const codes = Uint8Array.from({ length: this.n }, (_, i) => (known[i] ? 0 : 255));
      for (let i = 0; i < this.n; i++) {
        const guess = guesses ? guesses.of(i).indexOf(tag) : -1;
        if (guess >= 0) [codes[i], how[i]] = [1, sure[guesses.starts[i] + guess]];
        if (own.of(i).includes(tag)) [codes[i], how[i]] = [1, KNOWN];
      }
      return new Column({ context, title, kind: "tag", values: ["no", "yes"], codes, how });
    }

    // Values of points of the map.
    on_map(values) {
      if (!this.map.rows || !values) return values;
      return values.constructor.from(this.map.rows, (row) => values[row]);
    }

    // Load what filters need; afterwards they are computed at once.
    async prepare(filters) {
      const need = async ([context, field, kind, value]) => {
        if (context || kind === "like") {
          const column = await this.load(context, field);
          if (kind === "like" && !column.probabilities.has(value)) {
            const found = await Phcle.get("/api/column", { context, column: field, value });
            column.probabilities.set(value, unpacked(found.chance));
          }
        } else if (field === "branch") await this.load_hierarchy();
        else if (field === "text" && this.map.rows && !this.rows_with.has(value)) {
          const { rows } = await Phcle.get("/api/names", { text: value });
          this.rows_with.set(value, unpacked(rows));
        }
      };
      await Promise.all(filters.map(need));
    }

    async load_hierarchy() {
      this.hierarchy ??= await Phcle.get("/api/hierarchy").then((data) => ({
        ...data,
        own: unpacked(data.own),
        parents: lists(data.counts, data.at),
        above: lists(data.above.counts, data.above.at),
      }));
    }

    // 1 for each label below a node.
    below(node) {
      const { nodes, own, parents, above } = this.hierarchy;
      const found = new Map([[nodes.indexOf(node), true]]);
      const is_below = (each) => {
        if (!found.has(each)) {
          found.set(each, false); // for a hierarchy with a circle
          found.set(each, above.of(each).some(is_below));
        }
        return found.get(each);
      };
      const passes = Uint8Array.from({ length: this.n }, (_, i) =>
        Number(parents.of(i).some(is_below)),
      );
      nodes.forEach((_, i) => own[i] && is_below(i) && (passes[own[i] - 1] = 1));
      return passes;
    }

    tag_sizes(own, n) {
      own.sizes ??= own.all.reduce((sizes, tag) => ((sizes[tag] += 1), sizes), new Uint32Array(n));
      return own.sizes;
    }

    mask(filter, only_known) {
      const key = JSON.stringify([filter, only_known]);
      if (!this.masks.has(key)) {
        if (this.masks.size > 60) this.masks.clear();
        this.masks.set(key, this.made_mask(filter, only_known));
      }
      return this.masks.get(key);
    }

    made_mask([context, field, kind, value, ...rest], only_known) {
      const passes = new Uint8Array(this.n);
      if (kind === "like" || field === "values") return passes.fill(1);
      if (context) {
        const filter = [context, field, kind, value, ...rest];
        return this.column(context, field).passing(filter, only_known);
      }
      const either = (masks) => masks.forEach((mask) => mask.forEach((x, i) => (passes[i] |= x)));
      if (field === "branch") either(value.map((node) => this.below(node)));
      else if (field === "known in") either(value.map((name) => this.known.get(name) ?? []));
      else if (this.map.rows) for (const row of this.rows_with.get(value)) passes[row] = 1;
      else {
        const { names, labels } = this.map;
        const text = value.toLowerCase();
        const has = (i) => `${names[i]}\n${labels[i]}`.toLowerCase().includes(text);
        for (let i = 0; i < this.n; i++) passes[i] = Number(has(i));
      }
      return passes;
    }

    // The labels that pass filters: `missed` counts the filters that each does not pass.
    passing(filters) {
      const only_known = filters.some(([context, field]) => !context && field === "values");
      const masks = filters.map((filter) => this.mask(filter, only_known));
      const missed = new Uint8Array(this.n);
      for (const mask of masks) for (let i = 0; i < this.n; i++) missed[i] += 1 - mask[i];
      let n = 0;
      for (let i = 0; i < this.n; i++) n += Number(missed[i] === 0);
      return { filters, only_known, masks, missed, n };
    }

    // 1 for the labels that pass all filters but that of one field.
    under_others({ filters, masks, missed }, context, field) {
      const own = filters.findIndex((each) => each[0] === context && each[1] === field);
      const mask = masks[own];
      const passes = new Uint8Array(this.n);
      for (let i = 0; i < this.n; i++) passes[i] = Number(missed[i] === (mask ? 1 - mask[i] : 0));
      return passes;
    }

    // Bars of a field: labels with each value, all of them and those that pass the others.
    async facet({ context, field, kind }, found) {
      const title = field || context;
      if (kind === "tags") return this.tag_bars(await this.load_tags(context), found.missed);
      const passing = this.under_others(found, context, field);
      const made = { context, field, title, kind: "bars", n_more: 0 };
      if (!context) return { ...made, bars: await this.own_bars(field, passing) };
      const column = await this.load(context, field);
      const has = found.only_known ? column.known : column.present;
      if (column.is_number) {
        const bars = this.histogram(column.bins(found.only_known), passing);
        return { ...made, kind: "bins", bars };
      }
      const now = new Uint32Array(column.values.length);
      let [n_unknown, n] = [0, 0];
      for (let i = 0; i < this.n; i++) {
        if (has[i]) now[column.codes[i]] += passing[i];
        else [n_unknown, n] = [n_unknown + 1, n + passing[i]];
      }
      const used = column.by_size(has).filter(([, all]) => all);
      const bars = used.slice(0, MOST_BARS).map(([code, all]) => {
        const value = column.values[code];
        return { value, name: value, n: now[code], all };
      });
      if (n_unknown) bars.push({ value: "", name: "unknown", n, all: n_unknown });
      return { ...made, bars, n_more: Math.max(0, used.length - MOST_BARS) };
    }

    histogram(bins, passing) {
      if (!bins) return [];
      const [now, all] = [new Uint32Array(N_BINS + 1), new Uint32Array(N_BINS + 1)];
      for (let i = 0; i < this.n; i++) {
        now[bins.at[i]] += passing[i];
        all[bins.at[i]] += 1;
      }
      return bins.edges.slice(1).map((high, k) => {
        return { low: bins.edges[k], high, n: now[k], all: all[k] };
      });
    }

    // Bars of the large branches, or of the contexts.
    async own_bars(field, passing) {
      if (field === "branch") await this.load_hierarchy();
      const masks =
        field === "branch"
          ? this.branches.nodes.map((node, i) => [node, this.branches.groups[i], this.below(node)])
          : [...this.known].map(([name, mask]) => [name, name, mask]);
      return masks.map(([value, name, mask]) => {
        let [n, all] = [0, 0];
        for (let i = 0; i < this.n; i++) [n, all] = [n + (mask[i] & passing[i]), all + mask[i]];
        return { value, name, n, all };
      });
    }

    tag_bars({ context, columns, own }, missed) {
      const [now, all] = [new Uint32Array(columns.length), this.tag_sizes(own, columns.length)];
      for (let i = 0; i < this.n; i++) if (!missed[i]) for (const tag of own.of(i)) now[tag] += 1;
      const order = Array.from(all.keys()).sort((a, b) => all[b] - all[a]);
      const bars = order.slice(0, MOST_BARS).map((tag) => {
        return { value: columns[tag], name: columns[tag], n: now[tag], all: all[tag] };
      });
      const n_more = Math.max(0, order.length - MOST_BARS);
      return { context, field: "", title: context, kind: "tags", bars, n_more };
    }

    // How well labels match the filters that are "like"; null without any.
    scores(filters) {
      const likes = filters.filter(([, , kind]) => kind === "like");
      if (!likes.length) return null;
      const score = new Float32Array(this.n);
      for (const [context, field, , value, is_wanted] of likes) {
        const chance = this.column(context, field).probabilities.get(value);
        for (let i = 0; i < this.n; i++) {
          const right = is_wanted ? chance[i] : 1 - chance[i];
          score[i] += Math.log(Math.min(CERTAIN, Math.max(1 - CERTAIN, right)));
        }
      }
      return score.map((sum) => Math.exp(sum / likes.length));
    }

    // Rows that pass filters, in the order of "name", "match", or a column [context, title].
    rows({ missed, n, filters }, sort, is_turned) {
      let order = null;
      if (sort === "name") order = this.by_name(is_turned);
      else if (sort === "match") order = ordered(this.scores(filters), !is_turned);
      else if (sort) order = this.column(...sort).order(is_turned);
      const found = new Uint32Array(n);
      let at = 0;
      for (let k = 0; k < this.n; k++) {
        const row = order ? order[k] : k;
        if (!missed[row]) found[at++] = row;
      }
      return found;
    }

    // Id and name of rows; of a sample's labels the server knows the others.
    async named(rows) {
      const { names, labels, rows: on_map } = this.map;
      if (!on_map) return Array.from(rows, (row) => ({ label: labels[row], name: names[row] }));
      const found = [];
      for (let at = 0; at < rows.length; at += MOST_ASKED) {
        const answer = await Phcle.get("/api/names", { row: Array.from(rows.slice(at, at + MOST_ASKED)) });
        answer.labels.forEach((label, i) => found.push({ label, name: answer.names[i] }));
      }
      return found;
    }

    // Names in their alphabet, "thing 9" before "thing 10". A sample's names are not all.
    by_name(is_turned) {
      if (this.map.rows) return null;
      const { compare } = new Intl.Collator("en", { numeric: true });
      const { names } = this.map;
      this.alphabet ??= Uint32Array.from(names.keys()).sort((a, b) => compare(names[a], names[b]));
      return is_turned ? this.alphabet.toReversed() : this.alphabet;
    }
  }

  let opened = null;
  // The columns of all labels, opened once.
  Phcle.columns = function () {
    opened ??= (async () => {
      const asked = ["/api/map", "/api/columns"].map((path) => Phcle.get(path));
      const [map, listed] = await Promise.all(asked);
      return new Columns(listed, map, Phcle.info.labels);
    })();
    opened.catch(() => (opened = null));
    return opened;
  };
})(window);
