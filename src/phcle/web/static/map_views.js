// Two ways to draw the map: WebGL with regl-scatterplot, and a plain canvas where WebGL is
// slow or missing. Both return a view with the same methods:
//
//   colour(codes, palette)  one colour per point
//   mark(points), show(points or null), look_at(points), reset()
//   pan(x, y) by pixels, zoom(factor)
//   place(point) -> [x, y] in pixels of the stage; in_view() -> points
//   where() -> [x, y, reach], go(x, y, reach): centre and half width of the view
//   encircle(on): whether dragging draws a lasso or moves the map
//
// and call the methods of `told`: hover(point or null), choose(point or null),
// encircled(points) and moved().
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const MOVE_MS = 450;
  const MANY = 20000;
  const NEAREST = 0.04; // smallest width that a search zooms to; the whole map is 2 wide

  function motion() {
    const still = root.matchMedia("(prefers-reduced-motion: reduce)").matches;
    return { transition: !still, transitionDuration: MOVE_MS };
  }

  // Point size in pixels: grows with the zoom, up to a limit so that names stay readable.
  function point_size(n, zoom) {
    const least = n > MANY ? 2 : n > 3000 ? 4 : 6;
    return Math.min(10, Math.round(least + Math.log2(Math.max(1, zoom))));
  }

  // A square around points, with a margin.
  function box_around(points, wanted) {
    const xs = wanted.map((i) => points.x[i]);
    const ys = wanted.map((i) => points.y[i]);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    const side = Math.max(right - left, high - low, NEAREST) * 1.6;
    return {
      x: (left + right) / 2 - side / 2,
      y: (low + high) / 2 - side / 2,
      width: side,
      height: side,
    };
  }

  async function open_webgl(canvas, points, ink, told) {
    const n = points.x.length;
    const plot = root.ReglScatterplot.createScatterplot({
      canvas: canvas,
      pointSize: point_size(n, 1),
      pointScaleMode: "constant",
      pointSizeSelected: 4,
      pointOutlineWidth: 2,
      opacity: 0.85,
      performanceMode: n > MANY, // squares without blending are faster and look the same
      opacityInactiveScale: 1,
      colorBy: "valueA",
      pointColor: ["#888888"],
      pointColorActive: ink,
      pointColorHover: ink,
      actionKeyMap: {},
      lassoInitiator: false,
      lassoColor: ink,
    });
    plot.subscribe("pointOver", (point) => told.hover(point));
    plot.subscribe("pointOut", () => told.hover(null));
    let is_encircling = false;
    plot.subscribe("select", ({ points: chosen }) => {
      if (is_encircling) told.encircled(Array.from(chosen));
      else told.choose(chosen[0]);
    });
    plot.subscribe("deselect", () => told.choose(null));
    plot.subscribe("view", () => {
      const size = point_size(n, 1 / plot.get("cameraDistance"));
      if (size !== plot.get("pointSize")) plot.set({ pointSize: size });
      told.moved();
    });

    return {
      kind: "webgl",
      async colour(codes, palette, ink_now) {
        plot.set({
          pointColor: palette,
          pointColorActive: ink_now,
          pointColorHover: ink_now,
        });
        await plot.draw(
          { x: points.x, y: points.y, valueA: codes },
          { zDataType: "categorical", preventFilterReset: true },
        );
      },
      mark: (chosen) => plot.select(chosen, { preventEvent: true }),
      show(kept) {
        if (kept) plot.filter(kept, { preventEvent: true });
        else plot.unfilter({ preventEvent: true });
      },
      look_at: (wanted) => plot.zoomToArea(box_around(points, wanted), motion()),
      reset: () => plot.zoomToOrigin(motion()),
      pan(x, y) {
        const [at_x, at_y] = plot.get("cameraTarget");
        const reach = plot.get("cameraDistance");
        const unit = (2 * reach) / canvas.clientHeight;
        plot.zoomToLocation([at_x + x * unit, at_y - y * unit], reach);
      },
      zoom(factor) {
        const target = Array.from(plot.get("cameraTarget"));
        plot.zoomToLocation(target, plot.get("cameraDistance") / factor);
      },
      where: () => [...Array.from(plot.get("cameraTarget")), plot.get("cameraDistance")],
      go: (x, y, reach) => plot.zoomToLocation([x, y], reach),
      encircle(on) {
        is_encircling = on;
        plot.set({ mouseMode: on ? "lasso" : "panZoom" });
      },
      place: (point) => plot.getScreenPosition(point),
      in_view: () => plot.get("pointsInView"),
    };
  }

  // Whether a point is inside a polygon: a ray from it crosses an odd number of edges.
  function is_inside(line, x, y) {
    let inside = false;
    line.forEach(([ax, ay], i) => {
      const [bx, by] = line[(i + 1) % line.length];
      const crosses = ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax;
      if (crosses) inside = !inside;
    });
    return inside;
  }

  function as_pixel(colour) {
    const number = parseInt(colour.slice(1), 16);
    const [red, green, blue] = [number >> 16, (number >> 8) & 255, number & 255];
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0; // little-endian
  }

  // The plain canvas: x and y of -1 … 1 fill the shorter side. Points are written pixel by
  // pixel, which is much faster than drawing shapes.
  async function open_canvas(canvas, points, _ink, told) {
    const n = points.x.length;
    const pen = canvas.getContext("2d");
    const state = { scale: 1, x: 0, y: 0, kept: null, chosen: [], around: null };
    let is_encircling = false;
    let codes = new Uint8Array(n);
    let pixels = [];
    let ink = "#000000";
    let asked = false;
    let drag = null;

    const unit = () =>
      (Math.min(canvas.clientWidth, canvas.clientHeight) / 2) * state.scale;
    const place = (i) => [
      canvas.clientWidth / 2 + (points.x[i] - state.x) * unit(),
      canvas.clientHeight / 2 - (points.y[i] - state.y) * unit(),
    ];
    // Calls use(point, x, y) for every shown point on the stage.
    function each_in_view(use) {
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      const step = unit();
      for (let i = 0; i < n; i++) {
        if (state.kept && !state.kept[i]) continue;
        const x = width / 2 + (points.x[i] - state.x) * step;
        const y = height / 2 - (points.y[i] - state.y) * step;
        if (x >= 0 && y >= 0 && x < width && y < height) use(i, x, y);
      }
    }

    function draw() {
      asked = false;
      const sharp = root.devicePixelRatio || 1;
      const width = (canvas.width = Math.max(1, Math.round(canvas.clientWidth * sharp)));
      const height = (canvas.height = Math.max(1, Math.round(canvas.clientHeight * sharp)));
      const picture = pen.createImageData(width, height);
      const buffer = new Uint32Array(picture.data.buffer);
      const size = Math.round(point_size(n, state.scale) * sharp);
      each_in_view((i, x, y) => {
        const left = Math.max(0, Math.round(x * sharp - size / 2));
        const top = Math.max(0, Math.round(y * sharp - size / 2));
        const right = Math.min(width, left + size);
        for (let row = top; row < Math.min(height, top + size); row++) {
          buffer.fill(pixels[codes[i]], row * width + left, row * width + right);
        }
      });
      pen.putImageData(picture, 0, 0);
      pen.setTransform(sharp, 0, 0, sharp, 0, 0);
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      for (const i of state.chosen) {
        const [x, y] = place(i);
        const half = size / sharp;
        pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
      }
      if (!state.around) return;
      pen.beginPath();
      for (const [x, y] of state.around) pen.lineTo(x, y);
      pen.closePath();
      pen.stroke();
    }
    function redraw() {
      if (!asked) root.requestAnimationFrame(draw);
      asked = true;
      told.moved();
    }
    function pixel_of(event) {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }
    function at(event) {
      const [x, y] = pixel_of(event);
      let best = null;
      let least = 12 * 12; // pixels
      each_in_view((i, px, py) => {
        const far = (px - x) ** 2 + (py - y) ** 2;
        if (far < least) [best, least] = [i, far];
      });
      return best;
    }
    function pan(x, y) {
      state.x += x / unit();
      state.y -= y / unit();
      redraw();
    }
    function zoom(factor) {
      state.scale = Math.min(1000, Math.max(0.3, state.scale * factor));
      redraw();
    }
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
      if (is_encircling) state.around = [pixel_of(event)];
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return told.hover(at(event));
      const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(x, y) < 4) return undefined;
      if (state.around) {
        state.around.push(pixel_of(event));
        redraw();
      } else pan(-x, -y);
      drag = { x: event.clientX, y: event.clientY, moved: true };
      return undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) told.choose(at(event));
      else if (drag && state.around) {
        const found = [];
        each_in_view((i, x, y) => is_inside(state.around, x, y) && found.push(i));
        if (found.length) told.encircled(found);
      }
      drag = state.around = null;
      redraw();
    });
    canvas.addEventListener("pointerleave", () => told.hover(null));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 400));
      },
      { passive: false },
    );
    root.addEventListener("resize", redraw);

    return {
      kind: "canvas",
      async colour(own, palette, ink_now) {
        [codes, pixels, ink] = [own, palette.map(as_pixel), ink_now];
        draw();
      },
      mark(chosen) {
        state.chosen = chosen;
        redraw();
      },
      show(kept) {
        state.kept = kept && new Uint8Array(n);
        for (const i of kept || []) state.kept[i] = 1;
        redraw();
      },
      look_at(wanted) {
        const box = box_around(points, wanted);
        state.x = box.x + box.width / 2;
        state.y = box.y + box.height / 2;
        state.scale = 2 / box.width;
        redraw();
      },
      reset() {
        Object.assign(state, { scale: 1, x: 0, y: 0 });
        redraw();
      },
      where: () => [state.x, state.y, 1 / state.scale],
      go(x, y, reach) {
        Object.assign(state, { x: x, y: y, scale: 1 / reach });
        redraw();
      },
      encircle(on) {
        is_encircling = on;
      },
      pan: pan,
      zoom: zoom,
      place: place,
      in_view() {
        const found = [];
        each_in_view((i) => found.push(i));
        return found;
      },
    };
  }

  function is_software(gl) {
    const naming = gl.getExtension("WEBGL_debug_renderer_info");
    const name = naming ? gl.getParameter(naming.UNMASKED_RENDERER_WEBGL) : "";
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  // Without a graphics card WebGL is slower than the plain canvas. `?map=webgl` or
  // `?map=canvas` in the URL overrides the choice.
  function wants_webgl() {
    const asked = new URLSearchParams(root.location.search).get("map");
    const gl = document.createElement("canvas").getContext("webgl");
    if (!gl || !root.ReglScatterplot || asked === "canvas") return false;
    return asked === "webgl" || !is_software(gl);
  }

  Phcle.open_view = async function (make_canvas, points, ink, told) {
    if (wants_webgl()) {
      try {
        const view = await open_webgl(make_canvas(), points, ink, told);
        // Draw once: some failures appear only then.
        await view.colour(new Uint8Array(points.x.length), ["#888888"], ink);
        return view;
      } catch (error) {
        console.warn("no WebGL map:", error.message);
      }
    }
    return open_canvas(make_canvas(), points, ink, told);
  };
})(window);
