// What all parts of the page use: elements, answers, addresses, numbers, files to save.
//
//   html`<p class="quiet">${text}</p>`   elements from markup; text is inserted as text
//   Phcle.get(path, {key: value})         an answer, stored in this file or from the server
//   Phcle.open(path, pairs)               go to a part of the page; it stands after "#"
(function (root) {
  "use strict";
  const Phcle = (root.Phcle = { pages: {} });
  const SVG = "http://www.w3.org/2000/svg";
  const DRAWN = new Set(["svg", "path", "rect", "circle"]);
  const WAIT_MS = 80;
  const AGAIN_MS = 1000;

  // -- Elements

  function fill(parent, child) {
    if (Array.isArray(child)) child.forEach((each) => fill(parent, each));
    else if (child !== null && child !== undefined && child !== false) parent.append(child);
  }

  // Keys that begin with "on" are listeners, and `style` is a table of properties. Of true
  // and false an attribute is made or left out; those of ARIA are words.
  Phcle.element = function (kind, attributes, ...children) {
    const is_drawn = DRAWN.has(kind);
    const made = is_drawn ? document.createElementNS(SVG, kind) : document.createElement(kind);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (key === "style") {
        for (const [name, own] of Object.entries(value)) made.style.setProperty(name, own);
      } else if (typeof value !== "boolean" || key.startsWith("aria-")) {
        if (value !== null && value !== undefined) made.setAttribute(key, value);
      } else if (value) made.setAttribute(key, "");
    }
    fill(made, children);
    return made;
  };

  Phcle.html = root.htm.bind(function (...parts) {
    this[0] = 3; // each element is made anew: htm would keep those that never change
    return Phcle.element(...parts);
  });
  const html = Phcle.html;

  // A name in its own direction of writing, cut by the style sheet; the title is whole.
  Phcle.name = (name, title = name) => html`<bdi class="name" title=${title}>${name}</bdi>`;

  Phcle.button = (content, onclick, attributes) =>
    html`<button type="button" onclick=${onclick} ...${attributes}>${content}</button>`;

  Phcle.bar = function (share, kind = "") {
    const width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
    return html`<svg class=${`bar ${kind}`} aria-hidden="true">
      <rect class="bar-room" width="100%" height="100%" rx="3" />
      <rect class="bar-full" width=${width} height="100%" rx="3" />
    </svg>`;
  };

  Phcle.failure = function (error) {
    const links = (error.near ?? []).map((each) => html`<li>${Phcle.label_link(each)}</li>`);
    return html`<div class="failed" role="alert">
      <p>${error.message}</p>
      ${links.length > 0 && html`<p>Perhaps one of these:</p><ul class="chips">${links}</ul>`}
    </div>`;
  };

  // Replace the content of a place by what a promise gives, or by its failure.
  Phcle.show = async function (place, promise) {
    place.setAttribute("aria-busy", "true");
    let made;
    try {
      made = await promise;
    } catch (error) {
      made = Phcle.failure(error);
    }
    place.removeAttribute("aria-busy");
    place.replaceChildren();
    fill(place, made);
  };

  // What is asked for when it is opened.
  Phcle.unfolding = function (title, ask, kind) {
    const body = html`<div class="why-body" aria-live="polite"></div>`;
    const toggle = ({ target }) => target.open && !body.firstChild && Phcle.show(body, ask());
    return html`<details class=${kind} ontoggle=${toggle}><summary>${title}</summary>${body}</details>`;
  };

  // -- Answers

  const source = document.getElementById("answers");
  Phcle.is_report = Boolean(source);
  let stored = null;

  // What stands in the key of a stored answer, of each route.
  const KEYS = {
    "/api/column": ["context", "column"],
    "/api/label": ["label"],
    "/api/row": ["label"],
    "/api/explain": ["a", "b"],
    "/api/node": ["node"],
    "/api/shared": ["of", "group"],
  };

  async function unpacked() {
    if (!root.DecompressionStream) {
      throw new Error("This browser is too old: it cannot unpack the data of this page.");
    }
    const bytes = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const LEFT_OUT = "This report does not hold that; phcle explore shows it.";
  Phcle.left_out = () => Object.assign(new Error(LEFT_OUT), { is_left_out: true });

  async function stored_answer(path, asked) {
    stored ??= unpacked();
    const names = (KEYS[path] ?? []).filter((name) => name in asked);
    const key = JSON.stringify(names.map((name) => String(asked[name])));
    const held = (await stored)[path] ?? {};
    if (held[key] !== undefined) return held[key];
    // A label may be asked for by its name, as the server does.
    const typed = String(asked.label).trim().toLowerCase();
    const is_called = ({ name }) => name.toLowerCase() === typed;
    const called = path === "/api/label" && Object.values(held).find(is_called);
    if (called) return called;
    throw Phcle.left_out();
  }

  async function answer_of(response) {
    const answer = await response.json();
    if (response.ok) return answer;
    const { message = "the request failed", near } = answer.error ?? {};
    throw Object.assign(new Error(message), { near, status: response.status });
  }

  // Pairs of an address; a list is the same key again and again.
  Phcle.query = (asked) =>
    new URLSearchParams(
      Object.entries(asked).flatMap(([key, value]) => [value].flat().map((one) => [key, one])),
    ).toString();

  // While the server prepares an answer (503), it is asked again.
  Phcle.get = async function (path, asked = {}) {
    if (Phcle.is_report) return stored_answer(path, asked);
    for (;;) {
      const response = await fetch(`${path}?${Phcle.query(asked)}`);
      if (response.status !== 503) return answer_of(response);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };

  Phcle.post = async function (path, body) {
    if (Phcle.is_report) return stored_answer(path, body);
    const is_file = body instanceof Blob;
    const kind = is_file ? "application/octet-stream" : "application/json";
    const content = is_file ? body : JSON.stringify(body);
    const headers = { "Content-Type": kind };
    return answer_of(await fetch(path, { method: "POST", body: content, headers }));
  };

  // Debounce: only the last of several calls within WAIT_MS runs.
  Phcle.settled = function (work) {
    let waiting = null;
    return (...given) =>
      new Promise((resolve, reject) => {
        clearTimeout(waiting);
        waiting = setTimeout(() => work(...given).then(resolve, reject), WAIT_MS);
      });
  };

  // -- Addresses

  Phcle.address = function (path, asked = {}) {
    const query = Phcle.query(asked);
    return `#${path}${query && "?"}${query}`;
  };
  Phcle.label_address = (label) => Phcle.address("/label", { label });
  Phcle.label_link = ({ label, name }) =>
    html`<a href=${Phcle.label_address(label)}>${Phcle.name(name)}</a>`;
  Phcle.node_link = ({ node, name, is_label }) =>
    is_label
      ? Phcle.label_link({ label: node, name })
      : html`<a class="node" href=${Phcle.address("/node", { node })}>${Phcle.name(name)}</a>`;

  // What stands after "#": a path and its pairs.
  Phcle.here = function () {
    const [path, query = ""] = root.location.hash.slice(1).split(/\?(.*)/s);
    return { path: path.startsWith("/") ? path : "/", asked: new URLSearchParams(query) };
  };

  // Let the address say what is shown, without drawing it again; a step makes an entry in
  // the history. Inside another page, such as a notebook, the address cannot change.
  Phcle.remember = function (path, asked, { is_step = true } = {}) {
    const address = Phcle.address(path, asked);
    if (address === root.location.hash) return;
    try {
      root.history[is_step ? "pushState" : "replaceState"](null, "", address);
    } catch {
      // it stays as it was
    }
  };

  Phcle.open = (path, asked) => (root.location.hash = Phcle.address(path, asked));

  // -- Numbers and texts

  const TYPES = { f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  Phcle.unpacked_array = function (text) {
    if (typeof text !== "string") return text; // an array already
    const [kind, base64] = text.split(":");
    const letters = atob(base64);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    return new TYPES[kind](bytes.buffer);
  };

  Phcle.count = (n, what) => {
    const number = n.toLocaleString("en");
    return what === undefined ? number : `${number} ${what}${n === 1 ? "" : "s"}`;
  };

  // A number with few significant digits; those before the point are never rounded away.
  Phcle.number = function (number, digits = 3) {
    const is_long = Math.abs(number) >= 10 ** digits - 0.5;
    return String(is_long ? Math.round(number) : Number(number.toPrecision(digits)));
  };

  Phcle.percent = (share) => `${Math.round(100 * share)}%`;

  // A value of a cell: known numbers have more digits than predicted ones.
  Phcle.value_text = function (value, is_known = false) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return Phcle.number(value, is_known ? 6 : 3);
    return { true: "yes", false: "no" }[value] ?? value;
  };

  // A cosine and how unusual it is: whole percents, from 99 % on tenths.
  Phcle.similarity = function ({ similarity, percentile }) {
    if (similarity === undefined) return "";
    const digits = percentile < 99 ? 1 : 10;
    const share = Math.min(Math.floor(digits * percentile) / digits, 99.9);
    return `${similarity.toFixed(2)}, nearer than ${share.toFixed(digits > 1 ? 1 : 0)} % of pairs`;
  };

  // -- Files to save

  Phcle.save = function (content, name) {
    const address = URL.createObjectURL(content);
    Phcle.element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  // A text that a spreadsheet would run as a formula begins with an apostrophe: these are
  // the patterns of files/csv_text.py.
  const LIVE =
    /^'*([\t\r\n]|[\x00-\x20\x7f\u00a0\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;
  const NUMBER = /^'*[+\-]?[0-9.,]*[0-9][.,]?([eE][+\-]?[0-9]+)?%?$/;
  Phcle.as_csv = function (rows) {
    const cell = (value) => {
      let text = String(value ?? "");
      if (typeof value === "string" && LIVE.test(text) && !NUMBER.test(text)) text = `'${text}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const keys = Object.keys(rows[0] ?? {});
    const lines = [keys, ...rows.map((row) => keys.map((key) => row[key]))];
    return `${lines.map((line) => line.map(cell).join(",")).join("\n")}\n`;
  };

  // Buttons that save rows; make() gives them, or a promise of them.
  Phcle.downloads = function (make, name) {
    const save = (kind, text) => async () =>
      Phcle.save(new Blob([text(await make())]), `${name}.${kind.toLowerCase()}`);
    const as_json = (rows) => JSON.stringify(rows, null, 2);
    return html`<p class="actions">
      ${Phcle.button("CSV", save("CSV", Phcle.as_csv), { class: "button" })}
      ${Phcle.button("JSON", save("JSON", as_json), { class: "button" })}
    </p>`;
  };
})(window);
