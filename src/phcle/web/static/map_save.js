// Save the view of a map: SVG, and PNG, which is the SVG drawn on a canvas.
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = root.Phcle || {});
  const SHARP = 2; // pixels of the PNG for each pixel of the screen
  const LINE = 20; // pixels of a line of the legend

  const escaped = (text) =>
    String(text)
      // Control characters are not allowed in XML.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;");
  const quoted = (text) => `"${escaped(text)}"`;
  const short = (value) => value.toFixed(1);

  // One path for all neighbouring points of a colour in the drawing order.
  function dots(map, frame) {
    const { order, rgba } = map.view;
    const { x, y } = map.data;
    const found = [];
    let [colour, path] = [null, []];
    const flush = () => {
      if (!path.length) return;
      const [red, green, blue] = [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255];
      const alpha = (colour >>> 24) / 255;
      const opacity = alpha < 1 ? ` stroke-opacity="${alpha.toFixed(2)}"` : "";
      found.push(`<path stroke="rgb(${red},${green},${blue})"${opacity} d="${path.join("")}"/>`);
      path = [];
    };
    for (const i of order) {
      const px = frame.left + frame.unit * x[i];
      const py = frame.top - frame.unit * y[i];
      if (px < 0 || py < 0 || px > frame.width || py > frame.height) continue;
      if (rgba[i] !== colour) flush();
      colour = rgba[i];
      path.push(`M${short(px)} ${short(py)}h0`);
    }
    flush();
    const width = short(2 * frame.radius);
    return `<g fill="none" stroke-linecap="round" stroke-width="${width}">${found.join("")}</g>`;
  }

  function arrows(map, ink) {
    return map.arrows().map(({ line, is_strong }) => {
      const path = line.map((place) => place.map(short).join(" ")).join("L");
      const width = is_strong ? 2 : 1;
      return (
        `<path fill="none" stroke="${is_strong ? ink.accent : ink.ink}" stroke-width="${width}" ` +
        `stroke-opacity="${is_strong ? 1 : 0.6}" d="M${path}"/>`
      );
    });
  }

  const circle = ([x, y], radius, look) =>
    `<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" ${look}/>`;

  // Points that are rings: their middle gets the colour of the page.
  function hollows(map, { radius, width, height }, ink) {
    return map.options.hollow
      .map((i) => map.view.place(i))
      .filter(([x, y]) => x >= 0 && y >= 0 && x <= width && y <= height)
      .map((at) => circle(at, 0.55 * radius, `fill="${ink.page}"`));
  }

  // The rings of chosen labels, and the dot of the one that is open or pinned.
  function marks(map, { radius }, ink) {
    const place = (i) => map.view.place(i);
    const look = `fill="none" stroke="${ink.ink}" stroke-width="1.5"`;
    const rings = (points) => points.map((i) => circle(place(i), radius + 1.5, look));
    const dot = (at, size, fill) =>
      [[5, ink.ink], [2.5, ink.page], [0, fill]].map(([out, colour]) =>
        circle(at, size + out, `fill="${colour}"`),
      );
    const found = rings(map.many);
    if (map.chosen !== null) {
      const near = map.nearest_to(map.chosen);
      const [x, y] = place(map.chosen).map(short);
      for (const i of near) {
        const [to_x, to_y] = place(i).map(short);
        const ends = `x1="${x}" y1="${y}" x2="${to_x}" y2="${to_y}"`;
        found.push(`<line ${ends} ${look} stroke-opacity="0.45"/>`);
      }
      found.push(...rings(near), ...dot(place(map.chosen), radius + 3, map.css_of(map.chosen)));
    }
    if (map.pinned) {
      const [x, y] = map.view.place_of(map.pinned[0], map.pinned[1]);
      const fill = Phcle.as_css(map.colour_of("--group-5"));
      const name = Phcle.shortened(map.pinned[2]);
      found.push(...dot([x, y], 6, fill), named(name, x + 14, y + 4, 13, 700, ink.ink, ink));
    }
    return found;
  }

  function named(text, x, y, size, weight, fill, ink) {
    return (
      `<text x="${short(x)}" y="${short(y)}" font-size="${size}" font-weight="${weight}" ` +
      `fill="${fill}" stroke="${ink.page}" stroke-width="3" paint-order="stroke" ` +
      `stroke-linejoin="round">${escaped(text)}</text>`
    );
  }

  function texts(map, frame, ink) {
    return map.placed.map(({ text, font, kind, x, y, left, top }) => {
      const [, weight, size] = font.match(/^(?:(\d+) )?([\d.]+)px/);
      const px = frame.left + frame.unit * x + left;
      const py = frame.top - frame.unit * y + top;
      const fill = kind === "label" ? ink.quiet : ink.ink;
      return named(text, px, py, size, weight || 400, fill, ink);
    });
  }

  // Lines from names to regions that are not beside them.
  function leads(map, frame, ink) {
    return map.placed.filter(({ lead }) => lead).map(({ x, y, lead: [right, down] }) => {
      const [px, py] = [frame.left + frame.unit * x, frame.top - frame.unit * y];
      const ends = [px, py, px + right, py + down].map(short);
      const names = ["x1", "y1", "x2", "y2"];
      return `<line ${names.map((name, k) => `${name}="${ends[k]}"`).join(" ")} stroke="${ink.quiet}"/>`;
    });
  }

  function legend(map, ink) {
    const { entries, ramp, low, high, is_log } = map.legend_now;
    const line = (k) => 28 + (k + 1) * LINE;
    const parts = [`<text x="16" y="28" font-weight="700" fill="${ink.ink}">${escaped(map.colouring.title)}</text>`];
    if (ramp) {
      ramp.forEach((colour, k) => {
        parts.push(`<rect x="${16 + 2 * k}" y="38" width="2.5" height="10" fill="${colour}"/>`);
      });
      const ends = `${Phcle.number(low)} … ${Phcle.number(high)}${is_log ? ", equal ratios" : ""}`;
      parts.push(`<text x="16" y="64" fill="${ink.ink}">${ends}</text>`);
    } else {
      entries.forEach(({ name, colour, n }, k) => {
        parts.push(`<circle cx="21" cy="${line(k) - 4}" r="5" fill="${colour}"/>`);
        const text = `${Phcle.shortened(name)} (${n.toLocaleString("en")})`;
        parts.push(`<text x="32" y="${line(k)}" fill="${ink.ink}">${escaped(text)}</text>`);
      });
    }
    return parts.join("");
  }

  Phcle.map_as_svg = function (map) {
    const frame = map.view.frame();
    const { width, height } = frame;
    const ink = map.ink();
    const picture = map.clouds;
    const side = 2.3 * frame.unit;
    const cloud = picture.hidden
      ? ""
      : `<image href=${quoted(picture.toDataURL())} x="${short(frame.left - side / 2)}" ` +
        `y="${short(frame.top - side / 2)}" width="${short(side)}" height="${short(side)}" ` +
        `opacity="${picture.style.opacity}"/>`;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">` +
      `<rect width="100%" height="100%" fill="${ink.page}"/>${cloud}${dots(map, frame)}` +
      `${hollows(map, frame, ink).join("")}${arrows(map, ink).join("")}` +
      `${[...marks(map, frame, ink), ...leads(map, frame, ink), ...texts(map, frame, ink)].join("")}` +
      `${legend(map, ink)}</svg>`
    );
  };

  Phcle.save_map = async function (map, kind) {
    const drawn = new Blob([Phcle.map_as_svg(map)], { type: "image/svg+xml" });
    const name = `${map.options.file_name}.${kind}`;
    if (kind === "svg") return Phcle.save(drawn, name);
    const { width, height } = map.view.frame();
    const picture = new Image(width, height);
    picture.src = URL.createObjectURL(drawn);
    await picture.decode();
    const canvas = Phcle.element("canvas", { width: SHARP * width, height: SHARP * height });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(picture.src);
    return canvas.toBlob((made) => Phcle.save(made, name));
  };
})(window);
