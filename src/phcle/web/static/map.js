// The map of labels: a stage with floating panels for colours, legend, tools and a card.
//
//   Phcle.mount_map(host, provider, options) -> promise of the map
//
// The provider answers questions, from a server or from data in the page:
//
//   map()               the data: names; labels (ids, or null if they equal the names); x, y,
//                       neighbours; colourings; regions (names of groups, then of finer
//                       parts). Arrays are texts such as "f4:…", a type and base64.
//   nearest(label)      optional: [{label, name, similarity, shared}]; else from the data;
//                       `shared` are names of what both labels have
//   details(point)      optional: elements to show on a label's card
//   attributes(typed)   optional: [{context, name}] to colour by
//   colour(context, column)  the colouring of such an attribute
//   address(label)      optional: the address of a label's page
//   place(label)        optional: {label, name, x, y} of a label that is not in the data,
//                       because the map shows a sample
//
// Options: search (default true); panels (default true; without them only the stage);
// changed(map, what) is called when the "choice", the "colours" or the "view" change,
// moved(map) in every step of a move, hovered(map, point or null) when the pointer goes on;
// arrows(map) returns [[from x, from y, to x, to y, is_strong]], places on the map; hollow
// lists points to draw as rings; about (such as "labels of zoo") and file_name name the map.
// Text from the data is inserted as text, never as HTML.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const element = Phcle.element;
  const MOST_LISTED = 300;
  const MOST_TOLD = 4; // colourings in a tooltip
  const STEP = 80; // pixels that an arrow key with Shift moves the map
  const SETTLED_MS = 110;
  const HEAD = 7; // pixels of the head of an arrow
  const SLOW_MS = 45; // between frames, from which on names are drawn when the map rests
  const PANELS = ".map-controls, .map-side > :not([hidden]), .map-tools, .map-note, .map-title";
  const SVG = "http://www.w3.org/2000/svg";
  // Parts of the map that the sheet of a phone covers, and where it turns to another of them.
  const [HALF, WHOLE, WHOLE_FROM, CLOSED_BELOW] = [0.45, 0.92, 0.68, 0.25];
  const TYPES = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

  const unpacked = (Phcle.unpacked_array = function (text) {
    if (typeof text !== "string") return text; // an array already
    const [kind, base64] = text.split(":");
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new TYPES[kind](bytes.buffer);
  });

  function with_arrays(colouring) {
    const made = { ...colouring };
    for (const key of ["codes", "values", "is_known", "confidence"]) {
      if (made[key]) made[key] = unpacked(made[key]);
    }
    return made;
  }

  function unpack(data) {
    const arrays = ["x", "y", "neighbours"].map((key) => [key, unpacked(data[key])]);
    return {
      ...data,
      ...Object.fromEntries(arrays),
      labels: data.labels || data.names,
      colourings: data.colourings.map(with_arrays),
    };
  }

  const bytes = (colour) => [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255];
  const count = (n) => n.toLocaleString("en");
  const button = (text, onclick, attributes) =>
    element("button", { type: "button", onclick, ...attributes }, text);

  const DEFAULTS = {
    search: true,
    panels: true,
    changed: () => {},
    moved: () => {},
    hovered: () => {},
    arrows: () => [],
    hollow: [],
    about: "labels",
    file_name: "map",
  };

  // Icons of the tool bar: paths in a box of 24, drawn as lines.
  const ICONS = {
    plus: "M12 5v14M5 12h14",
    minus: "M5 12h14",
    all: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
    filter: "M3 5h18l-7 8v6l-4-2v-4z",
    table: "M4 5h16v14H4zM4 10h16M4 14.500h16M10 5v14",
    lasso: "M8 16c-3-.8-5-2.8-5-5.5C3 7 7 4 12 4s9 3 9 6.5S17 17 12 17c-1.3 0-2.500-.2-4-1zm0 0c-2 0-2.600 1.200-2.400 2.400S7.500 20 7.500 22",
    list: "M9 6h12M9 12h12M9 18h12M4 6h.01M4 12h.01M4 18h.01",
  };

  function tool(name, icon, onclick, attributes) {
    const made = button("", onclick, { "aria-label": name, title: name, ...attributes });
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("viewBox", "0 0 24 24");
    drawing.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", ICONS[icon]);
    drawing.append(path);
    made.append(drawing);
    return made;
  }

  class LabelMap {
    constructor(host, provider, data, options) {
      Object.assign(this, { host, provider });
      this.options = { ...DEFAULTS, ...options };
      this.data = unpack(data);
      this.n = this.data.names.length;
      this.per_label = this.n ? this.data.neighbours.length / this.n : 0;
      this.importance = Phcle.by_importance(this.data.neighbours, this.n);
      this.colours = {
        rgba: new Uint32Array(this.n),
        order: new Uint32Array(this.n),
      };
      this.base = this.data.colourings[0]; // what the picker shows
      this.modes = Phcle.modes_of(this.base);
      this.mode = "value";
      this.group = null; // the only group shown; null shows all
      this.filter = null; // 1 for each label that passes a filter; null: all of them
      this.chosen = null;
      this.many = []; // labels chosen together
      this.pinned = null; // [x, y, name] of a label that is not in the data
      this.outside = null; // {label, name} of such a label, if it is chosen
      this.placed = []; // names on the stage
      this.pace = 0; // milliseconds between frames while the map moves
      this.gone = new AbortController(); // ends the listeners outside the host
      this.build();
      this.open();
    }

    get colouring() {
      return this.modes[this.mode];
    }

    row_of(label) {
      this.rows ??= new Map(this.data.labels.map((own, i) => [own, i]));
      return this.rows.get(label) ?? -1;
    }

    // -- Building

    build() {
      this.id = this.host.id || "map";
      this.probe = element("span", { hidden: "" });
      this.colour_of = Phcle.style_colours(this.probe);
      this.stage = element("div", {
        class: "map-stage",
        tabindex: "0",
        role: "application",
        "aria-label":
          `Map of ${count(this.n)} ${this.options.about}. Arrow keys go from label to label, ` +
          "with Shift they move the map. Plus and minus zoom, 0 shows all, Escape clears.",
        onkeydown: (event) => this.on_key(event),
      });
      const layer = (name) => element("canvas", { class: name, "aria-hidden": "true" });
      this.clouds = layer("map-density");
      this.overlay = layer("map-names");
      this.tip = element("div", { class: "map-tip", role: "tooltip", hidden: "" });
      this.stage.append(this.clouds, this.overlay, this.tip);
      this.panel = element("div", { class: "map-panel", "aria-live": "polite" });
      this.card = element(
        "section",
        { class: "map-card", "aria-label": "Chosen labels", tabindex: "0", hidden: "" },
        button("×", () => this.clear_choice(), { class: "map-close", "aria-label": "Close" }),
        this.panel,
      );
      this.side = element("div", { class: "map-side" }, this.handle(), this.card);
      this.closers = [() => this.clear_choice()]; // close the panels of the side
      this.legend = element("div", { class: "map-legend", role: "group", tabindex: "0" });
      this.status = element("p", { class: "map-note", role: "status" });
      const panels = [this.controls(), this.side, this.tools(), this.status];
      this.host.classList.add("map-whole");
      this.host.replaceChildren(
        this.probe,
        this.stage,
        ...(this.options.panels ? panels : []),
      );
    }

    controls() {
      const parts = [];
      if (this.options.search) parts.push(this.search_box());
      this.picker = element("select", {
        id: `${this.id}-colour`,
        onchange: () => this.pick_colours(this.data.colourings[this.picker.value]),
      });
      this.mode_picker = element("select", {
        "aria-label": "What of the attribute",
        hidden: "",
        onchange: () => this.pick_mode(this.mode_picker.value),
      });
      const label = element("label", { for: this.picker.id }, "Colour by");
      parts.push(element("div", { class: "map-row" }, label, this.picker));
      if (this.provider.attributes) parts.push(this.attribute_box());
      parts.push(element("div", { class: "map-row" }, this.mode_picker), this.legend);
      const about = { class: "map-controls", "aria-label": "Colours" };
      return element("section", about, ...parts);
    }

    search_box() {
      const id = `${this.id}-search`;
      const { names, labels } = this.data;
      this.search = Phcle.combobox(id, {
        placeholder: "Find a label",
        find: (typed) => Phcle.search(names, labels, typed),
        note: (found) => (found.is_guess ? "no such label; did you mean" : ""),
        show: (point) => {
          const group = this.group_name(this.data.colourings[0], point);
          return [Phcle.name(names[point]), element("span", { class: "map-count" }, group)];
        },
        take: (point, box) => {
          box.value = names[point];
          this.go_to(point);
        },
      });
      this.search.box.setAttribute("aria-label", "Find a label");
      document.addEventListener("keydown", (event) => {
        const is_typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
        if (event.key !== "/" || is_typing || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.search.box.focus();
      }, { signal: this.gone.signal });
      return this.search.whole;
    }

    attribute_box() {
      const id = `${this.id}-attribute`;
      const made = Phcle.combobox(id, {
        placeholder: "or by an attribute",
        name: "Attributes found",
        none: "no such attribute",
        find: (typed) => this.provider.attributes(typed),
        show: ({ context, name }) => [
          Phcle.name(name),
          element("span", { class: "map-count" }, context),
        ],
        take: ({ context, name }, box) => {
          box.value = name;
          this.colour_by_attribute(context, name).catch((error) => this.tell(error.message));
        },
      });
      made.box.setAttribute("aria-label", "Colour by an attribute");
      return made.whole;
    }

    // On a phone the side is a sheet above the map: drag its handle up for more of it and
    // down to close it. A tap or a key changes between half and whole.
    handle() {
      let held = null;
      let is_dragged = false;
      const part = () => this.side.clientHeight / this.host.clientHeight;
      const made = button("", () => {
        if (!is_dragged) this.set_sheet(part() > WHOLE_FROM ? HALF : WHOLE);
        is_dragged = false;
      }, { class: "map-handle", "aria-label": "More or less of this panel" });
      made.addEventListener("pointerdown", (event) => {
        made.setPointerCapture(event.pointerId);
        held = { y: event.clientY, high: this.side.clientHeight };
        is_dragged = false;
      });
      made.addEventListener("pointermove", (event) => {
        if (!held) return;
        is_dragged ||= Math.abs(event.clientY - held.y) > 5;
        const high = held.high + held.y - event.clientY;
        if (is_dragged) this.side.style.setProperty("--sheet", `${high}px`);
      });
      const drop = () => {
        if (held && is_dragged) {
          if (part() < CLOSED_BELOW) this.close_side();
          this.set_sheet(part() > WHOLE_FROM ? WHOLE : HALF);
        }
        held = null;
      };
      made.addEventListener("pointerup", drop);
      made.addEventListener("pointercancel", drop);
      return made;
    }

    set_sheet(part) {
      this.side.style.setProperty("--sheet", `${100 * part}%`);
    }

    close_side() {
      for (const close of this.closers) close();
    }

    // A panel at the side, which a button of the tool bar opens. opened() is called when it is
    // shown. Returns {section, show(on)}.
    add_panel(title, icon, content, opened) {
      const show = (on) => {
        section.hidden = !on;
        opener.ariaPressed = String(on);
        if (on) {
          this.set_sheet(HALF);
          opened();
        }
      };
      const opener = tool(title, icon, () => show(section.hidden), { "aria-pressed": "false" });
      const section = element(
        "section",
        { class: "map-card", "aria-label": title, tabindex: "0", hidden: "" },
        button("×", () => show(false), { class: "map-close", "aria-label": `Close ${title}` }),
        element("h2", {}, title),
        content,
      );
      this.closers.push(() => show(false));
      // The panel takes room from the map, and more when its content has come.
      new ResizeObserver(() => this.view.resize()).observe(section);
      this.side.append(section);
      this.bar.insertBefore(opener, this.circler);
      return { section, show };
    }

    tools() {
      const list = () => this.choose_many(this.view.in_view());
      const turn = () => this.encircle(!this.view.is_encircling);
      this.circler = tool("Lasso", "lasso", turn, { "aria-pressed": "false" });
      const saves = (kind) => {
        const name = `Save as ${kind.toUpperCase()}`;
        const save = () => Phcle.save_map(this, kind);
        return button(kind.toUpperCase(), save, { "aria-label": name, title: name });
      };
      this.bar = element(
        "div",
        { class: "map-tools", role: "toolbar", "aria-label": "Map" },
        tool("Zoom in", "plus", () => this.view.zoom(1.6)),
        tool("Zoom out", "minus", () => this.view.zoom(1 / 1.6)),
        tool("Show all", "all", () => this.clear()),
        this.circler,
        tool("List what is in view", "list", list),
        saves("png"),
        saves("svg"),
      );
      return this.bar;
    }

    open() {
      const told = {
        hover: (point) => this.hover(point),
        choose: (point, is_more) => (is_more ? this.add_or_remove(point) : this.choose(point)),
        encircled: (points) => {
          this.encircle(false);
          if (points.length) this.choose_many(points);
        },
        moved: () => this.on_move(),
        draw: (frame) => this.draw(frame),
      };
      this.view = Phcle.open_view(this.stage, this.data, told, () => this.room());
      this.host.dataset.view = this.view.kind;
      this.fill_picker();
      this.recolour();
      this.view.resize(); // the legend has its size now
      // A map that is no longer on the page has no colours.
      const again = () => (this.host.isConnected ? this.recolour() : this.gone.abort());
      const until = { signal: this.gone.signal };
      root.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, until);
      document.addEventListener("phcle-theme", again, until);
      this.host.dataset.drawn = Math.round(performance.now());
    }

    tell(text) {
      this.status.textContent = text;
    }

    // Boxes of the panels that lie on the stage: [left, top, right, bottom].
    covered() {
      const stage = this.stage.getBoundingClientRect();
      return [...this.host.querySelectorAll(PANELS)]
        .map((panel) => panel.getBoundingClientRect())
        .filter((box) => box.width && box.top < stage.bottom && box.bottom > stage.top)
        .map((box) => [
          box.left - stage.left,
          box.top - stage.top,
          box.right - stage.left,
          box.bottom - stage.top,
        ]);
    }

    // The part of the stage beside the panels, which stand at its left and right, and above
    // the sheet of a phone.
    room() {
      const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
      let [left, right, low] = [0, width, height];
      for (const [from, top, to, bottom] of this.covered()) {
        if (to - from > 0.6 * width) {
          if (top > 0.2 * height) low = Math.min(low, top);
        } else if (bottom - top > 0.2 * height) {
          if (from + to < width) left = Math.max(left, to);
          else right = Math.min(right, from);
        }
      }
      return { left, right, top: 0, bottom: low };
    }

    // -- Colours

    ink() {
      const names = ["page", "ink", "quiet", "accent"];
      return Object.fromEntries(names.map((x) => [x, Phcle.as_css(this.colour_of(`--${x}`))]));
    }

    fill_picker() {
      this.picker.replaceChildren(
        ...this.data.colourings.map(({ title }, i) => element("option", { value: i }, title)),
      );
      this.picker.value = String(this.data.colourings.indexOf(this.base));
      const names = Object.keys(this.modes);
      this.mode_picker.hidden = names.length < 2;
      this.mode_picker.replaceChildren(...names.map((x) => element("option", {}, x)));
      this.mode_picker.value = this.mode;
    }

    pick_colours(colouring, mode = "value") {
      this.base = colouring;
      this.modes = Phcle.modes_of(colouring);
      this.mode = mode in this.modes ? mode : "value";
      this.group = null;
      this.fill_picker();
      this.recolour();
      this.redraw_card();
      this.options.changed(this, "colours");
    }

    pick_mode(mode) {
      this.pick_colours(this.base, mode);
    }

    async colour_by_attribute(context, column, mode) {
      this.tell(`Reading ${column}…`);
      const made = this.add_colouring(await this.provider.colour(context, column));
      this.tell("");
      this.pick_colours(made, mode);
    }

    // Add a colouring, in the format of the data, to those that can be chosen.
    add_colouring(colouring) {
      const made = with_arrays(colouring);
      const others = this.data.colourings.filter(({ title }) => title !== made.title);
      this.data.colourings = [...others, made];
      this.fill_picker();
      return made;
    }

    colour_by(title) {
      const found = this.data.colourings.find((each) => each.title === title);
      if (found) this.pick_colours(found);
    }

    recolour() {
      const { codes } = this.colouring;
      let kept = this.filter;
      if (this.group !== null) {
        const passes = (i) => !this.filter || this.filter[i];
        kept = codes.map((code, i) => Number(code === this.group && passes(i)));
      }
      this.view.kept = kept;
      this.legend_now = Phcle.paint_colouring(this.colouring, this.colour_of, kept, this.colours);
      Phcle.draw_density(this.clouds, this.data, this.colours.rgba, kept);
      this.ink_now = this.ink();
      this.view.colour(this.colours.order, this.colours.rgba, this.colour_of("--page"));
      this.draw_legend();
      this.place_names();
    }

    draw_legend() {
      const { entries, has_faint } = this.legend_now;
      if (!entries) {
        this.draw_scale();
        return;
      }
      const note = element("p", { class: "map-hint" }, "faint: predicted");
      this.legend.ariaLabel = "Groups; press one to show only that group";
      this.legend.replaceChildren(
        ...this.legend_title(),
        ...entries.map(({ name, code, n, colour }) => {
          const swatch = element("span", { class: "map-swatch" });
          swatch.style.background = colour;
          const made = button(swatch, () => this.show_group(this.group === code ? null : code), {
            "aria-pressed": String(this.group === code),
          });
          made.append(Phcle.name(name), element("span", { class: "map-count" }, count(n)));
          return made;
        }),
        ...(has_faint ? [note] : []),
      );
    }

    // The name of an attribute: the picker cuts long ones.
    legend_title() {
      const { column } = this.colouring;
      return column ? [element("p", { class: "map-of" }, Phcle.name(column))] : [];
    }

    draw_scale() {
      const { ramp, low, high, is_log, has_faint, missing } = this.legend_now;
      const digits = Math.max(0, 2 - Math.floor(Math.log10(high - low || 1)));
      const rounded = (value) => String(Number(value.toFixed(Math.min(20, digits))));
      const tick = is_log ? Phcle.number : rounded;
      const middle = is_log ? Math.sqrt(low * high) : (low + high) / 2;
      const bar = element("div", { class: "map-ramp" });
      bar.style.background = `linear-gradient(to right, ${ramp.join(", ")})`;
      const ends = element(
        "div",
        { class: "map-ends" },
        ...[low, middle, high].map((at) => element("span", {}, tick(at))),
      );
      const notes = is_log ? ["equal steps are equal ratios"] : [];
      if (has_faint) notes.push("faint: predicted");
      if (missing) notes.push(`grey: ${missing}`);
      const note = element("p", { class: "map-hint" }, notes.join(" · "));
      this.legend.ariaLabel = "Scale";
      this.legend.replaceChildren(...this.legend_title(), bar, ends, ...(notes.length ? [note] : []));
    }

    // Show only some labels, those of the rows; null shows all.
    keep(rows) {
      this.filter = rows && new Uint8Array(this.n);
      for (const i of rows || []) this.filter[i] = 1;
      this.recolour();
    }

    show_group(code) {
      this.group = code;
      this.recolour();
      this.options.changed(this, "colours");
    }

    // -- Choosing

    // The colour of a point, opaque.
    css_of(point) {
      return Phcle.as_css(bytes(this.colours.rgba[point]));
    }

    nearest_to(point) {
      const start = point * this.per_label;
      return Array.from(this.data.neighbours.subarray(start, start + this.per_label));
    }

    group_name({ groups, codes }, point) {
      return groups ? groups[codes[point]] : "";
    }

    // What a colouring says about a label, as text.
    said_by(colouring, point) {
      if (colouring.groups) return this.group_name(colouring, point);
      const value = colouring.values[point];
      if (Number.isNaN(value)) return colouring.missing ?? "unknown";
      const is_guess = colouring.is_known && !colouring.is_known[point];
      return Phcle.number(value) + (colouring.unit ?? "") + (is_guess ? ", predicted" : "");
    }

    hover(point) {
      if (point === this.hovered) return;
      this.hovered = point;
      this.tip.hidden = point === null;
      this.stage.classList.toggle("is-over", point !== null);
      this.view.draw_soon();
      this.options.hovered(this, point);
      if (point === null) return;
      this.tip.replaceChildren(...this.told_of(point));
      const [x, y] = this.view.place(point);
      const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
      const [is_right, is_low] = [x > width * 0.6, y > height * 0.7];
      this.tip.style.left = is_right ? "" : `${x + 14}px`;
      this.tip.style.right = is_right ? `${width - x + 14}px` : "";
      this.tip.style.top = is_low ? "" : `${y + 14}px`;
      this.tip.style.bottom = is_low ? `${height - y + 14}px` : "";
    }

    // The content of a tooltip: name, what the colours say, and the nearest labels.
    told_of(point) {
      const { names, labels, colourings } = this.data;
      const name = (text) => Phcle.name(text, { title: "" });
      const swatch = element("span", { class: "map-swatch" });
      swatch.style.background = this.css_of(point);
      const id = labels[point] === names[point] ? [] : [name(labels[point])];
      const own = this.colouring.title;
      const others = colourings.filter(({ title, groups }) => groups && title !== own);
      const facts = [this.colouring, ...others].slice(0, MOST_TOLD).map((each) =>
        element(
          "span",
          { class: "map-fact" },
          element("span", { class: "map-count" }, each.title),
          name(this.said_by(each, point)),
        ),
      );
      const near = this.nearest_to(point).slice(0, 3).map((i) => Phcle.shortened(names[i]));
      return [
        element("strong", {}, swatch, name(names[point])),
        ...id.map((each) => element("span", { class: "map-count" }, each)),
        element("span", { class: "map-facts" }, ...facts),
        ...(near.length ? [element("span", { class: "map-hint" }, `near ${near.join(", ")}`)] : []),
      ];
    }

    // The id of the chosen label, or null.
    chosen_label() {
      if (this.outside) return this.outside.label;
      return this.chosen === null ? null : this.data.labels[this.chosen];
    }

    has_choice() {
      return this.chosen_label() !== null || this.many.length > 0;
    }

    set_choice(point, many, outside = null) {
      if (this.outside) this.pinned = null;
      Object.assign(this, { chosen: point, many, outside });
    }

    choose(point) {
      if (!this.has_choice()) this.set_sheet(HALF);
      this.set_choice(point ?? null, []);
      this.redraw_card();
      if (this.chosen !== null) this.view.bring_in(this.chosen); // the card may cover it
      this.place_names();
      this.options.changed(this, "choice");
    }

    choose_many(points) {
      this.set_choice(null, points);
      this.redraw_card();
      this.view.resize(); // the card takes room from the map
      this.place_names();
      this.options.changed(this, "choice");
    }

    add_or_remove(point) {
      if (point === null) return;
      const before = this.chosen === null ? this.many : [this.chosen];
      const is_in = before.includes(point);
      const after = is_in ? before.filter((i) => i !== point) : [...before, point];
      if (after.length === 1) this.choose(after[0]);
      else this.choose_many(after);
    }

    go_to(point) {
      if (this.group !== null && this.colouring.codes[point] !== this.group) {
        this.group = null;
        this.recolour();
      }
      this.choose(point);
      this.view.look_at([point, ...this.nearest_to(point)]);
    }

    // Go to a label that may not be among those on the map.
    async go_to_label(label) {
      const point = this.row_of(label);
      if (point >= 0) {
        this.go_to(point);
      } else if (this.provider.place) {
        const { name, x, y } = await this.provider.place(label);
        this.set_choice(null, [], { label, name });
        this.pin(x, y, name, []);
        this.redraw_card();
        this.options.changed(this, "choice");
      }
    }

    clear_choice() {
      if (this.has_choice()) this.choose(null);
    }

    clear() {
      if (this.search) this.search.box.value = "";
      this.encircle(false);
      if (this.group !== null) this.show_group(null);
      this.clear_choice();
      this.view.show_all();
    }

    encircle(on) {
      this.view.is_encircling = on;
      this.circler.ariaPressed = String(on);
      this.stage.classList.toggle("is-encircling", on);
    }

    // -- The card

    redraw_card() {
      this.card.hidden = !this.has_choice();
      if (this.outside) this.show_label(this.outside);
      else if (this.chosen !== null) {
        const [label, name] = [this.data.labels[this.chosen], this.data.names[this.chosen]];
        this.show_label({ label, name }, this.chosen);
      }
      else if (this.many.length) this.show_many(this.many);
      else this.panel.replaceChildren();
      this.view.draw_soon();
    }

    // The card of a label; `point` is null if the map does not show it.
    show_label({ label, name }, point = null) {
      const near = element("ol", { class: "neighbours" });
      const parts = [element("h2", {}, Phcle.name(name))];
      if (label !== name) parts.push(element("p", { class: "map-id" }, Phcle.name(label)));
      if (point === null) {
        const note = "Not among the labels on the map; the pin shows its place.";
        parts.push(element("p", { class: "map-hint" }, note));
      }
      const said = element("dl", { class: "map-said" });
      for (const each of point === null ? [] : this.data.colourings) {
        const text = this.said_by(each, point);
        said.append(element("dt", {}, each.title), element("dd", {}, Phcle.name(text)));
      }
      const details = point === null ? [] : (this.provider.details?.(point) ?? []);
      parts.push(said, ...details, element("h3", {}, "Nearest labels"), near);
      if (this.provider.address) {
        const link = { class: "button", href: this.provider.address(label) };
        parts.push(element("p", {}, element("a", link, "Open its page")));
      }
      this.panel.replaceChildren(...parts);
      this.list_nearest(label, point, near);
    }

    async list_nearest(label, point, near) {
      const { names, labels } = this.data;
      const rows = point === null ? [] : this.nearest_to(point);
      let found = rows.map((i) => ({ label: labels[i], name: names[i] }));
      if (this.provider.nearest) {
        try {
          found = await this.provider.nearest(label);
        } catch (error) {
          near.replaceWith(element("p", { class: "failed", role: "alert" }, error.message));
          return;
        }
      }
      near.replaceChildren(
        ...found.map(({ label: other, name, similarity, shared }) => {
          const go = button(Phcle.name(name), () => this.go_to_label(other));
          const value = similarity === undefined ? "" : similarity.toFixed(2);
          const made = element("li", {}, go, element("span", { class: "map-count" }, value));
          if (shared?.length) {
            const both = `both: ${shared.join(", ")}`;
            made.append(element("span", { class: "map-shared" }, Phcle.name(both)));
          }
          return made;
        }),
      );
    }

    show_many(points) {
      const { names, labels } = this.data;
      const parts = [element("h2", {}, `${count(points.length)} labels`)];
      if (this.colouring.groups) {
        const counts = new Map();
        for (const i of points) {
          const group = this.group_name(this.colouring, i);
          counts.set(group, (counts.get(group) || 0) + 1);
        }
        const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3);
        const text = most.map(([name, n]) => `${name} ${count(n)}`).join(" · ");
        parts.push(element("p", { class: "map-hint" }, Phcle.name(text)));
      }
      const listed = points.slice(0, MOST_LISTED).map((i) =>
        element("li", {}, button(Phcle.name(names[i]), () => this.go_to(i))),
      );
      const about = { class: "listed", tabindex: "0", "aria-label": "Chosen" };
      parts.push(element("ul", about, ...listed));
      if (points.length > MOST_LISTED) {
        const more = `and ${count(points.length - MOST_LISTED)} more`;
        parts.push(element("p", { class: "map-hint" }, more));
      }
      const rows = points.map((i) => ({ label: labels[i], name: names[i] }));
      this.panel.replaceChildren(...parts, ...(this.options.list_tools?.(rows) ?? []));
    }

    // -- Names and marks

    on_move() {
      this.is_moving = true;
      this.options.moved(this);
      if (this.hovered !== undefined && this.hovered !== null) this.hover(null);
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.is_moving = false;
        this.place_names();
        this.options.changed(this, "view");
      }, SETTLED_MS + 2 * this.pace);
    }

    // Pin a label that is not in the data between its nearest labels.
    pin(x, y, name, near) {
      this.pinned = [x, y, name];
      this.many = near.filter((i) => i >= 0); // a sample may lack some
      this.view.look_at(this.many, [[x, y]]);
      this.place_names();
    }

    // Groups of the colouring, or of the first one, and finer regions; those that have labels
    // which pass the filters.
    named_regions() {
      const { regions, colourings } = this.data;
      const { kept } = this.view;
      const { title } = this.colouring;
      const named = regions.some(({ of }) => of === title) ? title : regions[0]?.of;
      const own = regions.filter(({ of }) => !of || of === named);
      if (!kept) return own;
      const { groups, codes } = colourings.find((each) => each.title === named) ?? { codes: [] };
      const left = new Set();
      codes.forEach((code, i) => kept[i] && left.add(groups[code]));
      return own.filter(({ of, name, x, y, reach }) =>
        of ? left.has(name) : this.view.has_any(x, y, reach),
      );
    }

    place_names() {
      const { names } = this.data;
      const first =
        this.chosen === null ? this.many.slice(0, 40) : [this.chosen, ...this.nearest_to(this.chosen)];
      this.placed = Phcle.place_names(Phcle.pen_of(this.overlay), this.view, this.named_regions(), names, {
        importance: this.importance,
        first,
        blocked: this.covered(),
      });
      this.view.draw_soon();
    }

    // A slow browser draws only points and marks while the map moves.
    is_short_of_time() {
      const now = performance.now();
      const since = now - (this.drawn_at ?? now);
      this.drawn_at = now;
      if (this.is_moving && since < 1000) this.pace = 0.8 * this.pace + 0.2 * since;
      return this.is_moving && this.pace > SLOW_MS;
    }

    draw(frame) {
      const { width, height, sharp } = frame;
      const { overlay } = this;
      const [wide, high] = [Math.round(width * sharp), Math.round(height * sharp)];
      if (overlay.width !== wide || overlay.height !== high) {
        Object.assign(overlay, { width: wide, height: high });
      }
      const pen = Phcle.pen_of(overlay);
      pen.setTransform(sharp, 0, 0, sharp, 0, 0);
      pen.clearRect(0, 0, width, height);
      const is_short = this.is_short_of_time();
      this.clouds.style.visibility = is_short ? "hidden" : "";
      if (!is_short) {
        Phcle.move_density(this.clouds, frame, this.view.home_reach() / this.view.reach);
      }
      this.draw_hollows(pen, frame);
      this.draw_arrows(pen);
      this.draw_marks(pen, frame);
      if (!is_short) Phcle.draw_names(pen, frame, this.placed, this.ink_now);
      this.draw_lasso(pen);
    }

    // Points that are rings: their middle gets the colour of the page.
    draw_hollows(pen, { radius, width, height }) {
      pen.fillStyle = this.ink_now.page;
      pen.beginPath();
      for (const i of this.options.hollow) {
        const [x, y] = this.view.place(i);
        if (x < 0 || y < 0 || x > width || y > height) continue;
        pen.moveTo(x + 0.55 * radius, y);
        pen.arc(x, y, 0.55 * radius, 0, 2 * Math.PI);
      }
      pen.fill();
    }

    // The arrows in pixels: a line that ends with its head. Short ones have no head.
    arrows() {
      return this.options.arrows(this).map(([from_x, from_y, to_x, to_y, is_strong]) => {
        const [from, to] = [this.view.place_of(from_x, from_y), this.view.place_of(to_x, to_y)];
        const [right, down] = [to[0] - from[0], to[1] - from[1]];
        const long = Math.hypot(right, down);
        if (long < 2 * HEAD) return { line: [from, to], is_strong };
        const [along, across] = [HEAD / long, HEAD / long / 2];
        const side = (way) => [
          to[0] - right * along - way * down * across,
          to[1] - down * along + way * right * across,
        ];
        return { line: [from, to, side(1), to, side(-1)], is_strong };
      });
    }

    draw_arrows(pen) {
      const { ink, accent, page } = this.ink_now;
      for (const { line, is_strong } of this.arrows()) {
        pen.beginPath();
        for (const place of line) pen.lineTo(...place);
        // A border keeps the arrow apart from the points below it.
        for (const [colour, wide] of [[page, 3.5], [is_strong ? accent : ink, is_strong ? 2 : 1]]) {
          pen.strokeStyle = colour;
          pen.lineWidth = wide;
          pen.globalAlpha = is_strong ? 1 : 0.6;
          pen.stroke();
        }
      }
      pen.globalAlpha = 1;
    }

    draw_marks(pen, { radius }) {
      const { ink, page } = this.ink_now;
      const rings = (points, out) => {
        pen.beginPath();
        for (const i of points) {
          const [x, y] = this.view.place(i);
          pen.moveTo(x + radius + out, y);
          pen.arc(x, y, radius + out, 0, 2 * Math.PI);
        }
        pen.stroke();
      };
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      if (this.many.length) rings(this.many, 1.5);
      if (this.hovered !== undefined && this.hovered !== null) rings([this.hovered], 3);
      if (this.chosen !== null) {
        const [x, y] = this.view.place(this.chosen);
        const near = this.nearest_to(this.chosen);
        pen.globalAlpha = 0.45;
        pen.beginPath();
        for (const i of near) {
          pen.moveTo(x, y);
          pen.lineTo(...this.view.place(i));
        }
        pen.stroke();
        pen.globalAlpha = 1;
        rings(near, 1.5);
        this.draw_dot(pen, x, y, radius + 3, this.css_of(this.chosen), page, ink);
      }
      if (this.pinned) {
        const [x, y] = this.view.place_of(this.pinned[0], this.pinned[1]);
        this.draw_dot(pen, x, y, 6, Phcle.as_css(this.colour_of("--group-5")), page, ink);
        pen.font = "bold 13px system-ui, sans-serif";
        pen.strokeStyle = page;
        pen.lineWidth = 4;
        const name = Phcle.shortened(this.pinned[2]);
        pen.strokeText(name, x + 14, y + 4);
        pen.fillStyle = ink;
        pen.fillText(name, x + 14, y + 4);
      }
    }

    // A large dot with two rings, which no other mark has.
    draw_dot(pen, x, y, radius, fill, inner, outer) {
      for (const [out, colour] of [[5, outer], [2.5, inner], [0, fill]]) {
        pen.beginPath();
        pen.arc(x, y, radius + out, 0, 2 * Math.PI);
        pen.fillStyle = colour;
        pen.fill();
      }
    }

    draw_lasso(pen) {
      const { line } = this.view;
      if (!line) return;
      pen.beginPath();
      for (const [x, y] of line) pen.lineTo(x, y);
      pen.closePath();
      pen.strokeStyle = pen.fillStyle = this.ink_now.accent;
      pen.lineWidth = 2;
      pen.stroke();
      pen.globalAlpha = 0.12;
      pen.fill();
      pen.globalAlpha = 1;
    }

    // -- Keys

    // Go to the next label in a direction; at first to the one nearest to the middle.
    step(right, up) {
      const free = this.room();
      const middle = [(free.left + free.right) / 2, (free.top + free.bottom) / 2];
      const next =
        this.chosen === null
          ? this.view.pick(...middle, this.stage.clientWidth)
          : this.view.beside(this.chosen, right, up);
      if (next === null) return;
      this.choose(next);
    }

    on_key(event) {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const keys = {
        "+": () => this.view.zoom(1.5),
        "=": () => this.view.zoom(1.5),
        "-": () => this.view.zoom(1 / 1.5),
        0: () => this.view.show_all(),
        Escape: () => this.escape(),
        Enter: () => this.chosen !== null && this.options.entered?.(this.chosen_label()),
      };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = ways[event.key];
      if (way && event.shiftKey) this.view.pan(STEP * way[0], -STEP * way[1]);
      else if (way) this.step(...way);
      else if (keys[event.key]) keys[event.key]();
      else return;
      event.preventDefault();
    }

    escape() {
      if (this.view.is_encircling) this.encircle(false);
      else if (this.has_choice()) this.clear_choice();
      else if (this.group !== null) this.show_group(null);
    }
  }

  const mounted = new WeakMap(); // host -> map

  Phcle.mount_map = async function (host, provider, options) {
    const data = await provider.map();
    mounted.get(host)?.gone.abort();
    const map = new LabelMap(host, provider, data, options);
    mounted.set(host, map);
    return map;
  };
})(window);
