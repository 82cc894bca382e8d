// Accept or reject predicted cells, and known cells that are suspicious. Decisions stay in this
// browser (localStorage), apart for each embedding, until they are exported or cleared.
(function (root) {
  "use strict";
  const Phcle = root.Phcle;
  const element = Phcle.element;
  const place = document.getElementById("decisions");
  if (!place) return;
  const KEY = `phcle-decisions-${place.dataset.digest}`;
  let decisions = load();

  function load() {
    try {
      return new Map(JSON.parse(root.localStorage.getItem(KEY) || "[]"));
    } catch {
      return new Map();
    }
  }

  function store() {
    try {
      root.localStorage.setItem(KEY, JSON.stringify([...decisions]));
    } catch {
      // Storage may be blocked; then decisions last until the page is left.
    }
    show_decisions();
  }

  const key_of = ({ kind, label, context, column }) =>
    JSON.stringify([kind, label, context, column]);

  function rows() {
    return [...decisions.values()].map((each) => ({
      kind: each.kind,
      label: each.label,
      name: each.name,
      context: each.context,
      column: each.column,
      value: each.value,
      known: each.known ?? "",
      confidence: each.confidence ?? "",
      low: each.low ?? "",
      high: each.high ?? "",
      decision: each.decision,
      time: each.time,
    }));
  }

  function show_decisions() {
    const all = [...decisions.values()];
    const count = (decision) => all.filter((each) => each.decision === decision).length;
    place.hidden = !all.length;
    place.replaceChildren(
      element("strong", {}, `${count("accept")} accepted, ${count("reject")} rejected`),
      Phcle.downloads(rows(), "decisions"),
      element("button", { type: "button", class: "button", onclick: clear }, "Clear"),
    );
  }

  function clear() {
    if (!root.confirm(`Forget all ${decisions.size} decisions?`)) return;
    decisions = new Map();
    store();
    for (const item of document.querySelectorAll(".gap")) draw(item);
  }

  function decide(item, decision) {
    const own = { ...item.dataset };
    const key = key_of(own);
    const before = decisions.get(key);
    if (before && before.decision === decision) decisions.delete(key); // the same again: undo
    else decisions.set(key, { ...own, decision, time: new Date().toISOString() });
    store();
    draw(item);
  }

  function draw(item) {
    const own = decisions.get(key_of(item.dataset));
    const decision = own ? own.decision : "";
    item.classList.toggle("accepted", decision === "accept");
    item.classList.toggle("rejected", decision === "reject");
    const is_gap = item.dataset.kind === "gap";
    const { name, column, value, known } = item.dataset;
    const button = (which, words, told) =>
      element(
        "button",
        {
          type: "button",
          class: `button decide-${which}`,
          "aria-pressed": String(decision === which),
          "aria-label": told,
          onclick: () => decide(item, which),
        },
        words,
      );
    const what = `${column} of ${name}`;
    const buttons = is_gap
      ? [
          button("accept", "Accept", `Accept ${value} as ${what}`),
          button("reject", "Reject", `Reject ${value} as ${what}`),
        ]
      : [
          button("accept", `Use ${value}`, `Use ${value} as ${what}`),
          button("reject", "Keep", `Keep ${known} as ${what}`),
        ];
    const focused = item.contains(document.activeElement)
      ? document.activeElement.getAttribute("aria-label")
      : null;
    item.querySelector(".gap-decide").replaceChildren(...buttons);
    buttons.find((each) => each.getAttribute("aria-label") === focused)?.focus();
  }

  // -- keys: a and r decide and go on, arrows move

  document.addEventListener("keydown", (event) => {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...document.querySelectorAll(".gap")];
    if (!items.length) return;
    const now = items.indexOf(event.target.closest(".gap"));
    const go = (i) => {
      const next = items[Math.min(Math.max(i, 0), items.length - 1)];
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    };
    const decision = { a: "accept", r: "reject" }[event.key];
    if (decision && now >= 0) {
      event.preventDefault();
      decide(items[now], decision);
      go(now + 1);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      go(now < 0 ? 0 : now + (event.key === "ArrowDown" ? 1 : -1));
    }
  });

  // -- suspicious cells

  const listed = document.getElementById("listed");
  const text = (value) =>
    typeof value === "number" ? Phcle.number(value) : { true: "yes", false: "no" }[value] ?? String(value);

  function suspicious(cell) {
    const odd = cell.chance === null; // read as unknown, such as a word among numbers
    const item = element(
      "li",
      { class: "gap", tabindex: "-1" },
      element(
        "div",
        { class: "gap-what" },
        Phcle.label_link(cell),
        " ",
        element("span", { class: "attribute-name" }, Phcle.name(cell.column)),
        " ",
        element("span", { class: "quiet" }, Phcle.name(cell.context)),
      ),
      element(
        "div",
        { class: "gap-value" },
        "is ",
        element("strong", {}, Phcle.name(text(cell.value))),
        ", expected ",
        element("strong", {}, Phcle.name(text(cell.expected))),
      ),
      element(
        "div",
        { class: "gap-why quiet" },
        element("span", {}, odd ? cell.why : `chance of the known value: ${(100 * cell.chance).toPrecision(2)} %`),
        ...(cell.low === null
          ? []
          : [element("span", {}, `interval: ${text(cell.low)} to ${text(cell.high)}`)]),
        ...(cell.family === null
          ? []
          : [element("span", {}, "family: ", Phcle.name(text(cell.family)))]),
      ),
      element("div", { class: "gap-decide" }),
    );
    Object.assign(item.dataset, {
      kind: odd ? "gap" : "suspicious",
      label: cell.label,
      name: cell.name,
      context: cell.context,
      column: cell.column,
      value: text(cell.expected),
      known: text(cell.value),
      confidence: odd ? "" : (1 - cell.chance).toFixed(4),
    });
    draw(item);
    return item;
  }

  function show_suspicious({ message, cells }) {
    const n = cells.length;
    const told = n ? `${n.toLocaleString("en")} cells, the most suspicious first.` : "None stands out.";
    listed.replaceChildren(
      element(
        "section",
        { class: "card" },
        element("h2", {}, "Suspicious known cells"),
        element("p", { class: "quiet", role: "status" }, message || told),
        element("ol", { class: "gaps" }, ...cells.slice(0, 200).map(suspicious)),
      ),
    );
  }

  document.getElementById("suspect").addEventListener("click", () => {
    root.history.replaceState(null, "", "/complete");
    Phcle.get("/api/suspicious").then(show_suspicious).catch((error) => {
      listed.replaceChildren(Phcle.failure(error));
    });
  });

  Phcle.suggest_labels(document.getElementById("gaps-label"), ({ label }) =>
    root.location.assign(`/complete?${Phcle.query([["label", label]])}`),
  );
  const column = document.getElementById("gaps-column");
  column.addEventListener("change", () => {
    if (column.value) column.form.submit();
  });
  for (const item of document.querySelectorAll(".gap")) draw(item);
  show_decisions();
  // Another tab may decide, too.
  root.addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    decisions = load();
    show_decisions();
    for (const item of document.querySelectorAll(".gap")) draw(item);
  });
})(window);
