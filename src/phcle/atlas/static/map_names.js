// Names on the map: regions first, the larger ones before the finer ones, then single labels
// where there is room, the important ones first and in every part of the view.
(function (root) {
  "use strict";
  const FONT = 'system-ui, "Segoe UI", "Liberation Sans", sans-serif';
  const LONGEST = 30; // letters of a name; the rest is cut
  const CELL = 8; // pixels of a cell that a name takes
  const SPREAD = [170, 96]; // pixels of a part of the view that gets a name first
  const N_FIRST = 5; // important labels that are named even above points
  const AREA = 8500; // pixels of the stage for each label that is named
  const MOST_TRIED = 3000; // labels of a crowded map, in each round
  const HIGH = 34; // pixels of the picture of a name
  const PAD = 4; // pixels around the picture of a name
  const MOST_REMEMBERED = 5000;
  const NARROWEST = 4; // pixels of a letter, at least on average
  const NARROW = 600; // pixels of a stage that has smaller names
  const BESIDE = 26; // pixels between a region's centre and its name, without a line
  const SMALLEST = 20; // pixels: half the size of a region from which on it is named

  // Steps from a region's centre to try, the nearest first: right and down.
  const AROUND = [];
  const far = ([right, down]) => Math.hypot(2 * right, down);
  for (let right = -3; right <= 3; right++) {
    for (let down = -6; down <= 6; down++) AROUND.push([right, down]);
  }
  AROUND.sort((a, b) => far(a) - far(b));
  const NEAR = AROUND.filter((step) => far(step) < 4.5).length;

  // A point under the name of a region is as bad as a step, almost, and many as three steps:
  // in a crowd the centre is the best place.
  const steps_of_points = (n) => Math.min(2.6, 0.9 * n);

  Phcle.shortened = (name) => {
    const letters = Array.from(name.slice(0, 4 * LONGEST));
    return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : name;
  };

  // Cells of the stage that are taken, and the number of points in each.
  class Room {
    constructor(width, height) {
      this.wide = Math.floor(width / CELL);
      this.high = Math.floor(height / CELL);
      this.cells = new Uint8Array(this.wide * this.high);
      this.points = new Uint16Array(this.wide * this.high);
    }

    add_point(x, y) {
      const [column, row] = [Math.floor(x / CELL), Math.floor(y / CELL)];
      if (column < this.wide && row < this.high) this.points[row * this.wide + column] += 1;
    }

    // The number of points in a box on the stage.
    n_points(left, top, right, bottom) {
      let n = 0;
      for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y++) {
        for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x++) {
          n += this.points[y * this.wide + x];
        }
      }
      return n;
    }

    // Whether a box lies on the stage and is free.
    is_free(left, top, right, bottom) {
      const [x0, y0] = [Math.floor(left / CELL), Math.floor(top / CELL)];
      const [x1, y1] = [Math.floor(right / CELL), Math.floor(bottom / CELL)];
      if (x0 < 0 || y0 < 0 || x1 >= this.wide || y1 >= this.high) return false;
      for (let y = y0; y <= y1; y++) {
        for (let x = x0; x <= x1; x++) if (this.cells[y * this.wide + x]) return false;
      }
      return true;
    }

    take(left, top, right, bottom) {
      const [x0, x1] = [Math.floor(left / CELL), Math.min(this.wide - 1, Math.floor(right / CELL))];
      const y1 = Math.min(this.high - 1, Math.floor(bottom / CELL));
      for (let y = Math.max(0, Math.floor(top / CELL)); y <= y1; y++) {
        for (let x = Math.max(0, x0); x <= x1; x++) this.cells[y * this.wide + x] = 1;
      }
    }
  }

  // Labels that are near many others come first. Ties are mixed, so that neighbours in the
  // list, which are often neighbours on the map, do not come together.
  Phcle.by_importance = function (neighbours, n) {
    const times = new Float64Array(n);
    for (const i of neighbours) times[i] += 1;
    for (let i = 0; i < n; i++) times[i] += ((i * 2654435761) >>> 0) / 2 ** 32;
    return Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => times[b] - times[a]);
  };

  // Measuring and drawing text is slow, and the same names come again in every frame.
  function remembered(make) {
    const known = new Map();
    return (key, ...given) => {
      if (!known.has(key)) {
        if (known.size > MOST_REMEMBERED) known.clear();
        known.set(key, make(...given));
      }
      return known.get(key);
    };
  }

  const width_by_key = remembered((pen, font, text) => {
    pen.font = font;
    return pen.measureText(text).width;
  });
  const width_of = (pen, font, text) => width_by_key(font + text, pen, font, text);

  // A picture of a name with a halo in the colour of the page; its left end is PAD, its line
  // 2·PAD from the edge.
  const picture_by_key = remembered((wide, high, sharp, font, text, fill, halo, line) => {
    const picture = Phcle.element("canvas", { width: wide * sharp, height: high * sharp });
    const pen = Phcle.pen_of(picture);
    pen.scale(sharp, sharp);
    pen.font = font;
    pen.lineJoin = "round";
    pen.lineWidth = line;
    pen.strokeStyle = halo;
    pen.fillStyle = fill;
    pen.strokeText(text, PAD, high - 2 * PAD);
    pen.fillText(text, PAD, high - 2 * PAD);
    return picture;
  });

  // The part of a box at the right or left of a point, without the point itself.
  const beside = (px, [left, top, right, bottom]) =>
    left > px
      ? [Math.max(left, px + CELL), top, right, bottom]
      : [left, top, Math.min(right, px - CELL), bottom];

  class Placing {
    constructor(pen, frame, blocked) {
      Object.assign(this, { pen, frame });
      this.room = new Room(frame.width, frame.height);
      for (const box of blocked) this.room.take(...box);
      this.placed = [];
      this.regions = new Set(); // names of regions on the stage
    }

    put(own, font, kind, x, y, left, top, text) {
      this.placed.push({ ...own, text, font, kind, x, y, left, top });
    }

    // A group of the colouring is named if it is in view; finer regions if there is room.
    region(region) {
      const text = Phcle.shortened(region.name);
      if (this.regions.has(text)) return;
      const tries = region.of ? NEAR : 3;
      const is_placed = this.try_region(region, text, 1, AROUND.slice(0, tries));
      if (!is_placed && region.of) this.try_region(region, text, 0.8, AROUND);
    }

    // Returns whether there was room for the name, in letters of this relative size.
    try_region({ x, y, reach, of: is_group }, text, scale, tries) {
      const { left, top, unit, width, height } = this.frame;
      const [px, py, half] = [left + unit * x, top - unit * y, reach * unit];
      if (px < 0 || py < 0 || px > width || py > height) return false;
      if (half < SMALLEST && !is_group) return false;
      if (half > 0.8 * Math.max(width, height)) return false; // the view is inside it
      const least = width < NARROW ? 11 : 12.5;
      const more = Math.min(6, Math.max(0, 2 * Math.log2(half / 30)));
      const size = Math.round(scale * (least + more));
      const font = `${is_group ? 700 : 600} ${size}px ${FONT}`;
      const wide = width_of(this.pen, font, text) / 2 + 4;
      if (!is_group && wide > 3 * half) return false;
      const line = size * 0.75;
      let [best, lowest] = [null, Infinity];
      for (const step of tries) {
        if (far(step) >= lowest) break;
        const shifted = [px + step[0] * size * 2.5, py + step[1] * size * 1.2];
        const at_x = Math.min(width - wide - 2, Math.max(wide + 2, shifted[0]));
        const at_y = Math.min(height - line - 2, Math.max(line + 2, shifted[1]));
        const box = [at_x - wide, at_y - line, at_x + wide, at_y + line];
        if (!this.room.is_free(...box)) continue;
        const cost = far(step) + steps_of_points(this.room.n_points(...box));
        if (cost < lowest) [best, lowest] = [box, cost];
      }
      if (!best) return false;
      const [from_x, from_y, to_x, to_y] = best;
      this.room.take(from_x - 10, from_y - 4, to_x + 10, to_y + 4);
      const shift = [from_x - px + 4, (from_y + to_y) / 2 - py + size * 0.34];
      // A line leads from a name to its region, if that is not beside it.
      const nearest = [
        Math.min(to_x, Math.max(from_x, px)) - px,
        Math.min(to_y, Math.max(from_y, py)) - py,
      ];
      const lead = Math.hypot(...nearest) > BESIDE ? nearest : null;
      this.put({ wide: 2 * wide, lead }, font, "region", x, y, ...shift, text);
      this.regions.add(text);
      return true;
    }

    // Returns whether there was room for the name; beside the other points, if `is_clear`.
    label(point, name, x, y, { is_first = false, is_clear = false }) {
      const { left, top, unit, radius } = this.frame;
      const [px, py] = [left + unit * x, top - unit * y];
      const text = Phcle.shortened(name);
      const least = NARROWEST * text.length;
      const has_room = (from, to) =>
        this.room.is_free(from, py - 7, to, py + 7) &&
        !(is_clear && this.room.n_points(from, py - 7, to, py + 7));
      // Measuring takes time: not where even narrow letters find no room.
      if (!is_first && !has_room(px + 8, px + 8 + least) && !has_room(px - 8 - least, px - 8)) {
        return false;
      }
      const font = `${is_first ? "650 13px" : "11.5px"} ${FONT}`;
      const wide = width_of(this.pen, font, text);
      const away = radius + (is_first ? 11 : 4);
      let [best, fewest] = [null, is_clear ? 1 : Infinity];
      for (const start of [px + away, px - away - wide]) {
        const box = [start, py - 7, start + wide, py + 7];
        if (!this.room.is_free(...box)) continue;
        const n_hidden = this.room.n_points(...beside(px, box));
        if (n_hidden < fewest) [best, fewest] = [box, n_hidden];
      }
      if (!best) return false;
      this.room.take(best[0] - 8, best[1] - 2, best[2] + 8, best[3] + 2);
      this.put({ point, wide }, font, is_first ? "first" : "label", x, y, best[0] - px, 4, text);
      return true;
    }
  }

  // Names with their places: {text, font, kind, x and y on the map, left and top in pixels
  // from there, lead: the end of a line from there, or null}. `first` are points named before all others, `blocked` boxes of the stage.
  Phcle.place_names = function (pen, view, regions, names, { importance, first, blocked }) {
    const frame = view.frame();
    const placing = new Placing(pen, frame, blocked);
    const { x, y } = view.points;
    const done = new Set(first);
    let n_seen = 0;
    view.each_in_view((_, px, py) => {
      n_seen += 1;
      placing.room.add_point(px, py);
    });
    for (const i of first) placing.label(i, names[i], x[i], y[i], { is_first: true });
    for (const each of regions) placing.region(each);
    // Where very many points are in view, a single one says little.
    const fewer = 1 + Math.max(0, Math.log10(n_seen / 2000));
    const most = Math.max(8, Math.round((frame.width * frame.height) / AREA / fewer));
    const [wide, high] = SPREAD;
    const columns = Math.ceil(frame.width / wide);
    const has_name = new Set();
    let n = 0;
    // Each part of the view gets a name, beside the points if possible; then others that
    // hide no point.
    const rounds = [[true, true], [true, false], [false, true]];
    for (const [only_new, is_clear] of rounds) {
      let n_tried = 0;
      for (let k = 0; k < importance.length && n < most && n_tried < MOST_TRIED; k++) {
        const i = importance[k];
        if (view.kept && !view.kept[i]) continue;
        const px = frame.left + frame.unit * x[i];
        const py = frame.top - frame.unit * y[i];
        if (px < 0 || py < 0 || px >= frame.width || py >= frame.height) continue;
        const part = Math.floor(py / high) * columns + Math.floor(px / wide);
        if ((only_new && has_name.has(part)) || done.has(i)) continue;
        n_tried += 1;
        const must_be_clear = is_clear && n >= N_FIRST;
        if (!placing.label(i, names[i], x[i], y[i], { is_clear: must_be_clear })) continue;
        has_name.add(part);
        done.add(i);
        n += 1;
      }
    }
    return placing.placed;
  };

  function draw_leads(pen, frame, placed, quiet) {
    pen.beginPath();
    for (const { x, y, lead } of placed) {
      if (!lead) continue;
      const [px, py] = [frame.left + frame.unit * x, frame.top - frame.unit * y];
      pen.moveTo(px, py);
      pen.lineTo(px + lead[0], py + lead[1]);
    }
    pen.strokeStyle = quiet;
    pen.lineWidth = 1;
    pen.stroke();
  }

  Phcle.draw_names = function (pen, frame, placed, { page, ink, quiet }) {
    draw_leads(pen, frame, placed, quiet);
    for (const { text, font, kind, x, y, left, top, wide } of placed) {
      const fill = kind === "label" ? quiet : ink;
      const size = [Math.ceil(wide + 2 * PAD), HIGH];
      const key = [font, text, fill, page, frame.sharp].join();
      const line = kind === "region" ? 4 : 3;
      const name = picture_by_key(key, ...size, frame.sharp, font, text, fill, page, line);
      const px = frame.left + frame.unit * x + left - PAD;
      const py = frame.top - frame.unit * y + top - HIGH + 2 * PAD;
      pen.drawImage(name, px, py, ...size);
    }
  };
})(window);
