// The panel of filters: bars and histograms that filter each other, wanted attributes, and
// the filters in use. See columns.js for what a filter is.
//
//   const panel = Phcle.filter_panel(columns, {changed, share})
//   panel.show(filters, found)   `found` is what columns.passing(filters) gives
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const [WIDTH, HEIGHT] = [240, 56];
  const N_OPEN = 12; // fields whose bars are counted at once
  const MANY = 200_000; // labels from which on they are counted when they are opened
  const HIGH = "high"; // a wanted number is above the mean

  const is_like = (filter) => filter[2] === "like";
  const is_same = (one, other) =>
    one[0] === other[0] && one[1] === other[1] && is_like(one) === is_like(other);
  const without = (list, filter) => list.filter((each) => !is_same(each, filter));

  // Filters that an address holds, each as JSON.
  function read(asked) {
    return asked.getAll("filter").flatMap((text) => {
      try {
        return [JSON.parse(text)].filter((each) => Array.isArray(each) && each.length > 3);
      } catch {
        return [];
      }
    });
  }

  function words([context, field, kind, ...rest], name_of = (value) => value) {
    if (kind === "range") {
      const [low, high] = rest;
      if (low === null) return `${field} at most ${Phcle.number(high)}`;
      if (high === null) return `${field} at least ${Phcle.number(low)}`;
      return `${field} ${Phcle.number(low)} to ${Phcle.number(high)}`;
    }
    if (kind === "has") return `name has “${rest[0]}”`;
    if (kind === "like") {
      const [value, is_wanted] = rest;
      return `${is_wanted ? "like" : "not like"} ${field}${value === "yes" ? "" : `: ${value}`}`;
    }
    if (!context && field === "values") return "observed values only";
    const values = rest[0].map((value) => (value === "" ? "unknown" : name_of(value)));
    return `${field === "branch" ? "in" : `${field}:`} ${values.join(" or ")}`;
  }

  class Panel {
    constructor(columns, options) {
      Object.assign(this, { columns, options, filters: [], found: null });
      this.names = new Map(); // readable names of nodes
      (columns.branches?.nodes ?? []).forEach((node, i) => {
        this.names.set(node, columns.branches.groups[i]);
      });
      const { contexts, fields, tag_sets } = columns;
      this.facets = [
        ...(columns.branches ? [{ context: "", field: "branch", title: "Branch" }] : []),
        ...(contexts.length > 1 ? [{ context: "", field: "known in", title: "Known in" }] : []),
        ...fields.map((each) => ({ ...each, field: each.title })),
        ...tag_sets.map(({ context }) => ({ context, field: "", title: context, kind: "tags" })),
      ];
      this.whole = this.build();
    }

    build() {
      const text = (event) => this.set(["", "text", "has"], event.target.value.trim());
      this.text = html`<input
        type="search" placeholder="part of a name" aria-label="Part of a name or id" onchange=${text}
      />`;
      const known = () => this.set(["", "values", "in"], this.known.checked && ["observed"]);
      this.known = html`<input type="checkbox" onchange=${known} />`;
      this.in_use = html`<ul class="chips filters-in-use"></ul>`;
      this.tools = html`<p class="actions"></p>`;
      const wanted = html`<input id="wanted" type="search" placeholder="rank by an attribute" />`;
      wanted.ariaLabel = "Rank by a wanted attribute";
      const rank = (attribute, box) => {
        box.value = "";
        this.want(attribute);
      };
      this.facets.forEach((facet, i) => {
        const is_open = i < N_OPEN && this.columns.n <= MANY;
        const opened = () => facet.place.open && this.count(facet);
        facet.bars = html`<div></div>`;
        facet.place = html`<details class="facet" open=${is_open} ontoggle=${opened}>
          <summary>${Phcle.name(facet.title)}</summary>${facet.bars}
        </details>`;
      });
      const { fields, tag_sets } = this.columns;
      const has_fields = fields.length + tag_sets.length > 0;
      const can_rank = has_fields && !Phcle.is_report; // the server knows all probabilities
      return html`<div>
        <div class="facets-head">
          ${this.text}
          ${can_rank && Phcle.suggest_attributes(wanted, this.columns, rank)}
          ${has_fields && html`<label class="facet-switch">${this.known} filter by observed values only</label>`}
          ${this.in_use}${this.tools}
        </div>
        ${this.facets.map(({ place }) => place)}
      </div>`;
    }

    change(filters) {
      this.options.changed(filters);
    }

    // Replace the filter of a field; nothing in place of its value takes it away.
    set(start, value) {
      const rest = without(this.filters, start);
      this.change(value ? [...rest, [...start, value]] : rest);
    }

    // Rank labels by an attribute: by "yes", by a large number, or by the commonest value.
    async want({ context, title, kind }) {
      let value = kind === "number" ? HIGH : "yes";
      if (kind === "category") {
        const column = await this.columns.load(context, title);
        value = column.values[column.by_size(column.present)[0][0]];
      }
      const filter = [context, title, "like", value, true];
      this.change([...without(this.filters, filter), filter]);
    }

    toggle(context, field, value) {
      const own = this.filters.find((each) => is_same(each, [context, field, "in"]));
      const values = own?.[3] ?? [];
      const next = values.includes(value)
        ? values.filter((each) => each !== value)
        : [...values, value];
      this.set([context, field, "in"], next.length > 0 && next);
    }

    ranged(facet, low, high) {
      const filter = [facet.context, facet.field, "range", low, high];
      const rest = without(this.filters, filter);
      this.change(low === null && high === null ? rest : [...rest, filter]);
    }

    bar(facet, each, most) {
      const is_tag = facet.kind === "tags";
      const field = is_tag ? each.value : facet.field;
      const value = is_tag ? "yes" : each.value;
      const own = this.filters.find((one) => is_same(one, [facet.context, field, "in"]));
      const is_on = Boolean(own?.[3]?.includes(value));
      const share = (n) => `${((100 * n) / Math.max(most, 1)).toFixed(1)}%`;
      return html`<li>
        <button
          type="button" class="facet-value" aria-pressed=${is_on}
          onclick=${() => this.toggle(facet.context, field, value)}
        >
          <span class="facet-name">${Phcle.name(each.name)}</span>
          <span class="facet-n">${count(each.n)}</span>
          <svg class="facet-bar" aria-hidden="true">
            <rect class="facet-all" width=${share(each.all)} height="100%" rx="2" />
            <rect class="facet-now" width=${share(each.n)} height="100%" rx="2" />
          </svg>
        </button>
      </li>`;
    }

    // A histogram; drag over it, or type the ends of the range.
    histogram(facet) {
      const { bars } = facet;
      const own = this.filters.find((each) => is_same(each, [facet.context, facet.field, "range"]));
      const [low, high] = own ? [own[3], own[4]] : [null, null];
      const is_in = (bar) => (low === null || bar.high > low) && (high === null || bar.low < high);
      const drawing = Phcle.histogram(bars, facet.title, is_in);
      const rooms = [...drawing.querySelectorAll(".facet-room")];
      let from = null;
      const at = (event) => {
        const box = drawing.getBoundingClientRect();
        const i = Math.floor((bars.length * (event.clientX - box.left)) / box.width);
        return Math.min(Math.max(i, 0), bars.length - 1);
      };
      const ends = (event) => [Math.min(from, at(event)), Math.max(from, at(event))];
      const mark = (event) => {
        const [a, b] = ends(event);
        rooms.forEach((room, i) => room.classList.toggle("is-marked", i >= a && i <= b));
      };
      drawing.addEventListener("pointerdown", (event) => {
        from = at(event);
        drawing.setPointerCapture(event.pointerId);
        mark(event);
      });
      drawing.addEventListener("pointermove", (event) => from !== null && mark(event));
      drawing.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const [a, b] = ends(event);
        from = null;
        const last = bars.length - 1;
        this.ranged(facet, a === 0 ? null : bars[a].low, b === last ? null : bars[b].high);
      });
      const end = (title, value, shown, take) => html`<input
        type="number" step="any" value=${value === null ? "" : Phcle.number(value)}
        placeholder=${Phcle.number(shown)} aria-label=${`${facet.title}, ${title}`}
        onchange=${({ target }) => take(target.value === "" ? null : Number(target.value))}
      />`;
      return html`${drawing}<div class="facet-ends">
        ${end("least", low, bars[0].low, (value) => this.ranged(facet, value, high))}
        <span aria-hidden="true">to</span>
        ${end("most", high, bars.at(-1).high, (value) => this.ranged(facet, low, value))}
      </div>`;
    }

    chip(filter) {
      const [context, field, , value, is_wanted] = filter;
      const text = words(filter, (node) => this.names.get(node) ?? node);
      const remove = () => this.change(without(this.filters, filter));
      const turn = () => {
        const turned = [context, field, "like", value, !is_wanted];
        this.change(this.filters.map((each) => (each === filter ? turned : each)));
      };
      const others = is_like(filter) ? (this.columns.column(context, field)?.values ?? []) : [];
      const pick = ({ target }) => {
        const other = [context, field, "like", target.value, is_wanted];
        this.change(this.filters.map((each) => (each === filter ? other : each)));
      };
      const options = others.map((each) => html`<option selected=${each === value}>${each}</option>`);
      const picker = html`<select aria-label=${`Value of ${field}`} onchange=${pick}>${options}</select>`;
      return html`<li class="chip">
        ${is_like(filter) && Phcle.button(is_wanted ? "has" : "not", turn, { class: "chip-turn", "aria-label": `${text}; switch` })}
        ${is_like(filter) && others.length > 2 ? html`${Phcle.name(field)}${picker}` : Phcle.name(text)}
        ${Phcle.button("×", remove, { class: "chip-off", "aria-label": `Remove the filter ${text}` })}
      </li>`;
    }

    async count(facet) {
      const { found } = this;
      if (!found || facet.counted === found) return;
      facet.counted = found;
      try {
        const made = await this.columns.facet(facet, found);
        if (found !== this.found) return; // the visitor has gone on
        facet.place.hidden = made.bars.length < 2;
        if (!facet.place.hidden) this.keep_focus(() => facet.bars.replaceChildren(...this.content(made)));
      } catch (error) {
        facet.bars.replaceChildren(Phcle.failure(error));
      }
    }

    content(made) {
      if (made.kind === "bins") return this.histogram(made);
      const most = Math.max(...made.bars.map(({ all }) => all), 1);
      const more = made.n_more ? [html`<p class="quiet">and ${count(made.n_more)} more</p>`] : [];
      const bars = made.bars.map((each) => this.bar(made, each, most));
      return [html`<ul class="facet-list">${bars}</ul>`, ...more];
    }

    // Controls are drawn anew; the same one keeps the focus.
    keep_focus(draw) {
      const title = (each) => each.ariaLabel || each.querySelector(".facet-name")?.textContent;
      const { activeElement } = document;
      const focused = this.whole.contains(activeElement) ? title(activeElement) : null;
      draw();
      if (!focused || this.whole.contains(document.activeElement)) return;
      const controls = [...this.whole.querySelectorAll("button, input")];
      controls.find((each) => title(each) === focused)?.focus({ preventScroll: true });
    }

    show(filters, found) {
      Object.assign(this, { filters, found });
      const of = (field) => filters.find((each) => !each[0] && each[1] === field);
      this.text.value = of("text")?.[3] ?? "";
      this.known.checked = Boolean(of("values"));
      this.keep_focus(() => this.in_use.replaceChildren(...filters.map((each) => this.chip(each))));
      const share = Phcle.button("What do these share?", this.options.share, { class: "button" });
      const clear = Phcle.button("Clear all", () => this.change([]), { class: "button" });
      this.tools.replaceChildren(...(filters.length ? [...(Phcle.is_report ? [] : [share]), clear] : []));
      for (const facet of this.facets) if (facet.place.open) this.count(facet);
    }
  }

  // Bars of numbers; `is_in` says which lie in the range of a filter.
  Phcle.histogram = function (bars, title, is_in = () => true) {
    const most = Math.max(...bars.map(({ all }) => all), 1);
    const step = WIDTH / bars.length;
    const column = (n, i, kind, bar) => html`<rect
      x=${i * step + 0.5} y=${HEIGHT - (HEIGHT * n) / most} width=${step - 1}
      height=${(HEIGHT * n) / most} class=${is_in(bar) ? kind : `${kind} off`}
    />`;
    const about = `${title}: from ${Phcle.number(bars[0].low)} to ${Phcle.number(bars.at(-1).high)}`;
    return html`<svg
      class="histogram-bars" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none"
      role="img" aria-label=${about}
    >
      ${bars.map((bar, i) => [
        html`<rect class="facet-room" x=${i * step} width=${step} height=${HEIGHT} />`,
        column(bar.all, i, "facet-all", bar),
        column(bar.n, i, "facet-now", bar),
      ])}
    </svg>`;
  };

  Phcle.filters = { read, words };
  Phcle.filter_panel = (columns, options) => new Panel(columns, options);
})(window);
