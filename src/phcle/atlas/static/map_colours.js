// Colours of the map: from a colouring of the data to one colour for each point and a legend.
//
// A colouring has a title and either groups or numbers:
//   groups (names) and codes (Uint8Array, the group of each label). The last group is "other"
//     and grey; of the others, later ones are drawn above.
//   values (Float32Array), low and high: the ends of the scale, which shows ratios with
//     `is_log`. `missing` says what NaN means, by default "unknown";
//     `unit` is text after a number.
// An attribute has is_known, too (Uint8Array: 1 where it is observed); predicted points are
// faint.
(function (root) {
  "use strict";
  const FAINT = 0.42; // share of its own colour that a predicted point has
  const STEPS = 64; // colours of a ramp
  const N_RAMP = 5; // colours of a ramp that the style sheet names
  const GHOST = 0.1; // opacity of points that are filtered out

  const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
  const as_css = ([red, green, blue]) =>
    `rgb(${Math.round(red)}, ${Math.round(green)}, ${Math.round(blue)})`;
  const mixed = (one, other, share) => one.map((x, k) => x * share + other[k] * (1 - share));
  const packed = (colour, alpha = 1) => {
    const [red, green, blue, opacity] = [...colour, alpha * 255].map(Math.round);
    return ((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  };

  // A reader of the colours in the style sheet, which decides between light and dark.
  Phcle.style_colours = function (probe) {
    return (name) => {
      probe.style.color = `var(${name})`;
      return rgb(getComputedStyle(probe).color);
    };
  };
  Phcle.as_css = as_css;

  function group_colours(colouring, colour_of) {
    const last = colouring.groups.length - 1;
    return colouring.groups.map((_, i) => colour_of(`--group-${i === last ? "other" : i}`));
  }

  function ramp_colours(colour_of) {
    const stops = Array.from({ length: N_RAMP }, (_, i) => colour_of(`--ramp-${i}`));
    return Array.from({ length: STEPS }, (_, k) => {
      const at = (k / (STEPS - 1)) * (N_RAMP - 1);
      const low = Math.min(N_RAMP - 2, Math.floor(at));
      return mixed(stops[low + 1], stops[low], at - low);
    });
  }

  function painted_groups(colouring, colour_of) {
    const { codes, groups, is_known } = colouring;
    const own = group_colours(colouring, colour_of);
    const faint = own.map((colour) => mixed(colour, colour_of("--page"), FAINT));
    const counts = new Array(groups.length).fill(0);
    for (const code of codes) counts[code] += 1;
    const entries = groups.map((name, code) => {
      return { name, code, n: counts[code], colour: as_css(own[code]) };
    });
    const last = groups.length - 1;
    // Points of a higher rank are drawn above the others: later groups.
    const rank = (i) => (codes[i] === last ? 0 : codes[i] + 1);
    return {
      colour: (i) => (is_known && !is_known[i] ? faint : own)[codes[i]],
      rank,
      n_ranks: groups.length,
      legend: { entries: entries.filter(({ n }) => n), has_faint: Boolean(is_known?.includes(0)) },
    };
  }

  function painted_numbers(colouring, colour_of) {
    const { values, low, high, is_known, is_log, missing = "unknown" } = colouring;
    const ramp = ramp_colours(colour_of);
    const page = colour_of("--page");
    const faint = ramp.map((own) => mixed(own, page, FAINT));
    const none = colour_of("--group-other");
    const on_scale = (value) => (is_log ? Math.log(Math.max(value, low)) : value);
    const [from, to] = [on_scale(low), on_scale(high)];
    const step = (value) => {
      const part = to > from ? (on_scale(value) - from) / (to - from) : 0.5;
      return Math.round(Math.min(1, Math.max(0, part)) * (STEPS - 1));
    };
    const has_faint = Boolean(is_known?.includes(0));
    const gaps = values.some(Number.isNaN) ? missing : null;
    const is_missing = (i) => Number.isNaN(values[i]);
    const is_faint = (i) => is_known && !is_known[i];
    const colour = (i) => {
      if (is_missing(i)) return none;
      return (is_faint(i) ? faint : ramp)[step(values[i])];
    };
    return {
      colour,
      rank: (i) => (is_missing(i) ? 0 : is_faint(i) ? 1 : 2),
      n_ranks: 3,
      legend: { low, high, is_log, ramp: ramp.map(as_css), has_faint, missing: gaps },
    };
  }

  // Colours, drawing order and legend of a colouring. `kept` is 1 for each point to be shown;
  // the others become ghosts below them.
  Phcle.paint_colouring = function (colouring, colour_of, kept, out) {
    const made = colouring.groups
      ? painted_groups(colouring, colour_of)
      : painted_numbers(colouring, colour_of);
    const { rgba, order } = out;
    const n = rgba.length;
    const starts = new Uint32Array(made.n_ranks + 2);
    const rank = (i) => (kept && !kept[i] ? 0 : made.rank(i) + 1);
    for (let i = 0; i < n; i++) {
      rgba[i] = packed(made.colour(i), kept && !kept[i] ? GHOST : 1);
      starts[rank(i) + 1] += 1;
    }
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    for (let i = 0; i < n; i++) order[starts[rank(i)]++] = i;
    return made.legend;
  };
})(window);
