// Save the view of a map as a picture, sharper than the screen, with the legend beside it.
(function (root) {
  "use strict";
  const SHARP = 3; // pixels of the picture for each pixel of the screen
  const LINE = 20; // pixels of a line of the legend
  const FONT = "system-ui, sans-serif";

  function canvas_of({ width, height }) {
    return Phcle.element("canvas", { width: width * SHARP, height: height * SHARP });
  }

  function draw_legend(pen, map, { ink }) {
    const { entries, ramp, low, high, is_log } = map.legend;
    pen.fillStyle = ink;
    pen.font = `700 13px ${FONT}`;
    pen.fillText(map.colouring.title, 16, 28);
    pen.font = `13px ${FONT}`;
    (ramp ?? []).forEach((colour, k) => {
      pen.fillStyle = colour;
      pen.fillRect(16 + 2 * k, 38, 2.5, 10);
    });
    pen.fillStyle = ink;
    const ends = `${Phcle.number(low ?? 0)} … ${Phcle.number(high ?? 0)}`;
    if (ramp) pen.fillText(ends + (is_log ? ", equal ratios" : ""), 16, 64);
    (entries ?? []).forEach(({ name, colour, n }, k) => {
      const at = 28 + (k + 1) * LINE;
      pen.fillStyle = colour;
      pen.beginPath();
      pen.arc(21, at - 4, 5, 0, 2 * Math.PI);
      pen.fill();
      pen.fillStyle = ink;
      pen.fillText(`${Phcle.shortened(name)} (${Phcle.count(n)})`, 32, at);
    });
  }

  Phcle.save_map = function (map, name) {
    const frame = { ...map.view.frame(), sharp: SHARP };
    const [points, whole] = [canvas_of(frame), canvas_of(frame)];
    const painter = Phcle.open_plain_painter(() => points, map.data);
    painter.colour(map.colours.order, map.colours.rgba, map.colour_of("--page"));
    painter.paint(frame);
    const ink = map.ink();
    const pen = whole.getContext("2d");
    pen.fillStyle = ink.page;
    pen.fillRect(0, 0, whole.width, whole.height);
    pen.scale(SHARP, SHARP);
    pen.drawImage(points, 0, 0, frame.width, frame.height);
    map.draw_marks(pen, frame);
    Phcle.draw_names(pen, frame, map.placed, ink);
    draw_legend(pen, map, ink);
    whole.toBlob((made) => Phcle.save(made, `${name}.png`));
  };
})(window);
