// The map of labels: a stage with points, names and marks, gestures and keys.
//
//   const map = Phcle.open_map(host, data, options)
//
// `data` is the answer of /api/map. Options: about (such as "labels of zoo");
// changed(what) is called when the "choice" or the "view" change, recoloured() when there are
// other colours, card_of(map) gives the content of the card of what is chosen, and entered(label) is
// called for the Enter key. A small map (`is_bare`) has only the stage.
(function (root) {
  "use strict";
  const { html, count } = Phcle;
  const MOST_TOLD = 4; // colourings in a tooltip
  const MOVE_MS = 700; // between two embeddings
  const STEP = 80; // pixels that an arrow key with Shift moves the map
  const SETTLED_MS = 110;
  const SLOW_MS = 45; // between frames, from which on names are drawn when the map rests
  const PANELS = ".map-controls, .map-card, .map-tools, .map-note, .panel";

  const bytes = (colour) => [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255];
  const nothing = () => {};

  function unpack(data) {
    const arrays = { x: null, y: null, neighbours: null, rows: null };
    for (const key of Object.keys(arrays)) arrays[key] = data[key] && Phcle.unpacked_array(data[key]);
    const colourings = data.colourings.map((each) => ({
      ...each,
      codes: Phcle.unpacked_array(each.codes),
    }));
    return { ...data, ...arrays, colourings, labels: data.labels ?? data.names };
  }

  class LabelMap {
    constructor(host, data, options) {
      Object.assign(this, { host, data });
      this.options = { about: "labels", changed: nothing, recoloured: nothing, entered: nothing, ...options };
      this.n = data.names.length;
      this.per_label = this.n ? data.neighbours.length / this.n : 0;
      this.importance = Phcle.by_importance(data.neighbours, this.n);
      this.colours = { rgba: new Uint32Array(this.n), order: new Uint32Array(this.n) };
      [this.colouring] = data.colourings;
      this.group = null; // the only group shown; null shows all
      this.filter = null; // 1 for each point that passes the filters; null: all of them
      this.chosen = null;
      this.many = []; // points chosen together
      this.pinned = null; // [x, y, name] of a label that is not in the data
      this.outside = null; // {label, name} of such a label, if it is chosen
      this.placed = []; // names on the stage
      this.pace = 0; // milliseconds between frames while the map moves
      this.gone = new AbortController(); // ends the listeners outside the host
      this.build();
      this.open();
    }

    point_of(label) {
      this.points ??= new Map(this.data.labels.map((own, i) => [own, i]));
      return this.points.get(label) ?? -1;
    }

    named(point) {
      return { label: this.data.labels[point], name: this.data.names[point] };
    }

    build() {
      const about = `Map of ${count(this.n)} ${this.options.about}. Arrow keys go from label to
        label, with Shift they move the map. Plus and minus zoom, 0 shows all, Escape clears.`;
      this.probe = html`<span hidden></span>`;
      this.colour_of = Phcle.style_colours(this.probe);
      this.overlay = html`<canvas class="map-names" aria-hidden="true"></canvas>`;
      this.tip = html`<div class="map-tip" role="tooltip" hidden></div>`;
      this.stage = html`<div
        class="map-stage" tabindex="0" role="application" aria-label=${about}
        onkeydown=${(event) => this.on_key(event)}
      >${this.overlay}${this.tip}</div>`;
      this.panel = html`<div aria-live="polite"></div>`;
      const close = { class: "close", "aria-label": "Close" };
      this.card = html`<section class="map-card" aria-label="Chosen labels" tabindex="0" hidden>
        ${Phcle.button("×", () => this.clear_choice(), close)}${this.panel}
      </section>`;
      this.status = html`<p class="map-note" role="status"></p>`;
      const panels = this.options.is_bare ? [] : [this.card, this.status];
      this.host.classList.add("map-whole");
      this.host.replaceChildren(this.probe, this.stage, ...panels);
    }

    open() {
      const handlers = {
        hover: (point) => this.hover(point),
        choose: (point, is_more) => (is_more ? this.add_or_remove(point) : this.choose(point)),
        encircled: (points) => {
          this.encircle(false);
          if (points.length) this.choose_many(points);
        },
        moved: () => this.on_move(),
        draw: (frame) => this.draw(frame),
      };
      this.view = Phcle.open_view(this.stage, this.data, handlers, () => this.room());
      this.host.dataset.view = this.view.kind;
      this.recolour();
      this.view.resize();
      // A map that is no longer on the page has no colours.
      const again = () => (this.host.isConnected ? this.recolour() : this.gone.abort());
      const until = { signal: this.gone.signal };
      root.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, until);
      document.addEventListener("phcle-theme", again, until);
    }

    tell(text) {
      this.status.textContent = text;
    }

    // Boxes of the panels that lie on the stage: [left, top, right, bottom].
    covered() {
      const stage = this.stage.getBoundingClientRect();
      return [...this.host.parentElement.querySelectorAll(PANELS)]
        .map((panel) => panel.getBoundingClientRect())
        .filter(({ width, top, bottom }) => width && top < stage.bottom && bottom > stage.top)
        .filter(({ left, right }) => left < stage.right && right > stage.left)
        .map(({ left, top, right, bottom }) => {
          return [left - stage.left, top - stage.top, right - stage.left, bottom - stage.top];
        });
    }

    // The part of the stage that panels leave free: each cuts off the side that takes least,
    // and small ones none.
    room() {
      const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
      const area = (box) => Math.max(0, box.right - box.left) * Math.max(0, box.bottom - box.top);
      let free = { left: 0, right: width, top: 0, bottom: height };
      for (const [left, top, right, bottom] of this.covered()) {
        if (right - left < 0.6 * width && bottom - top < 0.2 * height) continue;
        const parts = [
          { ...free, left: Math.max(free.left, right) },
          { ...free, right: Math.min(free.right, left) },
          { ...free, top: Math.max(free.top, bottom) },
          { ...free, bottom: Math.min(free.bottom, top) },
        ];
        free = parts.reduce((best, part) => (area(part) > area(best) ? part : best));
      }
      return free;
    }

    // -- Colours

    ink() {
      const names = ["page", "ink", "quiet", "accent"];
      return Object.fromEntries(names.map((x) => [x, Phcle.as_css(this.colour_of(`--${x}`))]));
    }

    colour_by(colouring) {
      this.colouring = colouring;
      this.show_group(null);
    }

    recolour() {
      const { codes } = this.colouring;
      let kept = this.filter;
      if (this.group !== null) {
        const passes = (i) => !this.filter || this.filter[i];
        kept = codes.map((code, i) => Number(code === this.group && passes(i)));
      }
      this.view.kept = kept;
      this.legend = Phcle.paint_colouring(this.colouring, this.colour_of, kept, this.colours);
      this.ink_now = this.ink();
      this.view.colour(this.colours.order, this.colours.rgba, this.colour_of("--page"));
      this.options.recoloured(this);
      this.regions = this.named_regions();
      this.place_names();
    }

    // Show only the points that have a 1; null shows all.
    keep(passes) {
      this.filter = passes;
      this.recolour();
    }

    show_group(code) {
      this.group = code;
      this.recolour();
      this.options.changed("colours");
    }

    // Points that are shown: those of the group, and those that pass the filters.
    shown() {
      const { kept } = this.view;
      return Array.from(this.importance.keys()).filter((i) => !kept || kept[i]);
    }

    // Move all points to the places of another embedding, or back.
    move_to(x, y) {
      const from = { x: this.data.x.slice(), y: this.data.y.slice() };
      this.moving?.abort();
      this.moving = Phcle.animate(MOVE_MS, (part) => {
        for (let i = 0; i < this.n; i++) {
          this.data.x[i] = from.x[i] + ((x[i] || 0) - from.x[i]) * part;
          this.data.y[i] = from.y[i] + ((y[i] || 0) - from.y[i]) * part;
        }
        this.view.colour(this.colours.order, this.colours.rgba, this.colour_of("--page"));
        if (part < 1) return;
        this.view.replace_points();
        this.recolour();
        this.redraw_card();
      });
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

    // What a colouring says about a label, as text.
    said_by(colouring, point) {
      if (colouring.groups) return colouring.groups[colouring.codes[point]];
      const value = colouring.values[point];
      if (Number.isNaN(value)) return colouring.missing ?? "unknown";
      const is_guess = colouring.is_known && !colouring.is_known[point];
      return Phcle.number(value) + (is_guess ? ", predicted" : "");
    }

    hover(point) {
      if (point === this.hovered) return;
      this.hovered = point;
      this.tip.hidden = point === null;
      this.stage.classList.toggle("is-over", point !== null);
      this.view.draw_soon();
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
      const { label, name } = this.named(point);
      const own = this.colouring.title;
      const others = this.data.colourings.filter(({ title, groups }) => groups && title !== own);
      const facts = [this.colouring, ...others].slice(0, MOST_TOLD).map(
        (each) => html`<span class="map-fact">
          <span class="map-count">${each.title}</span>${Phcle.name(this.said_by(each, point), "")}
        </span>`,
      );
      const near = this.nearest_to(point).slice(0, 3).map((i) => Phcle.shortened(this.data.names[i]));
      const swatch = html`<span class="map-swatch" style=${{ background: this.css_of(point) }} />`;
      return [
        html`<strong>${swatch}${Phcle.name(name, "")}</strong>`,
        ...(label === name ? [] : [html`<span class="map-count">${Phcle.name(label, "")}</span>`]),
        html`<span class="map-facts">${facts}</span>`,
        ...(near.length ? [html`<span class="map-hint">near ${near.join(", ")}</span>`] : []),
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

    choose(point, many = [], outside = null) {
      if (this.outside) this.pinned = null;
      Object.assign(this, { chosen: point ?? null, many, outside });
      this.redraw_card();
      if (this.chosen !== null) this.view.bring_in(this.chosen); // the card may cover it
      if (many.length) this.view.resize(); // the card takes room from the map
      this.place_names();
      this.options.changed("choice");
    }

    choose_many(points) {
      this.choose(null, points);
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
      if (this.group !== null && this.colouring.codes[point] !== this.group) this.show_group(null);
      this.choose(point);
      this.view.look_at([point, ...this.nearest_to(point)]);
    }

    // Go to a label; it may not be among those on the map, which may be a sample.
    async go_to_label(label) {
      const point = this.point_of(label);
      const found = point >= 0 ? { label } : await Phcle.get("/api/label", { label });
      const at = this.point_of(found.label); // a name may have been given
      if (at >= 0) {
        this.go_to(at);
        return;
      }
      this.choose(null, [], found);
      this.pin(...found.place, found.name, []);
    }

    clear_choice() {
      if (this.has_choice()) this.choose(null);
    }

    clear() {
      this.encircle(false);
      if (this.group !== null) this.show_group(null);
      this.clear_choice();
      this.view.show_all();
    }

    encircle(on) {
      this.view.is_encircling = on;
      this.stage.classList.toggle("is-encircling", on);
      this.options.changed("lasso");
    }

    redraw_card() {
      this.card.hidden = !this.has_choice();
      this.panel.replaceChildren(...(this.has_choice() ? this.options.card_of(this) : []));
      this.view.draw_soon();
    }

    // -- Names and marks

    on_move() {
      this.is_moving = true;
      if (this.hovered !== undefined && this.hovered !== null) this.hover(null);
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.is_moving = false;
        this.place_names();
        this.options.changed("view");
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
    // which pass the filters. In another embedding the groups lie elsewhere.
    named_regions() {
      const { regions, colourings } = this.data;
      const { kept } = this.view;
      if (this.is_elsewhere) return [];
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
      const blocked = this.covered();
      const [x, y] = this.pinned ? this.view.place_of(...this.pinned) : [];
      if (this.pinned) blocked.push([x, y - 10, x + 20 + 8 * Phcle.shortened(this.pinned[2]).length, y + 10]);
      const given = { importance: this.importance, first, blocked };
      this.placed = Phcle.place_names(Phcle.pen_of(this.overlay), this.view, this.regions, names, given);
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
      Phcle.fit_canvas(this.overlay, frame);
      const pen = Phcle.pen_of(this.overlay);
      pen.setTransform(sharp, 0, 0, sharp, 0, 0);
      pen.clearRect(0, 0, width, height);
      const is_short = this.is_short_of_time();
      this.draw_marks(pen, frame);
      if (!is_short) Phcle.draw_names(pen, frame, this.placed, this.ink_now);
      this.draw_lasso(pen);
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
      if (next !== null) this.choose(next);
    }

    on_key(event) {
      const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const keys = {
        "+": () => this.view.zoom(1.5),
        "=": () => this.view.zoom(1.5),
        "-": () => this.view.zoom(1 / 1.5),
        0: () => this.view.show_all(),
        Escape: () => this.escape(),
        Enter: () => this.chosen !== null && this.options.entered(this.chosen_label()),
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

  // A bare map has no card to draw.
  Phcle.open_map = (host, data, options) =>
    new LabelMap(host, data, { card_of: () => [], ...options });
  Phcle.unpacked_map = unpack;
})(window);
