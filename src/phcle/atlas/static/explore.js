// The section Explore: the map with its colours and card, filters and the table beside it.
// The address holds what is shown; a choice makes an entry in the history, moving does not.
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const LOOK_MS = 1000;
  const MOST_KEPT = 200; // chosen labels in an address, which must not be too long
  const MOST_LISTED = 300;
  const MOST_COMPARED = 8;
  const N_ON_CARD = 8; // cells, and nearest labels
  const PHONE = "(max-width: 46rem)";

  // Icons of the tool bar: paths in a box of 24, drawn as lines.
  const ICONS = {
    plus: "M12 5v14M5 12h14",
    minus: "M5 12h14",
    all: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
    filter: "M3 5h18l-7 8v6l-4-2v-4z",
    table: "M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14",
    lasso: "M8 16c-3-.8-5-2.8-5-5.5C3 7 7 4 12 4s9 3 9 6.5S17 17 12 17c-1.3 0-2.500-.2-4-1zm0 0c-2 0-2.600 1.200-2.400 2.400S7.500 20 7.500 22",
    list: "M9 6h12M9 12h12M9 18h12M4 6h.01M4 12h.01M4 18h.01",
    save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  };

  const tool = (name, icon, onclick, attributes) => {
    const drawing = html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[icon]} /></svg>`;
    return Phcle.button(drawing, onclick, { "aria-label": name, title: name, ...attributes });
  };

  class Explore {
    constructor(host, columns) {
      Object.assign(this, { host, columns, filters: [], found: columns.passing([]) });
      this.second = null; // the answer about another embedding
      this.build();
      this.open_map(columns.map);
    }

    // -- Building

    build() {
      const changed = (filters) => this.filter(filters).then(() => this.remember());
      const share = () => this.share(this.map.shown());
      this.filter_panel = Phcle.filter_panel(this.columns, { changed, share });
      const chosen = (label) => {
        if (root.matchMedia(PHONE).matches) this.open_panel("table", false); // it covers the card
        this.map.go_to_label(label).catch((error) => this.map.tell(error.message));
      };
      this.table = Phcle.label_table(this.columns, { chosen });
      this.panels = {
        filters: this.panel("Filters", this.filter_panel.whole),
        table: this.panel("Table", this.table.whole),
      };
      this.on_map = html`<div id="map"></div>`;
      const { filters, table } = this.panels;
      const title = html`<h1 class="unseen">Map of ${Phcle.count(this.columns.n, "label")}</h1>`;
      this.host.replaceChildren(title, filters, this.on_map, table);
    }

    panel(title, content) {
      const name = title.toLowerCase();
      const close = Phcle.button("×", () => this.open_panel(name, false), { class: "close", "aria-label": `Close ${title}` });
      const made = html`<section class=${`panel panel-${name}`} aria-label=${title} tabindex="0" hidden>
        ${close}<h2>${title}</h2>${content}
      </section>`;
      made.prepend(this.handle(made));
      return made;
    }

    // On a phone a panel is a sheet above the map; its handle changes between half and whole.
    handle(sheet) {
      const turn = () => sheet.classList.toggle("is-whole");
      return Phcle.button("", turn, { class: "handle", "aria-label": "More or less of this panel" });
    }

    open_panel(name, on) {
      const panel = this.panels[name];
      if (panel.hidden === !on) return;
      panel.hidden = !on;
      this.openers[name].ariaPressed = String(on);
      if (on) this.refresh(name);
      this.map.view.resize();
      this.remember();
    }

    refresh(name) {
      if (this.panels[name].hidden) return;
      if (name === "filters") this.filter_panel.show(this.filters, this.found);
      else Phcle.show(html`<p></p>`, this.table.show(this.found));
    }

    open_map(data) {
      this.map?.gone.abort();
      this.map = Phcle.open_map(this.on_map, data, {
        about: `labels of ${Phcle.info.title}`,
        changed: (what) => this.changed(what),
        recoloured: (map) => this.draw_colours(map),
        card_of: (map) => this.card_of(map),
        entered: (label) => Phcle.open("/label", { label }),
      });
      Phcle.map = this.map;
      this.map.card.prepend(this.handle(this.map.card));
      this.on_map.append(this.controls(), this.tools());
      this.draw_colours(this.map);
      this.map.place_names();
    }

    controls() {
      const pick = () => this.map.colour_by(this.map.data.colourings[this.picker.value]);
      this.picker = html`<select id="map-colour" onchange=${pick}></select>`;
      this.legend = html`<div class="map-legend" role="group" tabindex="0"></div>`;
      const box = html`<input id="map-attribute" type="search" placeholder="or by an attribute" aria-label="Colour by an attribute" />`;
      const { fields, tag_sets } = this.columns;
      const by_attribute = ({ context, title }, input) => {
        input.value = title;
        this.colour_by(context, title).catch((error) => this.map.tell(error.message));
      };
      const { compared_with: other } = Phcle.info;
      const turn = ({ target }) => this.show_second(target.checked).catch((error) => this.map.tell(error.message));
      this.switch = html`<input type="checkbox" onchange=${turn} />`;
      return html`<section class="map-controls" aria-label="Colours">
        <div class="map-row"><label for="map-colour">Colour by</label>${this.picker}</div>
        ${fields.length + tag_sets.length > 0 && Phcle.suggest_attributes(box, this.columns, by_attribute)}
        ${other && !Phcle.is_report && html`<label class="facet-switch">${this.switch} places in ${other}</label>`}
        ${this.legend}
      </section>`;
    }

    tools() {
      const { view } = this.map;
      const turn = () => this.map.encircle(!view.is_encircling);
      const open = (name) => () => this.open_panel(name, this.panels[name].hidden);
      const pressed = (name) => ({ "aria-pressed": !this.panels[name].hidden });
      this.circler = tool("Lasso", "lasso", turn, { "aria-pressed": "false" });
      this.openers = {
        filters: tool("Filters", "filter", open("filters"), pressed("filters")),
        table: tool("Table", "table", open("table"), pressed("table")),
      };
      return html`<div class="map-tools" role="toolbar" aria-label="Map">
        ${tool("Zoom in", "plus", () => view.zoom(1.6))}
        ${tool("Zoom out", "minus", () => view.zoom(1 / 1.6))}
        ${tool("Show all", "all", () => this.map.clear())}
        ${this.openers.filters}${this.openers.table}${this.circler}
        ${tool("List what is in view", "list", () => this.map.choose_many(view.in_view()))}
        ${tool("Save as a picture", "save", () => Phcle.save_map(this.map, Phcle.info.title))}
      </div>`;
    }

    // -- Colours

    // The picker and the legend, when the colours have changed.
    draw_colours(map) {
      if (!this.picker) return;
      const { colourings } = map.data;
      const options = colourings.map(({ title }, i) => html`<option value=${i}>${title}</option>`);
      this.picker.replaceChildren(...options);
      this.picker.value = String(colourings.indexOf(map.colouring));
      const { column } = map.colouring;
      this.legend.ariaLabel = map.legend.entries ? "Groups; press one to show only that group" : "Scale";
      this.legend.replaceChildren(
        ...(column ? [html`<p class="map-of">${Phcle.name(column)}</p>`] : []),
        ...(map.legend.entries ? this.groups(map) : this.scale(map)),
      );
    }

    groups(map) {
      const { entries, has_faint } = map.legend;
      const buttons = entries.map(({ name, code, n, colour }) => {
        const turn = () => map.show_group(map.group === code ? null : code);
        const content = html`<span class="map-swatch" style=${{ background: colour }} />
          ${Phcle.name(name)}<span class="map-count">${count(n)}</span>`;
        return Phcle.button(content, turn, { "aria-pressed": map.group === code });
      });
      const is_part = ["branch", "cluster"].includes(map.colouring.title);
      const share = () => this.share(map.shown(), map.colouring.title, map.colouring.groups[map.group]);
      const asks = is_part && map.group !== null;
      return [
        ...buttons,
        ...(has_faint ? [html`<p class="map-hint">faint: predicted</p>`] : []),
        ...(asks ? [Phcle.button("What do these share?", share, { class: "button" })] : []),
      ];
    }

    scale(map) {
      const { ramp, low, high, is_log, has_faint, missing } = map.legend;
      const middle = is_log ? Math.sqrt(low * high) : (low + high) / 2;
      const notes = is_log ? ["equal steps are equal ratios"] : [];
      if (has_faint) notes.push("faint: predicted");
      if (missing) notes.push(`grey: ${missing}`);
      const background = `linear-gradient(to right, ${ramp.join(", ")})`;
      return [
        html`<div class="map-ramp" style=${{ background }}></div>`,
        html`<div class="map-ends">${[low, middle, high].map((at) => html`<span>${Phcle.number(at)}</span>`)}</div>`,
        ...(notes.length ? [html`<p class="map-hint">${notes.join(" · ")}</p>`] : []),
      ];
    }

    // Colour by an attribute; only the last of several wishes counts.
    async colour_by(context, title) {
      const asked = (this.wished = {});
      this.map.tell(`Reading ${title}…`);
      const column = await this.columns.load(context, title);
      if (asked !== this.wished) return;
      const made = column.colouring();
      for (const key of ["codes", "values", "is_known"]) {
        made[key] = this.columns.on_map(made[key]);
      }
      this.add_colouring(made);
      this.map.colour_by(made);
      this.tell_number();
    }

    add_colouring(made) {
      const { data } = this.map;
      data.colourings = [...data.colourings.filter(({ title }) => title !== made.title), made];
    }

    // Move all points to their places in the other embedding, or back; a colouring and a
    // column of the table say how many of its nearest labels each one has lost.
    async show_second(on) {
      const { map } = this;
      this.switch.checked = on;
      if (!this.second) {
        const found = await Phcle.get("/api/second");
        const [x, y, moved] = [found.x, found.y, found.moved].map(Phcle.unpacked_array);
        const [home_x, home_y] = [map.data.x.slice(), map.data.y.slice()];
        const or_home = (values, home) => values.map((value, i) => (Number.isNaN(value) ? home[i] : value));
        const places = [[home_x, home_y], [or_home(x, home_x), or_home(y, home_y)]];
        const colouring = { title: "moved", values: moved, low: 0, high: 1, missing: "only in one" };
        this.second = { ...found, places, colouring };
        this.add_colouring(colouring);
        this.table.add(this.columns.add_numbers("moved", moved));
      }
      const { places, colouring, title, agreement, mean } = this.second;
      map.is_elsewhere = on;
      map.move_to(...places[Number(on)]);
      if (on) map.colour_by(colouring);
      const fits = `of the places, ${Phcle.percent(agreement)} agree`;
      map.tell(on ? `Places in ${title}: labels lost ${Phcle.percent(mean)} of their nearest ones on average; ${fits}.` : "");
    }

    // -- Filters

    async filter(filters) {
      const asked = (this.asked = {});
      try {
        await this.columns.prepare(filters);
      } catch (error) {
        this.map.tell(error.message);
        return;
      }
      if (asked !== this.asked) return; // the visitor has gone on
      this.filters = filters;
      this.found = this.columns.passing(filters);
      const passes = this.found.missed.map((n) => Number(n === 0));
      this.map.keep(this.found.n < this.columns.n ? this.columns.on_map(passes) : null);
      this.refresh("filters");
      this.refresh("table");
      this.tell_number();
    }

    tell_number() {
      const { n } = this.found;
      const { ready, method, names } = this.map.data;
      if (this.filters.length) this.map.tell(`${count(n)} of ${count(this.columns.n)} labels.`);
      else if (ready) this.map.tell(`${count(names.length)} labels, arranged by ${method}.`);
    }

    // Show some labels on the card, and what they share.
    share(points, of, group) {
      this.share_of = { of, group };
      this.is_sharing = true;
      this.map.choose_many(points);
      this.is_sharing = false;
    }

    // -- The card

    card_of(map) {
      if (map.many.length) return this.card_of_many(map);
      const { label, name } = map.outside ?? map.named(map.chosen);
      const place = html`<div></div>`;
      Phcle.show(place, this.card_of_label(label));
      return [
        html`<h2>${Phcle.name(name)}</h2>`,
        ...(label === name ? [] : [html`<p class="map-id">${Phcle.name(label)}</p>`]),
        place,
      ];
    }

    async card_of_label(label) {
      const { map } = this;
      const answer = await Phcle.label_answer(label);
      const point = map.point_of(label);
      const path = (answer.taxonomy?.path ?? []).slice(0, -1).map(({ name }) => name);
      const tags = [...answer.observed, ...answer.predicted].filter(({ confidence, value }) => value === 1 || confidence);
      return [
        point < 0 && html`<p class="map-hint">Not among the labels on the map; the pin shows its place.</p>`,
        path.length > 0 && html`<p class="map-hint">${path.slice(-4).join(" › ")}</p>`,
        Phcle.pictures(answer),
        Phcle.cell_lists(answer.cells, N_ON_CARD),
        !answer.cells.length && tags.length > 0 && [html`<h3>Attributes</h3>`, Phcle.attribute_list(tags.slice(0, N_ON_CARD), "observed")],
        html`<h3>Nearest labels</h3>`,
        this.near(answer, point),
        html`<p class="actions"><a class="button" href=${Phcle.label_address(label)}>Open its page</a></p>`,
      ];
    }

    // Links to labels move the map.
    near({ label, neighbours }, point) {
      const known = neighbours ?? this.map.nearest_to(point).map((i) => this.map.named(i));
      const list = Phcle.near_list(known.slice(0, N_ON_CARD), label);
      list.addEventListener("click", (event) => {
        const link = event.target.closest(".near-head a");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.map.go_to_label(new URLSearchParams(link.hash.split("?")[1]).get("label"));
      });
      return list;
    }

    card_of_many({ many, data }) {
      const { map } = this;
      const labels = many.map((i) => map.named(i));
      const listed = many.slice(0, MOST_LISTED).map(
        (i) => html`<li>${Phcle.button(Phcle.name(data.names[i]), () => map.go_to(i), { class: "go" })}</li>`,
      );
      const place = html`<div></div>`;
      const ask = () => Phcle.show(place, this.shared_by(many));
      if (this.is_sharing) ask();
      else this.share_of = {};
      const compared = { label: labels.slice(0, MOST_COMPARED).map(({ label }) => label) };
      // A report holds what whole groups share.
      const can_share = many.length > 1 && (!Phcle.is_report || this.share_of.group !== undefined);
      const can_compare = !Phcle.is_report && many.length > 1 && many.length <= MOST_COMPARED;
      return [
        html`<h2>${Phcle.count(many.length, "label")}</h2>`,
        html`<p class="actions">
          ${can_share && Phcle.button("What do these share?", ask, { class: "button" })}
          ${can_compare && html`<a class="button" href=${Phcle.address("/label", compared)}>Compare them</a>`}
        </p>`,
        place,
        html`<ul class="listed" tabindex="0" aria-label="Chosen">${listed}</ul>`,
        ...(many.length > MOST_LISTED ? [html`<p class="map-hint">and ${count(many.length - MOST_LISTED)} more</p>`] : []),
        Phcle.downloads(() => labels, "labels"),
      ];
    }

    async shared_by(points) {
      const rows = points.map((i) => this.map.data.rows?.[i] ?? i);
      const answer = await Phcle.post("/api/shared", Phcle.is_report ? this.share_of : { rows });
      return [html`<h3>What they share</h3>`, Phcle.shared_list(answer)];
    }

    // -- The address

    changed(what) {
      if (what === "lasso") this.circler.ariaPressed = String(this.map.view.is_encircling);
      else this.remember(what !== "view");
    }

    remember(is_step = true) {
      if (this.is_restoring || this.host.hidden || !this.map) return;
      const { map, panels } = this;
      const { title, context, column } = map.colouring;
      const label = map.chosen_label();
      const asked = { filter: this.filters.map((each) => JSON.stringify(each)) };
      if (label !== null) asked.label = label;
      if (context) Object.assign(asked, { context, column });
      else if (map.colouring !== map.data.colourings[0]) asked.colour = title;
      if (map.group !== null) asked.group = map.colouring.groups[map.group];
      if (map.many.length && map.many.length <= MOST_KEPT) asked.rows = map.many.join(",");
      if (!map.view.is_home || label !== null) asked.at = map.view.where().map((x) => x.toFixed(4)).join(",");
      asked.panel = Object.keys(panels).filter((name) => !panels[name].hidden);
      Phcle.remember("/", asked, { is_step });
    }

    // Show what an address says.
    async restore(asked) {
      this.is_restoring = true;
      try {
        await this.show(asked);
      } catch (error) {
        this.map.tell(error.message);
      }
      this.is_restoring = false;
    }

    async show(asked) {
      const { map } = this;
      for (const name of Object.keys(this.panels)) this.open_panel(name, asked.getAll("panel").includes(name));
      const { colourings } = map.data;
      const [context, column] = [asked.get("context"), asked.get("column")];
      if (context) await this.colour_by(context, column);
      else map.colour_by(colourings.find(({ title }) => title === asked.get("colour")) ?? colourings[0]);
      const group = (map.colouring.groups ?? []).indexOf(asked.get("group"));
      if (group >= 0) map.show_group(group);
      await this.filter(Phcle.filters.read(asked));
      const at = (asked.get("at") ?? "").split(",").map(Number);
      const has_view = at.length === 3 && at.every(Number.isFinite) && at[2] > 0;
      const rows = (asked.get("rows") ?? "").split(",").filter(Boolean).map(Number);
      const label = asked.get("label");
      if (rows.length && rows.every((row) => row in map.data.names)) map.choose_many(rows);
      else if (label === null) map.choose(null);
      else await map.go_to_label(label);
      if (has_view) map.view.go(...at);
      else if (label === null) map.view.show_all();
    }

    // A first sketch is shown until the final map is computed.
    async wait() {
      const { map } = await Phcle.get("/api/info");
      if (map.ready) {
        this.columns.open_map(await Phcle.get("/api/map"));
        this.open_map(this.columns.map);
        await this.restore(Phcle.here().asked);
      } else if (map.failed) {
        this.map.tell("The final map could not be computed; this is a first sketch.");
      } else {
        const n = map.done ? `, ${map.done} of ${map.total}` : "";
        this.map.tell(`A first sketch; the final map is being computed (${map.stage}${n}).`);
        setTimeout(() => this.wait().catch((error) => this.map.tell(error.message)), LOOK_MS);
      }
      this.on_map.dataset.ready = this.map.data.ready ? "yes" : "no";
    }
  }

  let explore = null;
  // The section is made once, and shows what each address says.
  Phcle.show_explore = async function (host, asked) {
    explore ??= Phcle.explore = new Explore(host, await Phcle.columns());
    await explore.restore(asked);
    if (explore.map.data.ready) explore.on_map.dataset.ready = "yes";
    else if (!explore.on_map.dataset.ready) explore.wait();
  };
})(window);
