// Shared by all pages: requests, the search at the top, light and dark, bars, downloads.
// Text from the server is inserted as text, never as HTML.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const WAIT_MS = 80;
  const AGAIN_MS = 1000;

  async function answer_of(response) {
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error ? answer.error.message : "the request failed");
    return answer;
  }

  // The query of a URL; a key may be repeated.
  Phcle.query = (pairs) => new URLSearchParams(pairs).toString();

  // Ask the server. While it prepares the answer (503), it is asked again every second
  // until `signal` ends that.
  Phcle.get = async function (path, pairs = [], { signal } = {}) {
    const address = pairs.length ? `${path}?${Phcle.query(pairs)}` : path;
    for (;;) {
      const response = await fetch(address, { signal });
      if (response.status !== 503) return answer_of(response);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };

  // Several texts as one value of a query, whatever signs are in them.
  Phcle.pack = (texts) => JSON.stringify(texts);
  Phcle.unpack = function (packed) {
    try {
      const texts = JSON.parse(packed);
      if (Array.isArray(texts)) return texts;
    } catch {
      // typed by hand
    }
    return [packed];
  };
  Phcle.post = async (path, body, kind = "application/json") =>
    answer_of(
      await fetch(path, { method: "POST", body: body, headers: { "Content-Type": kind } }),
    );
  Phcle.label_address = (label) => `/label?${Phcle.query([["label", label]])}`;
  Phcle.label_link = ({ label, name }) =>
    element("a", { href: Phcle.label_address(label) }, Phcle.name(name));

  // Debounce: run only the last of several calls within WAIT_MS.
  Phcle.settled = function (work) {
    let waiting = null;
    return (...given) =>
      new Promise((resolve, reject) => {
        clearTimeout(waiting);
        waiting = setTimeout(() => work(...given).then(resolve, reject), WAIT_MS);
      });
  };

  function drawn(kind, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  Phcle.bar = function (share, kind = "") {
    const width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
    const whole = { height: "100%", rx: 3 };
    return drawn(
      "svg",
      { class: `bar ${kind}`, "aria-hidden": "true" },
      drawn("rect", { ...whole, class: "bar-room", width: "100%" }),
      drawn("rect", { ...whole, class: "bar-full", width: width }),
    );
  };

  // A cosine and how unusual it is: whole percents, from 99 % on tenths.
  Phcle.similarity = function ({ similarity, percentile }) {
    const digits = percentile < 99 ? 1 : 10;
    const share = Math.min(Math.floor(digits * percentile) / digits, 99.9);
    return `${similarity.toFixed(2)}, nearer than ${share.toFixed(digits > 1 ? 1 : 0)} % of pairs`;
  };

  Phcle.near_list = function (neighbours) {
    const items = neighbours.map((near) =>
      element(
        "li",
        {},
        element(
          "div",
          { class: "near-head" },
          Phcle.label_link(near),
          element("span", { class: "near-value" }, Phcle.similarity(near)),
        ),
        Phcle.bar(near.similarity),
      ),
    );
    return element("ol", { class: "neighbours" }, ...items);
  };

  // The parts of a similarity by context and group of columns. Lines come rounded.
  Phcle.explanation = function (answer) {
    const size = new Map(answer.parts.map(({ context, part }) => [context, part]));
    const parts = [];
    for (const { part, context, group_part, words, columns } of answer.lines) {
      if (context) {
        const own = size.get(context) ?? 0;
        parts.push(
          element(
            "div",
            { class: "why-context" },
            element("strong", {}, context),
            Phcle.bar(Math.abs(own), own < 0 ? "against" : ""),
            element("span", { class: "near-value" }, part),
          ),
        );
      }
      if (!words) continue;
      const items = columns.map((text) => element("li", {}, text));
      parts.push(
        element(
          "div",
          { class: "why-group" },
          element("span", {}, words),
          element("ul", { class: "why-columns" }, ...items),
          element("span", { class: "near-value" }, group_part),
        ),
      );
    }
    const shared = answer.parts.map((part) => part.shared).find((nodes) => nodes.length);
    if (shared) {
      const names = shared.slice(0, 6).map(({ name }) => name);
      const told = element("span", { class: "quiet" }, "both are ");
      parts.unshift(element("p", {}, told, names.join(" › ")));
    }
    const sum = `adds up to a similarity of ${answer.similarity.toFixed(3)}`;
    return element("div", {}, ...parts, element("p", { class: "quiet" }, sum));
  };

  Phcle.failure = (error) =>
    element("p", { class: "failed", role: "alert" }, error.message);

  // CSV made in the browser, without a request. A text that a spreadsheet would run as a
  // formula begins with an apostrophe: these are the patterns of files/csv_text.py.
  const LIVE =
    /^'*([\t\r\n]|[\x00-\x20\x7f\u00a0\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;
  const NUMBER = /^'*[+\-]?[0-9.,]*[0-9][.,]?([eE][+\-]?[0-9]+)?%?$/;
  function as_csv(rows) {
    const cell = (value) => {
      let text = String(value ?? "");
      if (typeof value === "string" && LIVE.test(text) && !NUMBER.test(text)) text = `'${text}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const keys = Object.keys(rows[0] || {});
    const lines = [keys, ...rows.map((row) => keys.map((key) => row[key]))];
    return lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
  }

  Phcle.downloads = function (rows, name) {
    const button = (kind, make) =>
      element(
        "button",
        {
          type: "button",
          class: "button",
          onclick: () => Phcle.save(new Blob([make()]), `${name}.${kind.toLowerCase()}`),
        },
        kind,
      );
    return element(
      "p",
      { class: "actions" },
      button("CSV", () => as_csv(rows)),
      button("JSON", () => JSON.stringify(rows, null, 2)),
    );
  };

  // Add suggestions to an input; both need a common parent.
  Phcle.suggest = function (input, options) {
    const holder = element("span", { class: "holder" });
    input.replaceWith(holder);
    holder.append(input);
    const made = Phcle.combobox(input.id, { ...options, input: input });
    holder.append(made.whole);
    return made;
  };

  Phcle.suggest_labels = (input, take) =>
    Phcle.suggest(input, {
      placeholder: input.placeholder || "name or id",
      find: Phcle.settled(async (typed) => {
        if (!typed.trim()) return [];
        return (await Phcle.get("/api/search", [["q", typed]])).labels;
      }),
      show: ({ label, name }) =>
        label === name
          ? [Phcle.name(name)]
          : [Phcle.name(name), element("span", { class: "map-count" }, label)],
      take: take,
    });

  Phcle.suggest_attributes = (input, take, sorts = ["tags", "text", "numbers"]) =>
    Phcle.suggest(input, {
      placeholder: "an attribute",
      name: "Attributes found",
      none: "no such attribute",
      find: Phcle.settled(async (typed) => {
        if (!typed.trim()) return [];
        const found = await Phcle.get("/api/attributes", [["q", typed], ["limit", 30]]);
        return found.attributes.filter(({ sort }) => sorts.includes(sort)).slice(0, 10);
      }),
      show: ({ context, name }) => [
        Phcle.name(name),
        element("span", { class: "map-count" }, context),
      ],
      take: take,
    });

  function theme_now() {
    const chosen = document.documentElement.dataset.theme;
    if (chosen) return chosen;
    return root.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  function turn_theme() {
    const next = theme_now() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("phcle-theme", next);
    } catch {
      // Storage may be blocked; then the choice lasts until the page is left.
    }
    document.dispatchEvent(new Event("phcle-theme"));
  }

  document.getElementById("theme").addEventListener("click", turn_theme);
  // On a phone not all sections are in view: the current one should be.
  const sections = document.querySelector(".top nav");
  const current = sections.querySelector("[aria-current]");
  if (current) {
    const middle = current.offsetLeft + current.offsetWidth / 2 - sections.offsetLeft;
    sections.scrollLeft = middle - sections.clientWidth / 2;
  }
  const finder = document.getElementById("finder");
  Phcle.open_label = ({ label }) => root.location.assign(Phcle.label_address(label));
  Phcle.suggest_labels(finder, (found, box) => {
    box.value = found.name;
    Phcle.open_label(found);
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    finder.focus();
    finder.select();
  });
})(window);
