// The density of the map: a soft cloud with contours under the points, in their colours.
//
//   Phcle.draw_density(canvas, points, rgba, kept)   draws the cloud, once for a colouring
//   Phcle.move_density(canvas, frame, closer)        moves it; the browser scales it
//
// Points are counted in the cells of a grid and blurred.
(function (root) {
  "use strict";
  const SIDE = 256; // cells
  const HALF = 1.15; // the grid reaches a little beyond the map, for the blur
  const BLUR = 4; // cells, three times
  const STRONGEST = 0.42; // opacity of the densest part
  const LEVELS = 4; // contours
  const LINE = 0.24; // opacity of a contour
  const FEWEST = 150; // labels below which a cloud says nothing

  // The mean of 2·BLUR + 1 cells in a row or column.
  function blurred(values, other, step, line) {
    const width = 2 * BLUR + 1;
    for (let row = 0; row < SIDE; row++) {
      const start = row * line;
      let sum = 0;
      for (let k = -BLUR; k < SIDE; k++) {
        const [enters, leaves] = [k + BLUR, k - BLUR - 1];
        if (enters < SIDE) sum += values[start + enters * step];
        if (leaves >= 0) sum -= values[start + leaves * step];
        if (k >= 0) other[start + k * step] = sum / width;
      }
    }
  }

  function cloud(points, rgba, kept) {
    const grids = [0, 1, 2, 3].map(() => new Float32Array(SIDE * SIDE));
    const cell = (value) => Math.floor(((value + HALF) / (2 * HALF)) * SIDE);
    for (let i = 0; i < points.x.length; i++) {
      if (kept && !kept[i]) continue;
      const at = (SIDE - 1 - cell(points.y[i])) * SIDE + cell(points.x[i]);
      const colour = rgba[i];
      grids[0][at] += colour & 255;
      grids[1][at] += (colour >>> 8) & 255;
      grids[2][at] += (colour >>> 16) & 255;
      grids[3][at] += 1;
    }
    const other = new Float32Array(SIDE * SIDE);
    for (const grid of grids) {
      for (let k = 0; k < 3; k++) {
        blurred(grid, other, 1, SIDE);
        blurred(other, grid, SIDE, 1);
      }
    }
    return grids;
  }

  Phcle.draw_density = function (canvas, points, rgba, kept) {
    const n = kept ? kept.reduce((sum, own) => sum + own, 0) : points.x.length;
    canvas.hidden = n < FEWEST;
    if (canvas.hidden) return;
    const [red, green, blue, count] = cloud(points, rgba, kept);
    // Some cells are enough to find a usual density.
    const filled = count.filter((value, k) => k % 7 === 0 && value > 5e-4).sort();
    const usual = filled[Math.floor(0.6 * filled.length)] || 1;
    const strength = count.map((here) => 1 - Math.exp(-here / usual / 1.4));
    // How much of a cell a contour covers: it lies where LEVELS · strength is half an integer.
    const line = (k) => {
      const off = strength[k] * LEVELS - Math.floor(strength[k] * LEVELS) - 0.5;
      const right = strength[k + 1] - strength[k - 1];
      const down = strength[k + SIDE] - strength[k - SIDE];
      const rise = 0.5 * LEVELS * Math.sqrt(right * right + down * down);
      return Math.max(0, 1 - Math.abs(off) / rise);
    };
    canvas.width = canvas.height = SIDE;
    const pen = Phcle.pen_of(canvas);
    const image = pen.createImageData(SIDE, SIDE);
    for (let k = SIDE; k < SIDE * (SIDE - 1); k++) {
      const here = count[k];
      if (here < 5e-5) continue;
      image.data[4 * k] = red[k] / here;
      image.data[4 * k + 1] = green[k] / here;
      image.data[4 * k + 2] = blue[k] / here;
      image.data[4 * k + 3] = 255 * (STRONGEST * strength[k] + LINE * line(k));
    }
    pen.putImageData(image, 0, 0);
  };

  // The cloud fades as one zooms in, where single points say more.
  Phcle.move_density = function (canvas, { left, top, unit }, closer) {
    const [x, y] = [left - HALF * unit, top - HALF * unit];
    canvas.style.transform = `translate(${x}px, ${y}px) scale(${(2 * HALF * unit) / SIDE})`;
    canvas.style.opacity = Math.max(0, 1 - Math.log2(Math.max(1, closer)) / 3.2);
  };
})(window);
