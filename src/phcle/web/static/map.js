// The map of labels: hover, search, move and zoom.
//
//   Phcle.mount_map(host, data, options)
//
// builds the map inside `host`. Data: names; labels (ids, or null if they equal the
// names); x and y (float32, -1 … 1) and neighbours (uint32, the same number for every
// label), all in base64; and colourings, each {title, groups, codes (uint8)}. The last
// group is "other" and grey, unless {…, shades} gives a {colour, is_faint} for each group.
// Text from the data is inserted as text, never as HTML.
//
// Options: search (default true); encircle (default false: no lasso); explain(map, point)
// and list(map, points) fill the panel; changed(map) is called on every change of state.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const MOST_FOUND = 12;
  const MOST_NAMED = 4000; // most points to try when placing names
  const AREA_PER_NAME = 12000; // square pixels of the stage for each name
  const GOLDEN = (Math.sqrt(5) - 1) / 2;
  const STEP = 60; // pixels per arrow key
  const SETTLED_MS = 120;

  function bytes(base64) {
    const text = atob(base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
    return out.buffer;
  }

  const element = Phcle.element; // from combobox.js

  function unpacked(colouring) {
    return { ...colouring, codes: new Uint8Array(bytes(colouring.codes)) };
  }

  // "rgb(0, 114, 178)" as "#0072b2"
  function as_hex(colour) {
    const parts = colour.match(/[\d.]+/g).slice(0, 3);
    return `#${parts.map((x) => Math.round(x).toString(16).padStart(2, "0")).join("")}`;
  }

  function mixed(colour, other, share) {
    const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
    const mix = (i) => part(colour, i) * share + part(other, i) * (1 - share);
    return as_hex(`rgb(${mix(0)}, ${mix(1)}, ${mix(2)})`);
  }

  function unpack(data) {
    return {
      names: data.names,
      labels: data.labels || data.names,
      x: new Float32Array(bytes(data.x)),
      y: new Float32Array(bytes(data.y)),
      neighbours: new Uint32Array(bytes(data.neighbours)),
      colourings: data.colourings.map(unpacked),
    };
  }

  // Names that begin with the text, then names with a word that does, then the rest.
  Phcle.search = function (names, labels, typed) {
    const words = typed.trim().toLowerCase();
    if (!words) return [];
    const found = [[], [], []];
    for (let i = 0; i < names.length && found[0].length < MOST_FOUND; i++) {
      const name = names[i].toLowerCase();
      const at = name.indexOf(words);
      if (at === 0 || labels[i].toLowerCase() === words) found[0].push(i);
      else if (at > 0) found[name[at - 1] === " " ? 1 : 2].push(i);
    }
    found[0].sort((a, b) => names[a].length - names[b].length);
    return found.flat().slice(0, MOST_FOUND);
  };

  class LabelMap {
    constructor(host, data, options) {
      this.host = host;
      this.options = {
        search: true,
        encircle: false,
        explain: (map, point) => map.explain(point),
        list: () => {},
        changed: () => {},
        ...options,
      };
      this.data = unpack(data);
      this.n = this.data.names.length;
      this.per_label = this.n ? this.data.neighbours.length / this.n : 0;
      this.colouring = this.data.colourings[0];
      this.group = null; // the only group shown; null shows all
      this.chosen = null;
      this.pinned = null; // [x, y, name] of a label that is not in the data
      this.build();
    }

    build() {
      const id = this.host.id || "map";
      this.search = Phcle.combobox(`${id}-search`, {
        placeholder: "a label's name",
        find: (typed) => Phcle.search(this.data.names, this.data.labels, typed),
        show: (point) => {
          const { groups, codes } = this.data.colourings[0];
          const group = element("span", { class: "map-count" }, groups[codes[point]]);
          return [this.data.names[point], group];
        },
        take: (point, box) => {
          box.value = this.data.names[point];
          this.go_to(point);
        },
      });
      this.picker = element("select", { onchange: () => this.recolour() });
      this.fill_picker();
      this.probe = element("span", { hidden: "" });
      const everything = element("button", { type: "button" }, "Show all");
      everything.addEventListener("click", () => this.clear());
      this.stage = element("div", {
        class: "map-stage",
        tabindex: "0",
        role: "application",
        "aria-label":
          `Map of ${this.n} labels. Arrow keys move, plus and minus zoom, ` +
          "0 shows all; use the search to go to a label.",
        onkeydown: (event) => this.on_stage_key(event),
      });
      this.overlay = element("canvas", { class: "map-names", "aria-hidden": "true" });
      this.tip = element("div", { class: "map-tip", role: "tooltip", hidden: "" });
      this.panel = element("div", { class: "map-panel", "aria-live": "polite" });
      this.legend = element("div", {
        class: "map-legend",
        role: "group",
        "aria-label": "Groups; press one to show only that group",
      });
      const find = element("label", { for: `${id}-search` }, "Find ");
      this.bar = element(
        "div",
        { class: "map-bar" },
        ...(this.options.search ? [find, this.search.whole] : []),
        element("label", {}, "Colour by ", this.picker),
        everything,
        ...(this.options.encircle ? this.choosing_tools() : []),
      );
      this.host.replaceChildren(
        this.probe,
        this.bar,
        element(
          "div",
          { class: "map-body" },
          this.stage,
          element("div", { class: "map-side" }, this.panel, this.legend),
        ),
      );
      this.stage.append(this.overlay, this.tip);
    }

    choosing_tools() {
      this.circler = element(
        "button",
        {
          type: "button",
          "aria-pressed": "false",
          onclick: () => this.encircle(this.circler.ariaPressed !== "true"),
        },
        "Lasso",
      );
      const all = () => this.options.list(this, Array.from(this.view.in_view()));
      const seen = { type: "button", onclick: all };
      return [this.circler, element("button", seen, "List what is in view")];
    }

    encircle(on) {
      this.circler.ariaPressed = String(on);
      this.stage.classList.toggle("is-encircling", on);
      this.view.encircle(on);
    }

    fill_picker() {
      const now = this.data.colourings.indexOf(this.colouring);
      this.picker.replaceChildren(
        ...this.data.colourings.map((each, i) =>
          element("option", { value: i }, each.title),
        ),
      );
      this.picker.value = String(Math.max(now, 0));
    }

    // Add a colouring, in the format of the data, and show it.
    async add_colouring(colouring) {
      const others = this.data.colourings.filter(({ title }) => title !== colouring.title);
      this.data.colourings = [...others, unpacked(colouring)];
      this.fill_picker();
      await this.colour_by(colouring.title);
    }

    async colour_by(title) {
      const at = this.data.colourings.findIndex((each) => each.title === title);
      if (at < 0) return;
      this.picker.value = String(at);
      await this.recolour();
    }

    async open() {
      const told = {
        encircled: (points) => {
          this.view.mark(points);
          this.options.list(this, points);
        },
        hover: (point) => this.hover(point),
        choose: (point) => this.choose(point),
        moved: () => this.on_move(),
      };
      const make_canvas = () => {
        this.stage.querySelector(".map-points")?.remove();
        const canvas = element("canvas", { class: "map-points" });
        this.stage.prepend(canvas);
        return canvas;
      };
      this.stage.addEventListener("pointermove", (event) => this.carry_tip(event));
      this.view = await Phcle.open_view(make_canvas, this.data, this.ink(), told);
      await this.recolour();
      const scheme = root.matchMedia("(prefers-color-scheme: dark)");
      scheme.addEventListener("change", () => this.recolour());
      document.addEventListener("phcle-theme", () => this.recolour());
      root.addEventListener("resize", () => this.on_move());
      this.host.dataset.view = this.view.kind;
      this.host.dataset.drawn = Math.round(performance.now());
      if (this.view.kind !== "webgl") {
        const note = "Drawn on a plain canvas: this browser has no fast WebGL.";
        this.host.append(element("p", { class: "map-note" }, note));
      }
      this.options.explain(this, null);
      return this;
    }

    // Read colours from the style sheet, which decides between light and dark.
    colour_of(name) {
      this.probe.style.color = `var(${name})`;
      return as_hex(getComputedStyle(this.probe).color);
    }

    ink() {
      return this.colour_of("--ink");
    }

    palette() {
      if (this.colouring.shades) {
        const page = this.colour_of("--page");
        return this.colouring.shades.map(({ colour, is_faint }) => {
          const own = this.colour_of(`--group-${colour ?? "other"}`);
          return is_faint ? mixed(own, page, 0.4) : own;
        });
      }
      const last = this.colouring.groups.length - 1;
      return this.colouring.groups.map((_, i) =>
        i === last ? this.colour_of("--group-other") : this.colour_of(`--group-${i}`),
      );
    }

    async recolour() {
      const before = this.colouring;
      this.colouring = this.data.colourings[Number(this.picker.value) || 0];
      if (before !== this.colouring) this.show_group(null);
      await this.view.colour(this.colouring.codes, this.palette(), this.ink());
      this.draw_legend();
      if (this.chosen !== null) this.mark(this.chosen);
      this.place_names();
      this.options.changed(this);
    }

    draw_legend() {
      const counts = new Array(this.colouring.groups.length).fill(0);
      for (const code of this.colouring.codes) counts[code] += 1;
      this.legend.replaceChildren();
      this.palette().forEach((colour, code) => {
        if (!counts[code]) return;
        const swatch = element("span", { class: "map-swatch" });
        swatch.style.background = colour;
        const button = element(
          "button",
          {
            type: "button",
            "aria-pressed": String(this.group === code),
            onclick: () => this.show_group(this.group === code ? null : code),
          },
          swatch,
          this.colouring.groups[code],
          element("span", { class: "map-count" }, counts[code].toLocaleString("en")),
        );
        this.legend.append(button);
      });
    }

    show_group(code) {
      this.group = code;
      let kept = null;
      if (code !== null) {
        kept = [];
        this.colouring.codes.forEach((own, i) => own === code && kept.push(i));
      }
      this.view.show(kept);
      this.draw_legend();
      this.place_names();
      this.options.changed(this);
    }

    nearest_to(point) {
      const start = point * this.per_label;
      return Array.from(this.data.neighbours.slice(start, start + this.per_label));
    }

    hover(point) {
      this.hovered = point;
      this.tip.hidden = point === null;
      if (point === null) return;
      const near = this.nearest_to(point).map((i) => this.data.names[i]);
      this.tip.replaceChildren(
        element("strong", {}, this.data.names[point]),
        element("br"),
        near.length ? `near ${near.join(", ")}` : "alone",
      );
      this.put_tip(...this.view.place(point));
    }

    put_tip(x, y) {
      const far_right = x > this.stage.clientWidth * 0.6;
      const low = y > this.stage.clientHeight * 0.7;
      this.tip.style.left = far_right ? "" : `${x + 14}px`;
      this.tip.style.right = far_right ? `${this.stage.clientWidth - x + 14}px` : "";
      this.tip.style.top = low ? "" : `${y + 14}px`;
      this.tip.style.bottom = low ? `${this.stage.clientHeight - y + 14}px` : "";
    }

    carry_tip(event) {
      if (this.tip.hidden) return;
      const box = this.stage.getBoundingClientRect();
      this.put_tip(event.clientX - box.left, event.clientY - box.top);
    }

    mark(point) {
      this.view.mark([point, ...this.nearest_to(point)]);
    }

    choose(point) {
      this.chosen = point ?? null;
      if (this.chosen === null) this.view.mark([]);
      else this.mark(this.chosen);
      this.options.explain(this, this.chosen);
      this.place_names();
      this.options.changed(this);
    }

    go_to(point) {
      if (this.group !== null && this.colouring.codes[point] !== this.group) {
        this.show_group(null);
      }
      this.choose(point);
      this.view.look_at([point, ...this.nearest_to(point)]);
    }

    clear() {
      this.search.box.value = "";
      if (this.circler) this.encircle(false);
      this.show_group(null);
      this.choose(null);
      this.view.reset();
    }

    explain(point) {
      if (point === null) {
        const hint = "Hover over a point, click one, or search for a label.";
        this.panel.replaceChildren(element("p", { class: "map-hint" }, hint));
        return;
      }
      const { names, labels } = this.data;
      const lines = [element("h3", {}, names[point])];
      if (labels[point] !== names[point]) {
        lines.push(element("p", { class: "map-id" }, labels[point]));
      }
      for (const { title, groups, codes } of this.data.colourings) {
        lines.push(element("p", {}, `${title}: ${groups[codes[point]]}`));
      }
      const near = element("ol", { class: "map-near" });
      for (const i of this.nearest_to(point)) {
        const go = { type: "button", onclick: () => this.go_to(i) };
        near.append(element("li", {}, element("button", go, names[i])));
      }
      lines.push(element("p", {}, "Nearest labels"), near);
      this.panel.replaceChildren(...lines);
    }

    on_move() {
      this.overlay.hidden = true;
      if (this.hovered !== undefined && this.hovered !== null) this.hover(null);
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.place_names();
        this.options.changed(this);
      }, SETTLED_MS);
    }

    // Pin a label that is not in the data between its nearest labels.
    pin(x, y, name, near) {
      this.pinned = [x, y, name];
      this.view.mark(near);
      this.view.look_at(near);
      this.on_move();
    }

    // Pixels of any place. The view is linear, so two distant points determine it.
    place_at(x, y) {
      const { x: xs, y: ys } = this.data;
      const ends = (values) => {
        let [low, high] = [0, 0];
        values.forEach((value, i) => {
          if (value < values[low]) low = i;
          if (value > values[high]) high = i;
        });
        return [low, high];
      };
      return [[xs, x], [ys, y]].map(([values, value], axis) => {
        const [low, high] = ends(values);
        const [from, to] = [this.view.place(low)[axis], this.view.place(high)[axis]];
        const width = values[high] - values[low] || 1;
        return from + ((value - values[low]) / width) * (to - from);
      });
    }

    draw_pin(pen) {
      if (!this.pinned) return;
      const [x, y] = this.place_at(this.pinned[0], this.pinned[1]);
      pen.beginPath();
      pen.arc(x, y, 7, 0, 2 * Math.PI);
      pen.fillStyle = this.colour_of("--group-5");
      pen.stroke();
      pen.fill();
      pen.fillStyle = this.ink();
      pen.font = "bold 13px system-ui, sans-serif";
      pen.strokeText(this.pinned[2], x + 11, y + 4);
      pen.fillText(this.pinned[2], x + 11, y + 4);
    }

    // At most one name per cell of a grid, so that names do not overlap.
    place_names() {
      const { clientWidth: width, clientHeight: height } = this.stage;
      const sharp = root.devicePixelRatio || 1;
      this.overlay.width = width * sharp;
      this.overlay.height = height * sharp;
      this.overlay.hidden = false;
      const pen = this.overlay.getContext("2d");
      pen.scale(sharp, sharp);
      pen.font = "12px system-ui, sans-serif";
      pen.lineWidth = 3;
      pen.lineJoin = "round";
      pen.strokeStyle = this.colour_of("--page");
      pen.fillStyle = this.ink();
      const taken = [];
      const first =
        this.chosen === null ? [] : [this.chosen, ...this.nearest_to(this.chosen)];
      const seen = Array.from(this.view.in_view());
      // Neighbours in the list are often neighbours on the map. Multiples of the golden
      // ratio take points from all parts of the list, and the same ones after a move.
      const turn = (point) => (point * GOLDEN) % 1;
      seen.sort((a, b) => turn(a) - turn(b));
      const most = Math.max(6, Math.round((width * height) / AREA_PER_NAME));
      for (const point of [...first, ...seen.slice(0, MOST_NAMED)]) {
        if (taken.length >= most) break;
        this.write_name(pen, point, taken, width, height);
      }
      this.draw_pin(pen);
    }

    write_name(pen, point, taken, width, height) {
      const name = this.data.names[point];
      const [x, y] = this.view.place(point);
      const right = x + 8 + pen.measureText(name).width;
      const fits = x > 2 && right < width && y > 10 && y < height - 4;
      const box = [x, y - 12, right + 10, y + 12];
      const clash = taken.some(
        (other) =>
          box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3],
      );
      if (!fits || clash) return;
      taken.push(box);
      pen.strokeText(name, x + 7, y + 4);
      pen.fillText(name, x + 7, y + 4);
    }

    on_stage_key(event) {
      const moves = {
        ArrowLeft: () => this.view.pan(-STEP, 0),
        ArrowRight: () => this.view.pan(STEP, 0),
        ArrowUp: () => this.view.pan(0, -STEP),
        ArrowDown: () => this.view.pan(0, STEP),
        "+": () => this.view.zoom(1.5),
        "=": () => this.view.zoom(1.5),
        "-": () => this.view.zoom(1 / 1.5),
        0: () => this.view.reset(),
        Escape: () => this.choose(null),
      };
      const move = moves[event.key];
      if (!move || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      move();
    }
  }

  Phcle.mount_map = (host, data, options) => new LabelMap(host, data, options).open();
})(window);
