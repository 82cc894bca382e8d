// Two painters of round points: WebGL 2, and a plain canvas where WebGL is slow or missing.
//
//   Phcle.open_painter(make_canvas, points, lost) -> {kind, colour, paint}
//
//   colour(order, rgba, page)  order: points, those to be drawn last at the end; rgba: the
//                        colour of each point, as the bytes red, green, blue, alpha; page:
//                        [red, green, blue] of the rim that keeps points apart
//   paint(frame)         frame: {left, top, unit} place the map, {width, height, sharp} are
//                        the stage in pixels and its device pixels, radius that of a point,
//                        rim the width of its rim
//
// Points that are not opaque have no rim.
// Pixels of a point: left + unit * x, top - unit * y. lost() is called when the browser
// takes the graphics card away. Both painters show the same colours at every size.
(function (root) {
  "use strict";

  const VERTEX = `#version 300 es
    in vec2 place;
    in vec4 colour;
    uniform vec2 scale, shift;
    uniform float radius, rim;
    out vec4 fill;
    void main() {
      gl_Position = vec4(place * scale + shift, 0.0, 1.0);
      gl_PointSize = 2.0 * (radius + rim) + 2.0;
      fill = colour;
    }`;
  const FRAGMENT = `#version 300 es
    precision highp float;
    in vec4 fill;
    uniform float radius, rim;
    uniform vec3 page;
    out vec4 pixel;
    void main() {
      float far = length(gl_PointCoord - 0.5) * (2.0 * (radius + rim) + 2.0);
      bool has_rim = rim > 0.0 && fill.a == 1.0;
      float inside = clamp(radius + 0.5 - far, 0.0, 1.0);
      float whole = has_rim ? clamp(radius + rim + 0.5 - far, 0.0, 1.0) : inside;
      float alpha = fill.a * whole;
      if (alpha == 0.0) discard;
      pixel = vec4((has_rim ? mix(page, fill.rgb, inside) : fill.rgb) * alpha, alpha);
    }`;

  // Give a canvas the size of the stage; whether it had another one.
  Phcle.fit_canvas = function (canvas, { width, height, sharp }) {
    const [wide, high] = [Math.round(width * sharp) || 1, Math.round(height * sharp) || 1];
    if (canvas.width === wide && canvas.height === high) return false;
    canvas.width = wide;
    canvas.height = high;
    return true;
  };

  function compiled(gl) {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error(gl.getProgramInfoLog(program) || "the graphics card is lost");
    }
    return program;
  }

  function open_webgl(canvas, points, lost) {
    const n = points.x.length;
    const gl = canvas.getContext("webgl2", { antialias: false, depth: false });
    if (!gl) throw new Error("the browser has no WebGL 2");
    canvas.addEventListener("webglcontextlost", lost);
    const program = compiled(gl);
    const place_of = (name) => gl.getUniformLocation(program, name);
    const uniforms = ["scale", "shift", "radius", "rim", "page"];
    const [scale, shift, radius, rim, around] = uniforms.map(place_of);
    const [places, colours] = [gl.createBuffer(), gl.createBuffer()];
    const sorted_places = new Float32Array(2 * n);
    const sorted_colours = new Uint32Array(n);
    function send(buffer, name, values, size, kind, normalised) {
      const at = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, kind, normalised, 0, 0);
    }
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return {
      kind: "webgl",
      colour(order, rgba, page) {
        gl.uniform3f(around, ...page.map((x) => x / 255));
        for (let k = 0; k < n; k++) {
          const i = order[k];
          sorted_places[2 * k] = points.x[i];
          sorted_places[2 * k + 1] = points.y[i];
          sorted_colours[k] = rgba[i];
        }
        send(places, "place", sorted_places, 2, gl.FLOAT, false);
        send(colours, "colour", sorted_colours, 4, gl.UNSIGNED_BYTE, true);
      },
      paint(frame) {
        Phcle.fit_canvas(canvas, frame);
        const { left, top, unit, width, height, sharp } = frame;
        gl.viewport(0, 0, canvas.width, canvas.height);
        gl.uniform2f(scale, (2 * unit) / width, (2 * unit) / height);
        gl.uniform2f(shift, (2 * left) / width - 1, 1 - (2 * top) / height);
        gl.uniform1f(radius, frame.radius * sharp);
        gl.uniform1f(rim, frame.rim * sharp);
        gl.clear(gl.COLOR_BUFFER_BIT);
        gl.drawArrays(gl.POINTS, 0, n);
      },
    };
  }

  // How much of each pixel a disc and the same with its rim cover, 0 … 255; its centre is
  // that of the middle pixel.
  function disc(radius, rim) {
    const half = Math.ceil(radius + rim);
    const side = 2 * half + 1;
    const [inside, whole] = [new Uint8Array(side * side), new Uint8Array(side * side)];
    for (let i = 0; i < inside.length; i++) {
      const far = Math.hypot((i % side) - half, Math.floor(i / side) - half);
      inside[i] = 255 * Math.min(1, Math.max(0, radius + 0.5 - far));
      whole[i] = 255 * Math.min(1, Math.max(0, radius + rim + 0.5 - far));
    }
    return { half, side, inside, whole, has_rim: rim > 0 };
  }

  // A colour over another, both as little-endian bytes that are not premultiplied.
  function over(above, alpha, below) {
    const under = ((below >>> 24) * (255 - alpha)) / 255;
    const whole = alpha + under;
    const share = alpha / whole;
    const mix = (bits) =>
      Math.round(((above >>> bits) & 255) * share + ((below >>> bits) & 255) * (1 - share)) << bits;
    return ((Math.round(whole) << 24) | mix(16) | mix(8) | mix(0)) >>> 0;
  }

  // Pixels are written one by one, which is several times faster than drawing shapes.
  function open_canvas(canvas, points) {
    const n = points.x.length;
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    let picture = null;
    let pixels = null;
    let shape = null;
    let shape_radius = 0;
    let order = [];
    let rgba = [];
    let page = 0; // the colour of rims

    function stamp(column, row, colour, wide, high) {
      const { half, side, inside, whole } = shape;
      const alpha = colour >>> 24;
      const has_rim = shape.has_rim && alpha === 255;
      const cover = has_rim ? whole : inside;
      const [left, top] = [column - half, row - half];
      const [from_x, to_x] = [Math.max(0, -left), Math.min(side, wide - left)];
      const [from_y, to_y] = [Math.max(0, -top), Math.min(side, high - top)];
      for (let y = from_y; y < to_y; y++) {
        let at = (top + y) * wide + left + from_x;
        for (let k = y * side + from_x; k < y * side + to_x; k++, at++) {
          const part = cover[k];
          if (!part) continue;
          const is_edge = has_rim && inside[k] < 255;
          const own = is_edge ? over(colour, inside[k], page) : colour;
          if (part + alpha === 510) pixels[at] = own;
          else pixels[at] = over(own, (part * alpha) / 255, pixels[at]);
        }
      }
    }

    return {
      kind: "canvas",
      colour(new_order, new_rgba, [red, green, blue]) {
        [order, rgba] = [new_order, new_rgba];
        page = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
      },
      paint(frame) {
        if (Phcle.fit_canvas(canvas, frame) || !picture) {
          picture = pen.createImageData(canvas.width, canvas.height);
          pixels = new Uint32Array(picture.data.buffer);
        } else pixels.fill(0);
        const { sharp } = frame;
        const [left, top, unit] = [frame.left * sharp, frame.top * sharp, frame.unit * sharp];
        if (shape_radius !== frame.radius * sharp) {
          shape_radius = frame.radius * sharp;
          shape = disc(shape_radius, frame.rim * sharp);
        }
        const [wide, high, edge] = [canvas.width, canvas.height, shape.half];
        for (let k = 0; k < n; k++) {
          const i = order[k];
          const x = Math.round(left + unit * points.x[i] - 0.5);
          const y = Math.round(top - unit * points.y[i] - 0.5);
          if (x < -edge || y < -edge || x >= wide + edge || y >= high + edge) continue;
          stamp(x, y, rgba[i], wide, high);
        }
        pen.putImageData(picture, 0, 0);
      },
    };
  }

  function is_software(gl) {
    const naming = gl.getExtension("WEBGL_debug_renderer_info");
    const name = naming ? gl.getParameter(naming.UNMASKED_RENDERER_WEBGL) : "";
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  // A pen that draws in memory where there is no graphics card: that is faster than a card
  // which the processor imitates.
  Phcle.pen_of = function (canvas) {
    Phcle.is_plain ??= !wants_webgl();
    return canvas.getContext("2d", { willReadFrequently: Phcle.is_plain });
  };

  // Without a graphics card WebGL is slower than the plain canvas. `?map=webgl` or
  // `?map=canvas` in the URL overrides the choice.
  function wants_webgl() {
    const asked = new URLSearchParams(root.location.search).get("map");
    if (asked === "canvas") return false;
    const gl = document.createElement("canvas").getContext("webgl2");
    if (!gl) return false;
    const is_slow = is_software(gl);
    gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow only a few
    return asked === "webgl" || !is_slow;
  }

  Phcle.open_painter = function (make_canvas, points, lost) {
    if (wants_webgl()) {
      try {
        return open_webgl(make_canvas(), points, lost);
      } catch (error) {
        console.warn("no WebGL map:", error.message);
      }
    }
    return open_canvas(make_canvas(), points);
  };
  Phcle.open_plain_painter = (make_canvas, points) => open_canvas(make_canvas(), points);
})(window);
