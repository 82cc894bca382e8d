// The view of the map: what part of it is seen, gestures, and which point is where.
//
//   Phcle.open_view(stage, points, handlers, room) -> view
//
// `points` has x and y (Float32Array, -1 … 1). The handlers are hover(point or null),
// choose(point or null, is_more), encircled(points), moved(), and draw(frame), after the
// points were painted. room() returns the part of the stage that no panel covers, in pixels:
// {left, top, right, bottom}. One finger or the mouse moves the map, two fingers or the wheel
// zoom it, about the place where they are.
(function (root) {
  "use strict";
  const MOVE_MS = 450;
  const CLOSEST = 0.0005; // smallest half side of a view; that of the whole map is 1
  const FARTHEST = 4;
  const N_AROUND = 30; // labels on an even map of the smallest part that a search zooms to
  const MARGIN = 28; // pixels around all labels
  const REACH = { mouse: 12, touch: 24 }; // pixels from the pointer to the point it means
  const SMALL = 1.6; // pixels: the radius of points that have no rim
  const STILL = 5; // pixels that a click may move

  // Call draw(part) from 0 to 1, or at once for those who want no motion; abort() ends it.
  Phcle.animate = function (ms, draw) {
    const gone = new AbortController();
    const length = root.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : ms;
    const start = performance.now();
    const step = (now) => {
      if (gone.signal.aborted) return;
      const part = length ? Math.min(1, Math.max(0, (now - start) / length)) : 1;
      draw(part * part * (3 - 2 * part));
      if (part < 1) root.requestAnimationFrame(step);
    };
    step(start);
    return gone;
  };

  // Whether a place is inside a polygon: a ray from it crosses an odd number of edges.
  function is_inside(line, x, y) {
    let inside = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
      const [ax, ay] = line[i];
      const [bx, by] = line[j];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
    return inside;
  }

  class View {
    constructor(stage, points, handlers, room) {
      Object.assign(this, { stage, points, handlers, room });
      this.n = points.x.length;
      this.kept = null; // 1 for each point that can be chosen; null: all of them
      this.is_encircling = false;
      this.line = null; // the lasso, in pixels
      this.pointers = new Map();
      this.is_asked = false;
      this.measure();
      this.open_painter(Phcle.open_painter);
      this.is_home = true; // all labels are in view, and stay so when the window changes
      [this.x, this.y, this.reach] = this.whole();
      this.listen();
    }

    open_painter(open) {
      const make_canvas = () => {
        this.stage.querySelector(".map-points")?.remove();
        const canvas = Phcle.element("canvas", { class: "map-points", "aria-hidden": "true" });
        this.stage.prepend(canvas);
        return canvas;
      };
      this.painter = open(make_canvas, this.points, () => this.lose());
      this.kind = this.painter.kind;
    }

    // The graphics card is gone: go on with the plain canvas.
    lose() {
      this.open_painter(Phcle.open_plain_painter);
      if (this.order) this.colour(this.order, this.rgba, this.page);
    }

    // `page` is the colour around the points: red, green and blue.
    colour(order, rgba, page) {
      Object.assign(this, { order, rgba, page });
      this.painter.colour(order, rgba, page);
      this.draw_soon();
    }

    // -- Where things are

    measure() {
      [this.width, this.height] = [this.stage.clientWidth || 1, this.stage.clientHeight || 1];
    }

    // Radius of a point in pixels: smaller for more points, and larger as one zooms in.
    radius() {
      const { width, height } = this;
      const least = Math.min(4.5, Math.max(1.1, 0.13 * Math.sqrt((width * height) / this.n)));
      const closer = Math.max(1, this.home_reach() / this.reach);
      return Math.min(6.5, least * Math.sqrt(closer));
    }

    home_reach() {
      return (this.home ??= this.whole()[2]);
    }

    frame() {
      const { width, height } = this;
      const radius = this.radius();
      const unit = Math.min(width, height) / 2 / this.reach;
      const [left, top] = [width / 2 - this.x * unit, height / 2 + this.y * unit];
      const rim = radius < SMALL ? 0 : Math.min(1, radius / 4);
      return { width, height, unit, sharp: root.devicePixelRatio || 1, left, top, radius, rim };
    }

    place_of(x, y) {
      const { left, top, unit } = this.frame();
      return [left + unit * x, top - unit * y];
    }

    place(point) {
      return this.place_of(this.points.x[point], this.points.y[point]);
    }

    map_place(pixel_x, pixel_y) {
      const { left, top, unit } = this.frame();
      return [(pixel_x - left) / unit, (top - pixel_y) / unit];
    }

    // Calls use(point, x, y) for each point on the stage that can be chosen.
    each_in_view(use) {
      const { left, top, unit, width, height } = this.frame();
      const { x, y } = this.points;
      for (let i = 0; i < this.n; i++) {
        if (this.kept && !this.kept[i]) continue;
        const px = left + unit * x[i];
        const py = top - unit * y[i];
        if (px >= 0 && py >= 0 && px < width && py < height) use(i, px, py);
      }
    }

    in_view() {
      const found = [];
      this.each_in_view((i) => found.push(i));
      return found;
    }

    // The point nearest to some pixels, or null.
    pick(pixel_x, pixel_y, most) {
      const { x, y } = this.points;
      const [at_x, at_y] = this.map_place(pixel_x, pixel_y);
      const far = Math.max(most, this.radius()) / this.frame().unit;
      let best = null;
      let least = far * far;
      for (let i = 0; i < this.n; i++) {
        const own = (x[i] - at_x) ** 2 + (y[i] - at_y) ** 2;
        if (own < least && (!this.kept || this.kept[i])) [best, least] = [i, own];
      }
      return best;
    }

    // Whether there is a point that can be chosen in a square about a place of the map.
    has_any(x, y, reach) {
      const far = (i) => Math.max(Math.abs(this.points.x[i] - x), Math.abs(this.points.y[i] - y));
      return this.points.x.some((_, i) => (!this.kept || this.kept[i]) && far(i) <= reach);
    }

    // The nearest point in a direction (±45°) of another one, or null.
    beside(point, right, up) {
      const { x, y } = this.points;
      let best = null;
      let least = Infinity;
      for (let i = 0; i < this.n; i++) {
        if (i === point || (this.kept && !this.kept[i])) continue;
        const [dx, dy] = [x[i] - x[point], y[i] - y[point]];
        const along = dx * right + dy * up;
        const across = Math.abs(dx * up) + Math.abs(dy * right);
        if (along <= 0 || across > along) continue;
        const far = along * along + 3 * across * across; // prefer what is straight ahead
        if (far < least) [best, least] = [i, far];
      }
      return best;
    }

    // -- Moving

    // Centre and half side of a view that shows a rectangle in the free room.
    fitting(left, low, right, high, margin) {
      this.measure(); // a card may just have changed the stage
      const { width, height } = this;
      const free = this.room();
      const wide = Math.max(60, free.right - free.left - 2 * margin);
      const tall = Math.max(60, free.bottom - free.top - 2 * margin);
      const unit = Math.min(wide / (right - left || 1e-6), tall / (high - low || 1e-6));
      const shift_x = (free.left + free.right - width) / 2 / unit;
      const shift_y = (free.top + free.bottom - height) / 2 / unit;
      const reach = Math.min(width, height) / 2 / unit;
      return [(left + right) / 2 - shift_x, (low + high) / 2 + shift_y, reach];
    }

    box(wanted) {
      let [left, low, right, high] = [Infinity, Infinity, -Infinity, -Infinity];
      for (const i of wanted) {
        left = Math.min(left, this.points.x[i]);
        right = Math.max(right, this.points.x[i]);
        low = Math.min(low, this.points.y[i]);
        high = Math.max(high, this.points.y[i]);
      }
      return [left, low, right, high];
    }

    whole() {
      this.bounds ??= this.box(this.points.x.keys());
      return this.fitting(...this.bounds, MARGIN);
    }

    // The same points are at other places now.
    replace_points() {
      this.bounds = this.home = null;
      if (this.is_home) this.show_all();
    }

    show_all() {
      this.fly(...this.whole(), true);
    }

    // Show some points, and perhaps places beside them.
    look_at(wanted, places = []) {
      let [left, low, right, high] = this.box(wanted);
      for (const place of places) {
        [left, right] = [Math.min(left, place[0]), Math.max(right, place[0])];
        [low, high] = [Math.min(low, place[1]), Math.max(high, place[1])];
      }
      const least = Math.min(1, Math.sqrt(N_AROUND / this.n)) * this.home_reach();
      const half = Math.max(right - left, high - low, 2 * least) * 0.7;
      const [x, y] = [(left + right) / 2, (low + high) / 2];
      this.fly(...this.fitting(x - half, y - half, x + half, y + half, 0));
    }

    // Move a point into the free room, if it is outside.
    bring_in(point) {
      this.measure();
      const free = this.room();
      const [x, y] = this.place(point);
      const edge = 40;
      const out = (at, low, high) => Math.min(0, at - low - edge) + Math.max(0, at - high + edge);
      const [right, down] = [out(x, free.left, free.right), out(y, free.top, free.bottom)];
      const { unit } = this.frame();
      if (right || down) this.fly(this.x + right / unit, this.y - down / unit, this.reach);
    }

    go(x, y, reach) {
      this.flight?.abort();
      this.move(x, y, reach, false);
    }

    move(x, y, reach, is_home) {
      this.is_home = is_home;
      this.x = Math.min(2, Math.max(-2, x));
      this.y = Math.min(2, Math.max(-2, y));
      this.reach = Math.min(FARTHEST, Math.max(CLOSEST, reach));
      this.handlers.moved();
      this.draw_soon();
    }

    fly(x, y, reach, is_home = false) {
      this.flight?.abort();
      const from = [this.x, this.y, Math.log(this.reach)];
      const to = [x, y, Math.log(reach)];
      this.flight = Phcle.animate(MOVE_MS, (part) => {
        const [a, b, c] = from.map((value, k) => value + (to[k] - value) * part);
        this.move(a, b, Math.exp(c), is_home);
      });
    }

    pan(right, down) {
      const { unit } = this.frame();
      this.go(this.x + right / unit, this.y - down / unit, this.reach);
    }

    // Zoom about some pixels, by default the middle of the free room.
    zoom(factor, pixel_x, pixel_y) {
      const free = pixel_x === undefined ? this.room() : null;
      const px = pixel_x ?? (free.left + free.right) / 2;
      const py = pixel_y ?? (free.top + free.bottom) / 2;
      const [x, y] = this.map_place(px, py);
      const reach = Math.min(FARTHEST, Math.max(CLOSEST, this.reach / factor));
      const ratio = reach / this.reach;
      this.go(x + (this.x - x) * ratio, y + (this.y - y) * ratio, reach);
    }

    where() {
      return [this.x, this.y, this.reach];
    }

    // -- Drawing

    draw_soon() {
      if (this.is_asked) return;
      this.is_asked = true;
      root.requestAnimationFrame(() => this.draw());
    }

    draw() {
      this.is_asked = false;
      if (!this.order || !this.stage.isConnected) return;
      const frame = this.frame();
      this.painter.paint(frame);
      this.handlers.draw(frame);
    }

    resize() {
      this.measure();
      this.home = null;
      if (this.is_home) {
        this.flight?.abort(); // its end has moved
        [this.x, this.y, this.reach] = this.whole();
      }
      this.handlers.moved();
      this.draw_soon();
    }

    // -- Gestures

    listen() {
      const { stage } = this;
      stage.addEventListener("pointerdown", (event) => this.on_down(event));
      stage.addEventListener("pointermove", (event) => this.on_move(event));
      stage.addEventListener("pointerup", (event) => this.on_up(event));
      stage.addEventListener("pointercancel", (event) => this.on_cancel(event));
      stage.addEventListener("pointerleave", () => this.handlers.hover(null));
      stage.addEventListener("wheel", (event) => this.on_wheel(event), { passive: false });
      new ResizeObserver(() => this.resize()).observe(stage);
    }

    pixels_of(event) {
      const box = this.stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    at(event) {
      const reach = event.pointerType === "touch" ? REACH.touch : REACH.mouse;
      return this.pick(...this.pixels_of(event), reach);
    }

    // Middle and spread of the fingers.
    grip() {
      const all = [...this.pointers.values()];
      const [x, y] = [0, 1].map((k) => all.reduce((sum, own) => sum + own[k], 0) / all.length);
      const spread = all.reduce((sum, own) => sum + Math.hypot(own[0] - x, own[1] - y), 0);
      return { x, y, spread: spread / all.length };
    }

    on_down(event) {
      if (event.button !== 0) return;
      this.stage.setPointerCapture(event.pointerId);
      const place = this.pixels_of(event);
      this.pointers.set(event.pointerId, place);
      if (this.pointers.size === 1) {
        this.pressed = { place, is_click: true };
        this.line = this.is_encircling ? [place] : null;
      } else {
        this.pressed.is_click = false;
        this.line = null; // a second finger makes a pinch of a lasso
      }
      this.held = this.grip();
      this.handlers.hover(null);
    }

    on_move(event) {
      if (!this.pointers.has(event.pointerId)) {
        if (event.pointerType !== "touch") this.handlers.hover(this.at(event));
        return;
      }
      const place = this.pixels_of(event);
      this.pointers.set(event.pointerId, place);
      const [from_x, from_y] = this.pressed.place;
      const is_near = Math.hypot(place[0] - from_x, place[1] - from_y) < STILL;
      if (this.pressed.is_click && is_near) return;
      this.pressed.is_click = false;
      if (this.line) {
        this.line.push(place);
        this.draw_soon();
        return;
      }
      const grip = this.grip();
      const { x, y, spread } = this.held;
      this.pan(x - grip.x, y - grip.y);
      if (spread > 0) this.zoom(grip.spread / spread, grip.x, grip.y);
      this.held = grip;
    }

    on_up(event) {
      if (!this.pointers.delete(event.pointerId)) return;
      if (this.pointers.size) {
        this.held = this.grip();
        return;
      }
      const line = this.line;
      this.line = null;
      if (this.pressed.is_click) {
        this.handlers.choose(this.at(event), event.shiftKey || event.ctrlKey || event.metaKey);
      } else if (line) {
        const found = [];
        this.each_in_view((i, x, y) => is_inside(line, x, y) && found.push(i));
        this.handlers.encircled(found);
      }
      this.draw_soon();
    }

    on_cancel(event) {
      this.pointers.delete(event.pointerId);
      this.line = null;
      if (this.pointers.size) this.held = this.grip();
      this.draw_soon();
    }

    on_wheel(event) {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoom(Math.exp((-event.deltaY * lines) / 400), ...this.pixels_of(event));
    }
  }

  Phcle.open_view = (stage, points, handlers, room) => new View(stage, points, handlers, room);
})(window);
